import { raise } from '#core/errors.ts';
import type { MembershipId } from '#core/ids.ts';
import type { Scope } from '#platform/context.ts';
import { transact } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Placement } from '#platform/db/tables/office/placements.ts';
import { retryPlacement } from '#rules/members/placement.ts';
import { bringPlacements } from './attempt.ts';
import { timeOf } from './placement.ts';
import { findOwnMember, movePlacement, withDelivery } from './store.ts';

/**
 * Restarts the schedule of a member's delivery, also of a failed revocation. Returns the membership unchanged if nothing is left to do or
 * an attempt runs. Throws 404.
 */
export async function retryDelivery(ctx: Scope, membershipId: MembershipId, storeAnswer: StoreAnswer<Membership>): Promise<Membership> {
  let due: Placement | null = null;
  const result = await transact(ctx, { reload: () => findOwnMember(ctx, membershipId) }, (member) => {
    const { membership, placement } = member ?? raise('not_found');
    const patch = placement && retryPlacement(placement, membership, timeOf(ctx), placement.leaseUntil > ctx.wallNow);
    if (!patch) return unchangedWithAnswer(membership, storeAnswer);
    const after = { ...placement, ...patch } as Placement;
    due = after;
    const writes = movePlacement(ctx, placement, patch as Partial<Placement>);
    const retried = withDelivery(membership, after);
    return withAnswer({ events: [], writes, result: retried }, storeAnswer(retried));
  });
  if (due) ctx.defer(bringPlacements(ctx, [due]));
  return result;
}
