import { and, eq, exists, isNull, sql } from 'drizzle-orm';
import type { AnswerId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';

/** The one call that was told of a payment's success; null: none yet. */
export async function findTold(db: Db, { paymentId }: Settlement): Promise<string | null> {
  const claim = db.select({ answeredBy: txClaims.answeredBy }).from(txClaims).where(eq(txClaims.subjectId, paymentId));
  return (await claim.get())?.answeredBy ?? null;
}

/** The second statement fails the batch where another call was told since `before` was found, or the money was dropped. */
export const giveSuccess = (ctx: Shard, { paymentId }: Settlement, call: string, before: string | null): Write[] => [
  ctx.db
    .update(txClaims)
    .set({ answeredBy: call })
    .where(
      and(
        eq(txClaims.subjectId, paymentId),
        before === null ? isNull(txClaims.answeredBy) : eq(txClaims.answeredBy, before),
        isNull(txClaims.droppedAt),
      ),
    ),
  vetoUnlessChanged(ctx),
];

/**
 * Gives the success of a settled payment to one call, for ever: on its claim, which is never deleted, and as a copy on the settlement,
 * which each later call reads. Answers which call has it; the same call may ask again.
 */
export async function takeSuccess(db: Db, { paymentId }: Settlement, call: AnswerId): Promise<string | null> {
  const ofSettlement = and(eq(settlements.paymentId, paymentId), eq(settlements.status, 'settled'));
  const [, , [stored]] = await db.batch([
    db
      .update(txClaims)
      .set({ answeredBy: call })
      .where(
        and(
          eq(txClaims.subjectId, paymentId),
          isNull(txClaims.answeredBy),
          isNull(txClaims.droppedAt),
          exists(db.select({ id: settlements.paymentId }).from(settlements).where(ofSettlement)),
        ),
      ),
    db
      .update(settlements)
      .set({ answeredBy: sql`(SELECT answered_by FROM tx_claims WHERE subject_id = ${paymentId})` })
      .where(and(ofSettlement, isNull(settlements.answeredBy))),
    db.select({ answeredBy: txClaims.answeredBy }).from(txClaims).where(eq(txClaims.subjectId, paymentId)),
  ]);
  return stored?.answeredBy ?? null;
}
