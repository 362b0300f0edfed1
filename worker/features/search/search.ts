import { base58Bytes } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import {
  type CustomerId,
  type EndpointId,
  type Id,
  isAuthorizationId,
  type KeyId,
  type MembershipId,
  type PaymentId,
  type ProductId,
  type ReceiptId,
  type TicketId,
} from '#core/ids.ts';
import { toMoneyResource } from '#core/money.ts';
import { findKey } from '#features/accounts/store.ts';
import { findAuthorization } from '#features/authorizations/store.ts';
import { findCustomerRow, listCustomers } from '#features/customers/store.ts';
import { findMembership, listMemberships } from '#features/memberships/store.ts';
import { listPayments } from '#features/payments/list/store.ts';
import { priceOf } from '#features/payments/resource.ts';
import { findPayment } from '#features/payments/store.ts';
import { findProduct, listProductsNamed } from '#features/products/store.ts';
import { listReceipts } from '#features/receipts/list.store.ts';
import { findReceiptOfTransaction, getReceipt, type Receipt } from '#features/receipts/store.ts';
import { findTicket } from '#features/support/store.ts';
import { findEvent } from '#features/webhooks/events.store.ts';
import { findEndpoint, getDelivery } from '#features/webhooks/store.ts';
import { type Actor, belongsTo, type Scope, type Tenant } from '#platform/context.ts';
import { pageRequest } from '#platform/db/page.ts';
import type { CustomerRow } from '#platform/db/tables/entitlements.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { hasRole, type RoleGroup } from '#rules/access/roles.ts';
import { hasScope, type KeyScope } from '#rules/access/scopes.ts';

export const FOUND_TYPES = [
  ...(['payment', 'receipt', 'customer', 'membership', 'product', 'event'] as const),
  ...(['delivery', 'endpoint', 'key', 'ticket', 'subscription'] as const),
] as const;

export interface FoundObject {
  type: (typeof FOUND_TYPES)[number];
  id: string;
  title: string;
  detail?: string | null;
  /** Path below the dashboard. */
  path: string;
}

export const FOUND_MAX = 20;
/** Newest rows of each list in which a text is searched, so that an answer takes a moment in a large shop, too. */
const SEARCHED_MAX = 2_000;
/** Entries of each list. */
const LISTED_MAX = 5;

type Search = (ctx: Scope, q: string) => Promise<FoundObject[]>;

const IS_UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const orNothing = <R>(reading: Promise<R>): Promise<R | null> =>
  reading.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  });
const isSignature = (q: string): boolean => base58Bytes(q, 64) !== null;
/** First page of a list, which is not counted. Its text is searched in the newest rows alone. */
const firstPage = () => ({ ...pageRequest({ page: 1, per_page: LISTED_MAX }, 0), searchedMax: SEARCHED_MAX });

const foundPayment = (payment: Payment): FoundObject => {
  const { amount, asset } = toMoneyResource(priceOf(payment));
  const detail = payment.customerRef ?? payment.email ?? payment.payerWallet;
  return { type: 'payment', id: payment.id, title: `${amount} ${asset}, ${payment.status}`, detail, path: `payments/${payment.id}` };
};
const foundReceipt = ({ id, productName, txSignature }: { id: string; productName: string; txSignature: string }): FoundObject => ({
  ...{ type: 'receipt', id, title: productName, detail: txSignature, path: `receipts/${id}` },
});
const foundCustomer = ({ id, name, customerRef, walletAddress, email }: CustomerRow): FoundObject => ({
  ...{ type: 'customer', id, title: name ?? customerRef ?? walletAddress ?? id, detail: email, path: `customers/${id}` },
});
const foundMembership = ({ id, customerRef, walletAddress, status, lastPaymentId }: Membership): FoundObject => ({
  ...{ type: 'membership', id, title: customerRef ?? walletAddress ?? id, detail: status, path: `payments/${lastPaymentId}` },
});

const foundProduct = ({ id, name, status }: Product): FoundObject => ({
  ...{ type: 'product', id, title: name, detail: status, path: `templates/${id}` },
});

/** Searches an object by its UUID. One of another merchant or mode is not found. */
const byId =
  <T extends Id, R extends Tenant>(find: (ctx: Scope, id: T) => Promise<R | null | undefined>, present: (row: R) => FoundObject): Search =>
  async (ctx, q) => {
    const row = IS_UUID.test(q) ? await find(ctx, q as T) : null;
    return row && belongsTo(ctx, row) ? [present(row)] : [];
  };

/** Searches of objects by id, with the group that shows them. */
const EXACT: readonly { group: RoleGroup; search: Search }[] = [
  { group: 'payments', search: byId((ctx, id: PaymentId) => findPayment(ctx, id), foundPayment) },
  { group: 'receipts', search: byId<ReceiptId, Receipt>((ctx, id) => orNothing(getReceipt(ctx, id)), foundReceipt) },
  { group: 'customers', search: byId((ctx, id: CustomerId) => findCustomerRow(ctx, id), foundCustomer) },
  { group: 'customers', search: byId(({ db }, id: MembershipId) => findMembership(db, id), foundMembership) },
  {
    group: 'products',
    search: byId((ctx, id: ProductId) => findProduct(ctx, id), foundProduct),
  },
  {
    group: 'webhooks',
    search: byId(
      (ctx, id: EndpointId) => findEndpoint(ctx, id),
      ({ id, url, status }) => ({ type: 'endpoint', id, title: url, detail: status, path: `webhooks/${id}` }),
    ),
  },
  {
    group: 'keys',
    search: byId(
      ({ db, merchantId }, id: KeyId) => findKey(db, merchantId, id),
      ({ id, name }) => ({ type: 'key', id, title: name, path: `keys/${id}` }),
    ),
  },
  {
    group: 'tickets',
    search: byId(
      ({ db }, id: TicketId) => findTicket(db, id),
      ({ id, subject, status }) => ({ type: 'ticket', id, title: subject, detail: status, path: `support/${id}` }),
    ),
  },
  {
    group: 'webhooks',
    search: async (ctx, q) => {
      const event = q.startsWith('evt_') ? await findEvent(ctx, q) : null;
      return event ? [{ type: 'event', id: event.id, title: event.type, path: `webhooks/events/${event.id}` }] : [];
    },
  },
  {
    group: 'webhooks',
    search: async (ctx, q) => {
      const delivery = /^[1-9]\d{0,14}$/.test(q) ? await orNothing(getDelivery(ctx, Number(q))) : null;
      const { eventType = '', status } = delivery ?? {};
      return delivery ? [{ type: 'delivery', id: q, title: eventType, detail: status ?? null, path: `webhooks/deliveries/${q}` }] : [];
    },
  },
  {
    group: 'payments',
    search: async (ctx, q) => {
      const row = isAuthorizationId(q) ? await findAuthorization(ctx.db, q) : null;
      if (!row || !belongsTo(ctx, row)) return [];
      return [{ type: 'subscription', id: row.id, title: row.subscriberWallet, detail: row.status, path: `subscriptions/${row.id}` }];
    },
  },
  {
    group: 'payments',
    search: async (ctx, q) => (isSignature(q) ? (await listPayments(ctx, { txSignature: q }, firstPage())).items.map(foundPayment) : []),
  },
  {
    group: 'receipts',
    search: async (ctx, q) => {
      const receipt = isSignature(q) ? await findReceiptOfTransaction(ctx, q) : null;
      return receipt ? [foundReceipt(receipt)] : [];
    },
  },
];

/** Searches of lists, by their own `q`, and of products by their name. */
const LISTED: readonly { group: RoleGroup; search: Search }[] = [
  { group: 'products', search: async (ctx, q) => (await listProductsNamed(ctx, q, SEARCHED_MAX, LISTED_MAX)).map(foundProduct) },
  { group: 'payments', search: async (ctx, q) => (await listPayments(ctx, { q }, firstPage())).items.map(foundPayment) },
  { group: 'receipts', search: async (ctx, q) => (await listReceipts(ctx, { q }, firstPage())).items.map(foundReceipt) },
  { group: 'customers', search: async (ctx, q) => (await listCustomers(ctx, { q }, 'last_seen_at', firstPage())).items.map(foundCustomer) },
  { group: 'customers', search: async (ctx, q) => (await listMemberships(ctx, { q }, firstPage())).items.map(foundMembership) },
];

/** Scopes of a restricted key. Null: all. */
async function readScopes({ db, merchantId }: Scope, { keyId }: Actor): Promise<readonly KeyScope[] | null> {
  return keyId === null ? null : ((await findKey(db, merchantId, keyId as KeyId))?.scopes ?? null);
}

/** Finds what a text names, in the groups that the caller may read: objects with this id, else entries of lists. */
export async function searchObjects(ctx: Scope, actor: Actor, q: string): Promise<FoundObject[]> {
  const scopes = await readScopes(ctx, actor);
  const mayRead = (group: RoleGroup): boolean =>
    (actor.role ? hasRole(actor.role, `${group}:read`) : true) && hasScope(scopes, `${group}:read`);
  const run = async (searches: typeof EXACT, text: string): Promise<FoundObject[]> =>
    (await Promise.all(searches.filter(({ group }) => mayRead(group)).map(({ search }) => search(ctx, text)))).flat();
  const named = await run(EXACT, IS_UUID.test(q.toLowerCase()) ? q.toLowerCase() : q);
  return (named.length > 0 ? named : await run(LISTED, q)).slice(0, FOUND_MAX);
}
