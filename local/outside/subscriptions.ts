import { createHmac } from 'node:crypto';
import type { Said } from './http.ts';

export const webhookSecretOf = (apiKey: string): string => `whsec_of_${apiKey}`;

const MONTH_SECONDS = 30 * 86_400;
export const newId = (kind: string): string => `${kind}_${Buffer.from(crypto.getRandomValues(new Uint8Array(9))).toString('hex')}`;

/** `lookup_key` is absent if the price was created manually. */
interface Price {
  id: string;
  lookup_key?: string;
}

interface Subscription {
  id: string;
  object: 'subscription';
  customer: string;
  status: string;
  created: number;
  cancel_at_period_end: boolean;
  cancel_at: number | null;
  metadata: Record<string, string>;
  items: {
    object: 'list';
    data: { id: string; object: 'subscription_item'; price: Price; current_period_start: number; current_period_end: number }[];
  };
}

export interface Session {
  id: string;
  customer: string;
  price: string;
  /** Subscription changed by the portal. Null: a new purchase. */
  changes: string | null;
  back: string;
  metadata: Record<string, string>;
  shown: { created: number; success_url: string; cancel_url: string | null; metadata: Record<string, string> };
  status: 'open' | 'complete' | 'expired';
}

export interface ProcessorAccount {
  apiKey: string;
  customers: Map<string, { id: string; metadata: Record<string, string>; deleted?: true }>;
  subscriptions: Subscription[];
  sessions: Map<string, Session>;
  prices: Map<string, Price & { product: string; unit_amount: number; currency: string }>;
  configurations: Map<string, { id: string; object: string; active: true; metadata: Record<string, string>; form: Record<string, string> }>;
  endpoints: Map<string, { id: string; object: string; url: string }>;
  idempotent: Map<string, { asked: string; said: Said }>;
  /** False simulates countries without search. */
  hasSearch: boolean;
  requests: { method: string; path: string; form: Record<string, string> }[];
  faults: number[];
  /** Target of automatic events. Null: the requesting test delivers them. */
  webhookUrl: string | null;
}

export interface SignedEvent {
  id: string;
  type: string;
  body: string;
  signature: string;
}

export interface Control {
  session?: string;
  subscription?: string;
  customer?: string;
  price?: string;
  metadata?: Record<string, string>;
  at?: number;
  times?: number;
  status?: number;
  body?: string;
  secret?: string;
  at_period_end?: boolean;
}

export const now = (): number => Math.floor(Date.now() / 1000);
export const sign = (secret: string, body: string, at: number): string =>
  `t=${at},v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`;

/** Builds an event with a snapshot of the object, unaffected by later changes. */
function eventOf({ apiKey }: ProcessorAccount, type: string, object: object, created: number): SignedEvent {
  const id = newId('evt');
  const body = JSON.stringify({ id, object: 'event', api_version: '2026-01-01', created, livemode: false, type, data: { object } });
  return { id, type, body, signature: sign(webhookSecretOf(apiKey), body, now()) };
}

const invoiceOf = ({ id, customer }: Subscription) => ({
  id: newId('in'),
  object: 'invoice',
  customer,
  parent: { type: 'subscription_details', subscription_details: { subscription: id } },
});

const priceOf = ({ prices }: ProcessorAccount, id: string): Price => {
  const { lookup_key } = prices.get(id) ?? {};
  return lookup_key === undefined ? { id } : { id, lookup_key };
};

function newSubscription(
  account: ProcessorAccount,
  customer: string,
  price: string,
  metadata: Record<string, string>,
  at: number,
): Subscription {
  const item = {
    id: newId('si'),
    object: 'subscription_item' as const,
    price: priceOf(account, price),
    current_period_start: at,
    current_period_end: at + MONTH_SECONDS,
  };
  const subscription: Subscription = {
    id: newId('sub'),
    object: 'subscription',
    customer,
    status: 'active',
    created: at,
    cancel_at_period_end: false,
    cancel_at: null,
    metadata,
    items: { object: 'list', data: [item] },
  };
  account.subscriptions.push(subscription);
  return subscription;
}

/** Pays a session: buys or changes a subscription and returns the events. An expired session buys nothing. */
export function pay(account: ProcessorAccount, session: Session, at: number): SignedEvent[] {
  const { id, customer, price, changes, metadata } = session;
  if (session.status !== 'open') return [];
  session.status = 'complete';
  if (changes !== null) return ACTS.change!(account, { subscription: changes, price }, at);
  const subscription = newSubscription(account, customer, price, metadata, at);
  return [
    eventOf(
      account,
      'checkout.session.completed',
      { id, object: 'checkout.session', customer, subscription: subscription.id, metadata },
      at,
    ),
    eventOf(account, 'customer.subscription.created', subscription, at),
    eventOf(account, 'invoice.paid', invoiceOf(subscription), at),
  ];
}

const happen =
  (change: (subscription: Subscription, asked: Control, at: number, account: ProcessorAccount) => void, ...invoices: string[]) =>
  (account: ProcessorAccount, asked: Control, at: number): SignedEvent[] => {
    const subscription = account.subscriptions.find(({ id }) => id === asked.subscription)!;
    change(subscription, asked, at, account);
    const type = subscription.status === 'canceled' ? 'customer.subscription.deleted' : 'customer.subscription.updated';
    return [eventOf(account, type, subscription, at), ...invoices.map((invoice) => eventOf(account, invoice, invoiceOf(subscription), at))];
  };

export const ACTS: Record<string, (account: ProcessorAccount, asked: Control, at: number) => SignedEvent[]> = {
  pay: (account, { session }, at) => pay(account, account.sessions.get(session!)!, at),
  buy: (account, { customer, price, metadata = {} }, at) => {
    const subscription = newSubscription(account, customer!, price!, metadata, at);
    return [eventOf(account, 'customer.subscription.created', subscription, at)];
  },
  change: happen(({ items }, { price }, _, account) => Object.assign(items.data[0]!, { price: priceOf(account, price!) })),
  renew: happen(
    ({ items }, _, at) => Object.assign(items.data[0]!, { current_period_start: at, current_period_end: at + MONTH_SECONDS }),
    'invoice.paid',
  ),
  fail: happen((subscription) => Object.assign(subscription, { status: 'past_due' }), 'invoice.payment_failed'),
  recover: happen((subscription) => Object.assign(subscription, { status: 'active' }), 'invoice.paid'),
  cancel: happen((subscription, { at_period_end = false }) =>
    Object.assign(subscription, at_period_end ? { cancel_at_period_end: true } : { status: 'canceled' }),
  ),
  resume: happen((subscription) => Object.assign(subscription, { cancel_at_period_end: false })),
};
