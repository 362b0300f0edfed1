import type { MembershipId } from '#core/ids.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Placement } from '#platform/db/tables/office/placements.ts';
import { followMembership, wantedOf } from '#rules/members/placement.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';
import { bringPlacements } from './attempt.ts';
import { timeOf } from './placement.ts';
import { insertPlacement, listPlaced, updatePlacement } from './store.ts';

type Step = { membershipId: MembershipId; provider: IdentityProvider; writes: [Write, ...Write[]]; isDue: boolean };

/** What events of a membership bring about for its place; null: nothing. */
function stepFor(ctx: Shard, membership: Membership, placement: Placement | null): Step | null {
  const { id: membershipId } = membership;
  const now = timeOf(ctx);
  if (!placement) {
    const wanted = wantedOf(membership);
    if (!wanted) return null;
    const fresh = newPlacement(membership, wanted.place.provider, now);
    return { membershipId, provider: fresh.provider, writes: [insertPlacement(ctx.db, fresh)], isDue: true };
  }
  // The attempt that is under way looks at the membership again when it ends; the moved version makes that look a fresh one.
  if (placement.leaseUntil > ctx.wallNow)
    return { membershipId, provider: placement.provider, writes: updatePlacement(ctx.db, placement, {}), isDue: false };
  const patch = followMembership(placement, membership, now);
  if (!patch) return null;
  const writes = updatePlacement(ctx.db, placement, patch as Partial<Placement>);
  return { membershipId, provider: patch.provider, writes, isDue: patch.nextAttemptAt !== null };
}

const newPlacement = (membership: Membership, provider: IdentityProvider, now: number): Placement => ({
  membershipId: membership.id,
  merchantId: membership.merchantId,
  livemode: membership.livemode,
  customerRef: membership.customerRef,
  provider,
  status: 'pending',
  work: 'give',
  attempts: 0,
  standing: null,
  standingKey: null,
  inviteUrl: null,
  lastError: null,
  deliveredAt: null,
  paymentId: membership.lastPaymentId,
  nextAttemptAt: now,
  leaseUntil: 0,
  createdAt: now,
  version: 1,
});

/** A row that an attempt moved meanwhile is judged again. */
const TRIES_MAX = 3;

/**
 * Follows what happened to memberships: a place is given to who has access by now, and taken from who has not. Decided from the rows as they
 * are, so events may come late, doubled and in any order. Answers the events whose rows were moved by others each time.
 */
export async function followMemberships(ctx: Shard, events: StoredEvent[]): Promise<StoredEvent[]> {
  let ids = [...new Set(events.map(({ membershipId }) => membershipId as MembershipId | null).filter((id) => id !== null))];
  for (let tries = 0; tries < TRIES_MAX && ids.length > 0; tries++) ids = await followOnce(ctx, ids);
  return events.filter(({ membershipId }) => ids.includes(membershipId as MembershipId));
}

/** Answers the memberships whose placement moved while it was judged. */
async function followOnce(ctx: Shard, ids: MembershipId[]): Promise<MembershipId[]> {
  const members = await listPlaced(ctx.db, ids);
  const [live, sandboxed] = [true, false].map((mode) => members.filter(({ membership }) => membership.livemode === mode));
  const moved = await storeSteps(ctx, live!);
  for (const member of sandboxed!) moved.push(...(await storeSteps(await inMode(ctx, member.membership), [member])));
  return moved;
}

async function storeSteps(ctx: Shard, members: Awaited<ReturnType<typeof listPlaced>>): Promise<MembershipId[]> {
  const steps = members.flatMap(({ membership, placement }) => stepFor(ctx, membership, placement) ?? []);
  const [first, ...rest] = steps.flatMap(({ writes }) => writes);
  if (!first) return [];
  const results = (await ctx.db.batch([first, ...rest])) as D1Result[];
  let at = 0;
  const isStored = steps.map(({ writes }) => {
    const { meta } = results[at]!;
    at += writes.length;
    return meta.changes > 0;
  });
  await bringPlacements(
    ctx,
    steps.filter(({ isDue }, index) => isDue && isStored[index]),
  );
  return steps.filter((_, index) => !isStored[index]).map(({ membershipId }) => membershipId);
}
