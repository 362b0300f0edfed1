import { and, asc, getTableColumns, lte, sql } from 'drizzle-orm';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Shard } from '#platform/context.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { commitMany, type RowStep } from '#platform/db/versioned.ts';

/** Up to when sessions are certainly over, epoch ms, and from when on they are given up whatever is still looked at. */
interface ExpiryBounds {
  endedBy: number;
  graceMs: number;
  abandonedBefore: number;
}

export type ExpiringSession = Awaited<ReturnType<typeof listExpired>>[number];

/**
 * Unfinished sessions that are certainly over at `endedBy`, late grace included, oldest first and after `last`, with what came in
 * for them. Those for which something was found and has no verdict are left alone, until they ended before `abandonedBefore`.
 */
export function listExpired(
  ctx: Shard,
  { endedBy, graceMs, abandonedBefore }: ExpiryBounds,
  last: { expiresAt: number; place: number } | null,
  limit: number,
) {
  const isUnfinished = sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION')`;
  // The `+` has the database search the few candidates of the payment, and not all rows of that origin.
  const isCertain = sql`(expires_at + late_grace_seconds * 1000 <= ${endedBy}
    AND NOT EXISTS (SELECT 1 FROM payment_candidates c WHERE c.payment_id = payments.id AND +c.origin = 'found'))`;
  return ctx.db
    .select({
      ...getTableColumns(payments),
      /** As its index has it, in the order of the list. */
      place: sql<number>`payments.rowid`.as('place'),
      isShort: sql<number>`EXISTS (SELECT 1 FROM unmatched_payments u WHERE u.payment_id = payments.id AND u.reason = 'underpaid')`,
    })
    .from(payments)
    .where(
      and(
        isUnfinished,
        inReach(ctx, 'payments.customer_ref', 'payments'),
        last ? sql`(expires_at, payments.rowid) > (${last.expiresAt}, ${last.place})` : undefined,
        // Bounds the search; which grace a session has is its own.
        lte(payments.expiresAt, Math.max(endedBy - graceMs, abandonedBefore)),
        sql`(${payments.expiresAt} <= ${abandonedBefore} OR ${isCertain})`,
      ),
    )
    .orderBy(asc(payments.expiresAt), sql`payments.rowid`)
    .limit(limit);
}

/** A row that was changed since it was read is left as it is. */
export const expireTogether = (ctx: Shard, steps: RowStep<{ status: string; failureCode: string; updatedAt: number }>[]): Promise<void> =>
  commitMany(ctx, payments, steps);
