import type { Shard } from '#platform/context.ts';
import { addSwept, type Swept, sweepPages } from '#platform/db/sweeps.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import { MEMBERSHIP } from '#rules/states.ts';
import { type MembershipEvent, membershipChange } from './membership.ts';
import { graceEndOf, isCancelled } from './resource.ts';
import { expireMembershipsTogether, listExpiringMemberships } from './store.ts';

const PAGES = { pageMax: 250, pagesMax: 20 };

/**
 * Expires memberships past their paid time: into grace if one was promised, else expired, and after the grace expired. The row's version
 * decides a race with a renewal.
 */
export async function sweepMemberships(ctx: Shard): Promise<Swept> {
  const sweep = (status: 'active' | 'grace') =>
    sweepPages<Membership>(
      ctx,
      PAGES,
      (last) => listExpiringMemberships(ctx, status, ctx.now, last, PAGES.pageMax),
      (due) =>
        expireMembershipsTogether(
          ctx,
          due.map((one) => expireMembership(ctx, one)),
        ),
    );
  return addSwept(await sweep('active'), await sweep('grace'));
}

function expireMembership(ctx: Shard, membership: Membership) {
  const graceEnd = membership.graceUntil ?? graceEndOf(membership)!;
  const isGrace = membership.status === 'active' && graceEnd > ctx.now;
  const { status, cancelledAt } = membership;
  const [type, patch] = ((): [MembershipEvent, Pick<Membership, 'status' | 'graceUntil' | 'cancelledAt'>] => {
    if (isCancelled(membership))
      return ['membership.cancelled', { status: MEMBERSHIP.next(status, 'revoke'), graceUntil: null, cancelledAt: ctx.now }];
    if (isGrace) return ['membership.grace_started', { status: MEMBERSHIP.next(status, 'startGrace'), graceUntil: graceEnd, cancelledAt }];
    return ['membership.expired', { status: MEMBERSHIP.next(status, 'expire'), graceUntil: null, cancelledAt }];
  })();
  const { events, result } = membershipChange(ctx, type, membership, patch);
  return { event: events[0]!, values: { ...patch, updatedAt: result.updatedAt } };
}
