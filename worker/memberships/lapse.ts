import type { Ctx } from '../context.ts';
import { HOUR } from '../core/time.ts';
import { forEach, transact, unchanged } from '../db/commit.ts';
import { MEMBERSHIP } from '../states.ts';
import { membershipChange } from './membership.ts';
import { findMembership, listLapsing, type Membership } from './store.ts';

const SWEEP_MAX = 200;

/**
 * The end of what was paid: into grace where the product grants one, else expired; and expired once the grace is over. A
 * renewal that arrives at the same moment wins or is seen, through the version of the same row.
 */
export async function sweepMemberships(ctx: Ctx): Promise<number> {
  const due = await listLapsing(ctx.db, ctx.now, SWEEP_MAX);
  return forEach(ctx, due, ({ membershipId, graceHours }) => lapse(ctx, membershipId, graceHours));
}

const lapse = (ctx: Ctx, membershipId: Membership['id'], graceHours: number) =>
  transact(ctx, async () => {
    const membership = await findMembership(ctx.db, membershipId);
    if (!membership || membership.paidThrough === null || membership.paidThrough > ctx.now) return unchanged(null);
    const graceUntil = membership.graceUntil ?? membership.paidThrough + graceHours * HOUR;
    if (membership.status === 'active' && graceUntil > ctx.now) {
      const status = MEMBERSHIP.next(membership.status, 'startGrace');
      return { ...membershipChange(ctx, 'membership.grace_started', membership, { status, graceUntil }), result: null };
    }
    if (!MEMBERSHIP.can(membership.status, 'expire') || graceUntil > ctx.now) return unchanged(null);
    const status = MEMBERSHIP.next(membership.status, 'expire');
    return { ...membershipChange(ctx, 'membership.expired', membership, { status, graceUntil: null }), result: null };
  });
