import { membershipChange } from '#features/memberships/membership.ts';
import type { Scope } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import { MEMBERSHIP } from '#rules/states.ts';

/** Plans the end of a membership for good. */
export const planEndedAccess = (ctx: Scope, membership: Membership): Change<unknown> =>
  membershipChange(ctx, 'membership.cancelled', membership, {
    ...{ status: MEMBERSHIP.next(membership.status, 'revoke'), graceUntil: null, cancelledAt: ctx.now },
    paidThrough: membership.paidThrough === null ? ctx.now : Math.min(membership.paidThrough, ctx.now),
  });
