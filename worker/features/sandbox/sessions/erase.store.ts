import { eq, sql } from 'drizzle-orm';
import { DAY } from '#core/time.ts';
import { inReach, isOfPaymentInReach } from '#platform/chain/reach.store.ts';
import { causeOf } from '#platform/chain/scope.ts';
import type { Db, Scope } from '#platform/context.ts';
import { paymentCandidates } from '#platform/db/tables/candidates.ts';
import { endedSessions, paymentSessions } from '#platform/db/tables/checkout.ts';
import { entitlements } from '#platform/db/tables/entitlements.ts';
import { events } from '#platform/db/tables/events.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { payments, unmatchedPayments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { sandboxSessions, sandboxTransactions } from '#platform/db/tables/sandbox.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { webhookDeliveries } from '#platform/db/tables/webhooks.ts';

/** Everything a session made, and then the session itself, in one batch. What of it is in no table is for the caller to end before. */
export async function eraseSession(scope: Scope): Promise<void> {
  const { db } = scope;
  const sessionId = scope.sandbox!.sessionId!;
  const theirs = sql`livemode = 0 AND request_id = ${causeOf(sessionId)}`;
  const ofPayments = isOfPaymentInReach(scope, 'payment_id');
  await db.batch([
    db.delete(webhookDeliveries).where(sql`event_id IN (SELECT id FROM events WHERE ${theirs})`),
    db.delete(events).where(theirs),
    db.delete(receipts).where(ofPayments),
    db.delete(unmatchedPayments).where(ofPayments),
    db.delete(paymentCandidates).where(ofPayments),
    db.delete(txClaims).where(isOfPaymentInReach(scope, 'subject_id')),
    db.delete(txClaims).where(sql`livemode = 0 AND subject_id IN (SELECT payment_id FROM settlements WHERE ${inReach(scope)})`),
    db.delete(settlements).where(inReach(scope)),
    db.delete(memberships).where(inReach(scope)),
    db.delete(entitlements).where(inReach(scope)),
    db.delete(paymentSessions).where(inReach(scope)),
    db.delete(payments).where(inReach(scope)),
    db.delete(endedSessions).where(inReach(scope)),
    db.delete(sandboxTransactions).where(eq(sandboxTransactions.sessionId, sessionId)),
    db.delete(products).where(eq(products.sandboxSessionId, sessionId)),
    db.delete(sandboxSessions).where(eq(sandboxSessions.id, sessionId)),
  ]);
}

const CHAIN_KEPT_MS = 90 * DAY;

/** Transactions of no session, which nothing asks for any more. Answers how many. */
export async function forgetTransactions(db: Db, now: number, limit: number): Promise<number> {
  const { meta } = await db.run(sql`DELETE FROM sandbox_transactions WHERE rowid IN (SELECT rowid FROM sandbox_transactions
    WHERE session_id = '' AND created_at <= ${now - CHAIN_KEPT_MS} ORDER BY created_at LIMIT ${limit})`);
  return meta.changes;
}
