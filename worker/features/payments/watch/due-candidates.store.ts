import { sql } from 'drizzle-orm';
import { isOfPaymentInReach } from '#platform/chain/reach.store.ts';
import type { Shard } from '#platform/context.ts';
import { isAmongRows, listDueInTurns } from '#platform/db/sweep-pages.ts';
import { type Candidate, paymentCandidates } from '#platform/db/tables/candidates.ts';

/** Candidates of one origin that are due, in turns of their merchants. */
export async function listDueCandidates(
  ctx: Shard,
  origin: Exclude<Candidate['origin'], 'judged'>,
  dueBefore: number,
  limit: number,
): Promise<Candidate[]> {
  const isOf = sql`origin = ${origin}`;
  const waiting = {
    table: paymentCandidates,
    at: paymentCandidates.nextCheckAt,
    isLive: sql`livemode = 1 AND origin IN ('found', 'sent', 'named') AND ${isOf}`,
    byMerchant: 'payment_candidates_by_merchant',
  };
  const isInReach = sql`${isOf} AND ${isOfPaymentInReach(ctx, 'payment_id')}`;
  const rowids = await listDueInTurns(ctx, waiting, { isInReach, dueBefore, limit });
  return ctx.db.select().from(paymentCandidates).where(isAmongRows(rowids)).all();
}
