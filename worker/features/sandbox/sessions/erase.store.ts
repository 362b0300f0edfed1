import { eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { METRIC_EVENT_TYPES } from '#features/analytics/deltas.ts';
import {
  clockFilter,
  clockFilterForClaims,
  clockFilterForPayment,
  isOfNoSession,
  OF_NO_SESSION,
} from '#platform/chain/clock-filter.store.ts';
import { causeOf } from '#platform/chain/scope.ts';
import type { Db, Scope } from '#platform/context.ts';
import { openEvents } from '#platform/db/acts/read.ts';
import { boundId } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { SANDBOX_CURSOR } from '#platform/db/due/due-work.ts';
import { eventDueAt } from '#platform/db/due/vital-signs.ts';
import { claimKeysOf } from '#platform/db/outcome.ts';
import { cursors, paymentCandidates } from '#platform/db/tables/candidates.ts';
import { endedSessions, paymentSessions } from '#platform/db/tables/checkout.ts';
import { decodeId } from '#platform/db/tables/columns.ts';
import { customers, entitlements, HAS_FOUND_REF } from '#platform/db/tables/entitlements.ts';
import { acts, events, type StoredEvent } from '#platform/db/tables/events.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { placements } from '#platform/db/tables/office/placements.ts';
import { supportMessages, supportTickets } from '#platform/db/tables/office/support.ts';
import { payments, refunds, unmatchedPayments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { receiptMetadata, receiptNames, receipts } from '#platform/db/tables/receipts.ts';
import { sandboxAccounts, sandboxSessions, sandboxTransactions } from '#platform/db/tables/sandbox.ts';
import { meteredSessions, settlements } from '#platform/db/tables/settlements.ts';
import { subscriptionAuthorizations, subscriptionCollections } from '#platform/db/tables/subscriptions/authorizations.ts';
import { subscriptionPlans } from '#platform/db/tables/subscriptions/plans.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { webhookDeliveries } from '#platform/db/tables/webhooks.ts';

export const listSessionMetricEvents = async (scope: Scope): Promise<StoredEvent[]> =>
  openEvents(
    await scope.db
      .select()
      .from(events)
      .where(sql`${eventsOfSession(scope)} AND +${inArray(events.type, [...METRIC_EVENT_TYPES])}`),
  );

/** SQL condition for the index on `request_id`. The `+` prevents reading the merchant's other events. */
const eventsOfSession = ({ merchantId, sandbox }: Scope): SQL =>
  sql`livemode = 0 AND +merchant_id = ${boundId(merchantId)} AND request_id = ${causeOf(sandbox!.sessionId!)}`;

export function sessionErasure(scope: Scope): Write[] {
  const { db } = scope;
  const sessionId = scope.sandbox!.sessionId!;
  const theirs = eventsOfSession(scope);
  const ofPayments = clockFilterForPayment(scope, 'payment_id');
  const receiptIds = sql`(SELECT receipt_id FROM payments WHERE ${clockFilter(scope)})`;
  return [
    db.delete(webhookDeliveries).where(sql`event_id IN (SELECT id FROM events WHERE ${theirs})`),
    db.delete(acts).where(theirs),
    db.delete(receiptMetadata).where(sql`receipt_id IN ${receiptIds}`),
    db.delete(receipts).where(sql`id IN ${receiptIds}`),
    db.delete(unmatchedPayments).where(ofPayments),
    db.delete(paymentCandidates).where(ofPayments),
    db.delete(txClaims).where(clockFilterForClaims(scope)),
    db
      .delete(txClaims)
      .where(
        sql`livemode = 0 AND tx_key IN (${claimKeysOf(sql`SELECT tx_signature AS signature, payment_id AS id FROM settlements WHERE ${clockFilter(scope)}`)})`,
      ),
    db.delete(refunds).where(ofPayments),
    db.delete(settlements).where(clockFilter(scope)),
    db.delete(placements).where(clockFilter(scope)),
    db.delete(meteredSessions).where(clockFilter(scope)),
    db
      .delete(subscriptionCollections)
      .where(sql`authorization_id IN (SELECT id FROM subscription_authorizations WHERE ${clockFilter(scope)})`),
    db.delete(subscriptionAuthorizations).where(clockFilter(scope)),
    db.delete(memberships).where(clockFilter(scope)),
    db.delete(entitlements).where(clockFilter(scope)),
    db.delete(customers).where(sql`${clockFilter(scope)} AND ${HAS_FOUND_REF}`),
    db.delete(paymentSessions).where(clockFilter(scope)),
    db.delete(payments).where(clockFilter(scope)),
    db.delete(endedSessions).where(clockFilter(scope)),
    db.delete(supportMessages).where(sql`ticket_id IN (SELECT id FROM support_tickets WHERE sandbox_session_id = ${boundId(sessionId)})`),
    db.delete(supportTickets).where(eq(supportTickets.sandboxSessionId, sessionId)),
    db.delete(sandboxTransactions).where(eq(sandboxTransactions.sessionId, sessionId)),
    db.delete(sandboxAccounts).where(sql`session_id <> '' AND session_id = ${boundId(sessionId)}`),
    db.delete(subscriptionPlans).where(sql`product_id IN (SELECT id FROM products WHERE sandbox_session_id = ${boundId(sessionId)})`),
    db
      .delete(receiptNames)
      .where(
        sql`merchant_id = ${boundId(scope.merchantId)} AND livemode = 0 AND product_id IN (SELECT id FROM products WHERE sandbox_session_id = ${boundId(sessionId)})`,
      ),
    db.delete(products).where(eq(products.sandboxSessionId, sessionId)),
    db.delete(sandboxSessions).where(eq(sandboxSessions.id, sessionId)),
  ];
}

/** Time left to the queue before the sweep treats work as due. */
export const SANDBOX_PATIENCE_MS = MINUTE / 2;

export const readSweptUntil = async (db: Db): Promise<number> =>
  (await db.select({ passedAt: cursors.passedAt }).from(cursors).where(eq(cursors.name, SANDBOX_CURSOR)).get())?.passedAt ?? 0;

export const noteSweptUntil = (db: Db, passedAt: number) =>
  db.insert(cursors).values({ name: SANDBOX_CURSOR, passedAt, version: 0 }).onConflictDoUpdate({ target: cursors.name, set: { passedAt } });

/**
 * Lists merchants with sandbox work that fell due between `from` and `to` outside of sessions, and whether the list is complete. Rows of
 * ended sessions are excluded because no clock advances for them. Reads only indexes of sandbox rows.
 */
export async function listDueMerchants(
  db: Db,
  { from, to }: { from: number; to: number },
  limit: number,
): Promise<{ merchantIds: AccountId[]; isComplete: boolean }> {
  const isDue = (column: SQL, before = to) => sql`livemode = 0 AND ${column} BETWEEN ${from} AND ${before}`;
  const of = (name: string) => sql.raw(name);
  const events = (condition: SQL) => sql`SELECT DISTINCT merchant_id AS merchantId FROM acts WHERE ${condition} LIMIT ${limit}`;
  const ofMerchant = (table: string, condition: SQL) =>
    sql`SELECT DISTINCT merchant_id AS merchantId FROM ${of(table)} WHERE ${condition} AND ${isOfNoSession('customer_ref')} LIMIT ${limit}`;
  const ofPayment = (table: string, column: string, condition: SQL) =>
    sql`SELECT DISTINCT p.merchant_id AS merchantId FROM (SELECT ${of(column)} AS id FROM ${of(table)} WHERE ${condition}) d
      CROSS JOIN payments p ON p.id = d.id WHERE ${isOfNoSession('p.customer_ref')} LIMIT ${limit}`;
  const isCheckDue = sql`next_check_at IS NOT NULL AND ${isDue(of('next_check_at'))}`;
  const statements = [
    ofMerchant('payments', sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND ${isDue(of('expires_at'), to - MINUTE)}`),
    ofMerchant('memberships', sql`status = 'active' AND ${isDue(of('paid_through'))}`),
    ofMerchant('memberships', sql`status = 'grace' AND ${isDue(of('grace_until'))}`),
    ofMerchant('settlements', sql`status <> 'settled' AND next_check_at IS NOT NULL AND ${isDue(of('next_check_at'))}`),
    ofMerchant('metered_sessions', isCheckDue),
    ofMerchant('subscription_authorizations', isCheckDue),
    ofMerchant('subscription_authorizations', sql`collect_at IS NOT NULL AND ${isDue(of('collect_at'))}`),
    events(sql`fanned_out_at IS NULL AND ${isDue(eventDueAt, to - SANDBOX_PATIENCE_MS)} AND ${sql.raw(OF_NO_SESSION)}`),
    ofMerchant('placements', sql`next_attempt_at IS NOT NULL AND ${isDue(of('next_attempt_at'), to - SANDBOX_PATIENCE_MS)}`),
    ofPayment('tx_claims', 'subject_id', isCheckDue),
    sql`SELECT DISTINCT f.merchant_id AS merchantId FROM (SELECT subject_id AS id FROM tx_claims WHERE ${isCheckDue}) d
      CROSS JOIN refunds f ON f.id = d.id CROSS JOIN payments p ON p.id = f.payment_id WHERE ${isOfNoSession('p.customer_ref')} LIMIT ${limit}`,
    ofPayment('unmatched_payments', 'payment_id', isCheckDue),
    ofPayment(
      'payment_candidates',
      'payment_id',
      sql`origin IN ('found', 'sent', 'named') AND ${isDue(of('next_check_at'), to - SANDBOX_PATIENCE_MS)}`,
    ),
  ];
  const found: { merchantId: ArrayLike<number> }[][] = [];
  for (const statement of statements) found.push(await db.all<{ merchantId: ArrayLike<number> }>(statement));
  return {
    merchantIds: [...new Set(found.flat().map(({ merchantId }) => decodeId(merchantId) as AccountId))],
    isComplete: found.every((some) => some.length < limit),
  };
}
