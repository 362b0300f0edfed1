import { eq, sql } from 'drizzle-orm';
import { DAY } from '#core/time.ts';
import { causeOf } from '#platform/chain/scope.ts';
import type { Db, Scope } from '#platform/context.ts';
import { inReach, isOfPaymentInReach } from '#platform/db/reach.ts';
import { sandboxSessions } from '#platform/db/tables/sandbox.ts';

/** Everything a session made, and then the session itself, in one batch. What of it is in nobody's table is the caller's to end before. */
export async function eraseSession(scope: Scope): Promise<void> {
  const { db } = scope;
  const sessionId = scope.sandbox!.sessionId!;
  const theirs = sql`livemode = 0 AND request_id = ${causeOf(sessionId)}`;
  const del = (from: ReturnType<typeof sql>) => db.run(sql`DELETE FROM ${from}`);
  await db.batch([
    del(sql`webhook_deliveries WHERE event_id IN (SELECT id FROM events WHERE ${theirs})`),
    del(sql`events WHERE ${theirs}`),
    del(sql`receipts WHERE ${isOfPaymentInReach(scope, 'payment_id')}`),
    del(sql`unmatched_payments WHERE ${isOfPaymentInReach(scope, 'payment_id')}`),
    del(sql`payment_candidates WHERE ${isOfPaymentInReach(scope, 'payment_id')}`),
    del(sql`tx_claims WHERE ${isOfPaymentInReach(scope, 'subject_id')}`),
    del(sql`tx_claims WHERE livemode = 0 AND subject_id IN (SELECT payment_id FROM settlements WHERE ${inReach(scope)})`),
    del(sql`settlements WHERE ${inReach(scope)}`),
    del(sql`memberships WHERE ${inReach(scope)}`),
    del(sql`entitlements WHERE ${inReach(scope)}`),
    del(sql`payment_sessions WHERE ${inReach(scope)}`),
    del(sql`payments WHERE ${inReach(scope)}`),
    del(sql`ended_sessions WHERE ${inReach(scope)}`),
    del(sql`sandbox_transactions WHERE session_id = ${sessionId}`),
    del(sql`products WHERE sandbox_session_id = ${sessionId}`),
    db.delete(sandboxSessions).where(eq(sandboxSessions.id, scope.sandbox!.sessionId!)),
  ]);
}

const CHAIN_KEPT_MS = 90 * DAY;

/** Transactions of no session, which nothing asks for any more. Answers how many. */
export async function forgetTransactions(db: Db, now: number, limit: number): Promise<number> {
  const { meta } = await db.run(sql`DELETE FROM sandbox_transactions WHERE rowid IN (SELECT rowid FROM sandbox_transactions
    WHERE session_id = '' AND created_at <= ${now - CHAIN_KEPT_MS} ORDER BY created_at LIMIT ${limit})`);
  return meta.changes;
}
