import { HOUR } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type Swept, sweepPages } from '#platform/db/sweep-pages.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import { MEMBERSHIP } from '#rules/states.ts';
import { type ExpiringMembership, expireMembershipsTogether, listExpiringMemberships } from './expiry.store.ts';
import { membershipChange } from './membership.ts';

/** Some thousand rows are read for a page. */
const PAGES = { pageMax: 250, pagesMax: 20 };

/**
 * Expires memberships whose paid time is over: into grace where the product grants one, else expired; and expired once the grace is over. A
 * renewal that arrives at the same moment wins or is seen, through the version of the same row.
 */
export async function sweepMemberships(ctx: Shard): Promise<Swept> {
  const sweep = (status: 'active' | 'grace') =>
    sweepPages<ExpiringMembership>(
      ctx,
      PAGES,
      (last) => listExpiringMemberships(ctx, status, ctx.now, last, PAGES.pageMax),
      (due) =>
        expireMembershipsTogether(
          ctx,
          due.map((one) => expireMembership(ctx, one)),
        ),
    );
  const [active, inGrace] = [await sweep('active'), await sweep('grace')];
  return { taken: active.taken + inGrace.taken, isFinished: active.isFinished && inGrace.isFinished };
}

function expireMembership(ctx: Shard, { graceHours, place: _, ...membership }: ExpiringMembership) {
  const graceEnd = membership.graceUntil ?? membership.paidThrough! + graceHours * HOUR;
  const isGrace = membership.status === 'active' && graceEnd > ctx.now;
  const type = isGrace ? 'membership.grace_started' : 'membership.expired';
  const patch: Pick<Membership, 'status' | 'graceUntil'> = isGrace
    ? { status: MEMBERSHIP.next(membership.status, 'startGrace'), graceUntil: graceEnd }
    : { status: MEMBERSHIP.next(membership.status, 'expire'), graceUntil: null };
  const { events, result } = membershipChange(ctx, type, membership, patch);
  return { event: events[0]!, values: { ...patch, updatedAt: result.updatedAt } };
}
