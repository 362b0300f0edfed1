import { createHmac, randomBytes } from 'node:crypto';
import type { Said } from './http.ts';

/** The signing secret of the webhook endpoint of a place. */
export const webhookSecretOf = (apiKey: string): string => `whsec_of_${apiKey}`;

const MONTH_SECONDS = 30 * 86_400;
export const newId = (kind: string): string => `${kind}_${randomBytes(9).toString('hex')}`;

/** `lookup_key`: absent where it was made by hand. */
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
  /** Which subscription a portal changes; null: a new one is bought. */
  changes: string | null;
  back: string;
  metadata: Record<string, string>;
  /** Id of a checkout page. */
  shown: { created: number; success_url: string; cancel_url: string | null; metadata: Record<string, string> };
  status: 'open' | 'complete' | 'expired';
}

/** One API key's Stripe. */
export interface Place {
  apiKey: string;
  customers: Map<string, { id: string; metadata: Record<string, string>; deleted?: true }>;
  subscriptions: Subscription[];
  sessions: Map<string, Session>;
  prices: Map<string, Price & { product: string; unit_amount: number; currency: string }>;
  /** Portal configurations, of which none is the default, and webhook endpoints. */
  configurations: Map<string, { id: string; object: string; active: true; metadata: Record<string, string>; form: Record<string, string> }>;
  endpoints: Map<string, { id: string; object: string; url: string }>;
  /** By key: what was asked, and what was said. */
  idempotent: Map<string, { asked: string; said: Said }>;
  /** False in some countries. */
  hasSearch: boolean;
  requests: { method: string; path: string; form: Record<string, string> }[];
  /** The next requests are answered so. */
  faults: number[];
  /** Where events go by themselves; null: the caller who asked for them takes them there. */
  webhookUrl: string | null;
}

/** An event as it is sent. */
export interface SignedEvent {
  id: string;
  type: string;
  body: string;
  signature: string;
}

/** What a test asks of a place. */
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

/** An event about an object as it is at this moment: what was sent is never changed by what happens later. */
function eventOf({ apiKey }: Place, type: string, object: object, created: number): SignedEvent {
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

const priceOf = ({ prices }: Place, id: string): Price => {
  const { lookup_key } = prices.get(id) ?? {};
  return lookup_key === undefined ? { id } : { id, lookup_key };
};

function newSubscription(place: Place, customer: string, price: string, metadata: Record<string, string>, at: number): Subscription {
  const item = {
    id: newId('si'),
    object: 'subscription_item' as const,
    price: priceOf(place, price),
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
  place.subscriptions.push(subscription);
  return subscription;
}

/** A session that is paid: what was bought, or changed, and the events that tell of it. One that is over buys nothing. */
export function pay(place: Place, session: Session, at: number): SignedEvent[] {
  const { id, customer, price, changes, metadata } = session;
  if (session.status !== 'open') return [];
  session.status = 'complete';
  if (changes !== null) return ACTS.change!(place, { subscription: changes, price }, at);
  const subscription = newSubscription(place, customer, price, metadata, at);
  return [
    eventOf(place, 'checkout.session.completed', { id, object: 'checkout.session', customer, subscription: subscription.id, metadata }, at),
    eventOf(place, 'customer.subscription.created', subscription, at),
    eventOf(place, 'invoice.paid', invoiceOf(subscription), at),
  ];
}

/** Something that happens to a subscription, and the events that tell of it. */
const happen =
  (change: (subscription: Subscription, asked: Control, at: number, place: Place) => void, ...invoices: string[]) =>
  (place: Place, asked: Control, at: number): SignedEvent[] => {
    const subscription = place.subscriptions.find(({ id }) => id === asked.subscription)!;
    change(subscription, asked, at, place);
    const type = subscription.status === 'canceled' ? 'customer.subscription.deleted' : 'customer.subscription.updated';
    return [eventOf(place, type, subscription, at), ...invoices.map((invoice) => eventOf(place, invoice, invoiceOf(subscription), at))];
  };

/** What happens at the processor, by the name a test gives it. */
export const ACTS: Record<string, (place: Place, asked: Control, at: number) => SignedEvent[]> = {
  pay: (place, { session }, at) => pay(place, place.sessions.get(session!)!, at),
  /** Bought beside this service: by a customer who need not be one of ours. */
  buy: (place, { customer, price, metadata = {} }, at) => {
    const subscription = newSubscription(place, customer!, price!, metadata, at);
    return [eventOf(place, 'customer.subscription.created', subscription, at)];
  },
  change: happen(({ items }, { price }, _, place) => Object.assign(items.data[0]!, { price: priceOf(place, price!) })),
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
