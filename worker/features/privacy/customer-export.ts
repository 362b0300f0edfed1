import { z } from '@hono/zod-openapi';
import type { CustomerId, ReceiptId } from '#core/ids.ts';
import { TIMELINE } from '#core/limits.ts';
import { iso } from '#core/time.ts';
import { AuthorizationBody, toAuthorizationResource } from '#features/authorizations/resource.ts';
import { listOwnAuthorizations } from '#features/authorizations/store.ts';
import { readCustomer, readCustomerTimeline } from '#features/customers/customer.ts';
import { CustomerRecordBody, toCustomerResource } from '#features/customers/resource.ts';
import { listEntitlements } from '#features/entitlements/entitlement.ts';
import { EntitlementBody, toEntitlementResource } from '#features/entitlements/resource.ts';
import { MembershipBody, toMembershipResource } from '#features/memberships/resource.ts';
import { listMemberships } from '#features/memberships/store.ts';
import { MeteredSessionBody, toMeteredResource } from '#features/metered/resource.ts';
import { sessionSnapshotOf, withProgram } from '#features/metered/session.ts';
import { listPayments } from '#features/payments/list/store.ts';
import { PaymentBody, toPaymentResource } from '#features/payments/resource.ts';
import { listUnmatchedOf } from '#features/payments/store.ts';
import { listLinks } from '#features/receipts/hash-chain.ts';
import { listReceipts } from '#features/receipts/list.store.ts';
import { ReceiptBody, toReceiptResource } from '#features/receipts/receipt.ts';
import { listMetadata } from '#features/receipts/store.ts';
import { TimelineItem } from '#features/webhooks/timeline.ts';
import type { Scope } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { commit } from '#platform/db/commit.ts';
import type { Listed, PageRequest } from '#platform/db/page.ts';
import { narrowToCustomers } from '#platform/db/search/customer.ts';
import type { Handoff, PaymentSession } from '#platform/db/tables/checkout.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { given, Timestamp } from '#platform/http/openapi.ts';
import type { Customer } from '#rules/balance.ts';
import { cutLists, EXPORTED_MAX, type ExportedRows, readAll, readInTurn } from './read-all.ts';
import { listNamedMeteredSessions, listNamedPaymentSessions, listOpenHandoffs } from './store.ts';

/** Hand-off, or payment session, that names the customer. */
const CheckoutBody = z
  .object({
    id: z.uuid(),
    product_id: z.uuid(),
    customer_ref: z.string().optional(),
    email: z.string().optional(),
    wallet_address: z.string().optional(),
    metadata: z.record(z.string(), z.string()).optional(),
    created_at: Timestamp,
  })
  .openapi('ExportedCheckout');

export const CustomerExportBody = z
  .object({
    exported_at: Timestamp,
    customer: CustomerRecordBody,
    payments: z.array(PaymentBody),
    emails: z.array(z.object({ payment_id: z.uuid(), email: z.string() })).describe('Addresses given at a checkout.'),
    receipts: z.array(ReceiptBody),
    memberships: z.array(MembershipBody),
    entitlements: z.array(EntitlementBody),
    native_subscriptions: z.array(AuthorizationBody),
    metered_sessions: z.array(MeteredSessionBody),
    handoffs: z.array(CheckoutBody),
    payment_sessions: z.array(CheckoutBody),
    timeline: z.array(TimelineItem),
    truncated: z.array(z.string()).describe('Lists that are cut.'),
  })
  .openapi('CustomerExport');

const toCheckoutResource = (row: Handoff | PaymentSession): z.infer<typeof CheckoutBody> => ({
  id: row.id,
  product_id: row.productId,
  ...given('customer_ref', row.customerRef),
  ...('email' in row ? { ...given('email', row.email), ...given('wallet_address', row.walletAddress) } : {}),
  ...given('metadata', row.metadata),
  created_at: iso(row.createdAt),
});

async function readPayments(scope: Scope, customers: readonly Customer[]): Promise<ExportedRows<Payment>> {
  const read = async (page: PageRequest): Promise<Listed<Payment>> => {
    const { items, total } = await listPayments(scope, { customers }, page);
    return { items: items as Payment[], total };
  };
  return readAll(read, ({ id }) => id);
}

async function presentPayments(scope: Scope, rows: readonly Payment[]) {
  const arrived = await listUnmatchedOf(
    scope.db,
    rows.map(({ id }) => id),
  );
  const unmatched = Map.groupBy(arrived, ({ paymentId }) => paymentId);
  return rows.map((payment) => toPaymentResource(scope, payment, 'merchant', unmatched.get(payment.id)));
}

type Receipts = Awaited<ReturnType<typeof listReceipts>>['items'];

async function presentReceipts(scope: Scope, rows: Receipts) {
  const [invoices, links] = await Promise.all([
    listMetadata(
      scope.db,
      rows.map(({ id }) => id),
    ),
    listLinks(scope, rows),
  ]);
  const noted = (id: ReceiptId) => ({ invoice: invoices.get(id), link: links.get(id) });
  return rows.map((receipt) => toReceiptResource(receipt, scope.baseUrl, { ...noted(receipt.id), email: receipt.emailNote }));
}

/** Exports what the merchant has of a customer in one mode, and of those that were merged into it. Throws 404. */
export async function exportCustomer(scope: Scope, customerId: CustomerId): Promise<z.infer<typeof CustomerExportBody>> {
  const shown = await readCustomer(scope, customerId);
  const keys = (await narrowToCustomers(scope, customerId))!;
  const filterOf = (key: Customer) => ('customerRef' in key ? key : { walletAddress: key.walletAddress });
  const [payments, receipts, memberships, entitlements, subscriptions] = await Promise.all([
    readPayments(scope, keys),
    readAll(
      (page) => listReceipts(scope, { customers: keys }, page),
      ({ id }) => id,
    ),
    readInTurn(keys, (customer, max) =>
      readAll(
        (page) => listMemberships(scope, { customer }, page),
        ({ id }) => id,
        max,
      ),
    ),
    readInTurn(keys, (key, max) =>
      readAll(
        (page) => listEntitlements(scope, filterOf(key), page),
        ({ entitlementId }) => entitlementId,
        max,
      ),
    ),
    readInTurn(keys, (customer, max) =>
      readAll(
        (page) => listOwnAuthorizations(scope, { customer }, page),
        ({ id }) => id,
        max,
      ),
    ),
  ]);
  const [metered, handoffs, sessions, { items: timeline }] = await Promise.all([
    listNamedMeteredSessions(scope, keys, EXPORTED_MAX),
    listOpenHandoffs(scope, keys, EXPORTED_MAX),
    listNamedPaymentSessions(scope, keys, EXPORTED_MAX),
    readCustomerTimeline(scope, customerId, TIMELINE.max),
  ]);
  return {
    exported_at: iso(scope.wallNow),
    customer: toCustomerResource(shown),
    payments: await presentPayments(scope, payments.rows),
    emails: payments.rows.flatMap(({ id, email }) => (email ? [{ payment_id: id, email }] : [])),
    receipts: await presentReceipts(scope, receipts.rows),
    memberships: memberships.rows.map((membership) => toMembershipResource(membership, { isOwners: true })),
    entitlements: entitlements.rows.map(toEntitlementResource),
    native_subscriptions: subscriptions.rows.map(toAuthorizationResource),
    metered_sessions: metered.rows.map((row) => toMeteredResource(scope, withProgram(sessionSnapshotOf(row)))),
    handoffs: handoffs.rows.map(toCheckoutResource),
    payment_sessions: sessions.rows.map(toCheckoutResource),
    timeline,
    truncated: cutLists({
      ...{ payments, receipts, memberships, entitlements, native_subscriptions: subscriptions },
      ...{ metered_sessions: metered, handoffs, payment_sessions: sessions, timeline: { isCut: timeline.length >= TIMELINE.max } },
    }),
  };
}

/** Records an export before it is answered. */
export async function recordExport(scope: Scope, customerId: CustomerId): Promise<void> {
  const write = recordAction(scope, scope, { action: 'customer.exported', subject: { type: 'customer', id: customerId } });
  await commit(scope, { events: [], writes: [write], result: null });
}
