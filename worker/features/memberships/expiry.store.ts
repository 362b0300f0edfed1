import { and, asc, getTableColumns, lte, sql } from 'drizzle-orm';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Shard } from '#platform/context.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { commitMany, type RowStep } from '#platform/db/versioned.ts';
import { SERVED_AFTER_MS } from '#rules/subscriptions/schedule.ts';

export type ExpiringMembership = Awaited<ReturnType<typeof listExpiringMemberships>>[number];

const ENDS = { active: memberships.paidThrough, grace: memberships.graceUntil };

/**
 * Active ones past their end, or ones whose grace is over, longest due first and after `last`. `active` bounds what is read by the end of what was paid, `grace` by the end of the grace.
 */
export function listExpiringMemberships(
  ctx: Shard,
  status: keyof typeof ENDS,
  now: number,
  last: { paidThrough: number | null; graceUntil: number | null; place: number } | null,
  limit: number,
) {
  const endsAt = ENDS[status];
  const lastEnd = last && (status === 'active' ? last.paidThrough : last.graceUntil);
  return (
    ctx.db
      .select({
        ...getTableColumns(memberships),
        /** As its index has it, in the order of the list. */
        place: sql<number>`memberships.rowid`.as('place'),
      })
      .from(memberships)
      // As the index of each has it, word for word: a bound status would not use it.
      .where(
        and(
          status === 'active' ? sql`${memberships.status} = 'active'` : sql`${memberships.status} = 'grace'`,
          inReach(ctx, 'memberships.customer_ref', 'memberships'),
          last ? sql`(${endsAt}, memberships.rowid) > (${lastEnd}, ${last.place})` : undefined,
          lte(endsAt, now),
          // While its subscription is active, the next collection has an hour's time.
          status === 'active' ? sql`(subscription_status IS NOT 'active' OR ${lte(endsAt, now - SERVED_AFTER_MS)})` : undefined,
        ),
      )
      .orderBy(asc(endsAt), sql`memberships.rowid`)
      .limit(limit)
  );
}

/** A row that was changed since it was read is left as it is. */
export const expireMembershipsTogether = (
  ctx: Shard,
  steps: RowStep<{ status: string; graceUntil: number | null; cancelledAt: number | null; updatedAt: number }>[],
): Promise<void> => commitMany(ctx, memberships, steps);
