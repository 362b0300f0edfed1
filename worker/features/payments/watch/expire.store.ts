import { and, asc, getTableColumns, lte, sql } from 'drizzle-orm';
import { clockFilter } from '#platform/chain/clock-filter.store.ts';
import type { Shard } from '#platform/context.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { commitMany, type RowStep } from '#platform/db/versioned.ts';

/**
 * `endedBy`: sessions that ended before are certainly over (epoch ms). `abandonedBefore`: sessions that ended before expire despite open
 * candidates.
 */
interface ExpiryBounds {
  endedBy: number;
  graceMs: number;
  abandonedBefore: number;
}

export type ExpiringSession = Awaited<ReturnType<typeof listExpired>>[number];

/** Lists sessions to expire, oldest first. `isShort`: an underpayment arrived. Waits for a found transaction until `abandonedBefore`. */
export function listExpired(
  ctx: Shard,
  { endedBy, graceMs, abandonedBefore }: ExpiryBounds,
  last: { expiresAt: number; rowNumber: number } | null,
  limit: number,
) {
  const isUnfinished = sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION')`;
  // The `+` makes SQLite search the payment's few candidates instead of all rows of that origin.
  const isCertain = sql`(expires_at + late_grace_seconds * 1000 <= ${endedBy}
    AND NOT EXISTS (SELECT 1 FROM payment_candidates c WHERE c.payment_id = payments.id AND +c.origin = 'found'))`;
  return ctx.db
    .select({
      ...getTableColumns(payments),
      /** Must match the index, in the order of the list. */
      rowNumber: sql<number>`payments.rowid`.as('rowNumber'),
      isShort: sql<number>`EXISTS (SELECT 1 FROM unmatched_payments u WHERE u.payment_id = payments.id AND u.reason = 'underpaid')`,
    })
    .from(payments)
    .where(
      and(
        isUnfinished,
        clockFilter(ctx, 'payments.customer_ref', 'payments'),
        last ? sql`(expires_at, payments.rowid) > (${last.expiresAt}, ${last.rowNumber})` : undefined,
        // Bounds the search. Each session has its own grace.
        lte(payments.expiresAt, Math.max(endedBy - graceMs, abandonedBefore)),
        sql`(${payments.expiresAt} <= ${abandonedBefore} OR ${isCertain})`,
      ),
    )
    .orderBy(asc(payments.expiresAt), sql`payments.rowid`)
    .limit(limit);
}

export const expireTogether = (ctx: Shard, steps: RowStep<{ status: string; failureCode: string; updatedAt: number }>[]): Promise<void> =>
  commitMany(ctx, payments, steps);
