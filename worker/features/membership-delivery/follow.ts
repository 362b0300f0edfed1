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
import { insertPlacement, listGranted, updatePlacement } from './store.ts';

type Step = { membershipId: MembershipId; provider: IdentityProvider; writes: [Write, ...Write[]]; isDue: boolean };

function stepFor(ctx: Shard, membership: Membership, placement: Placement | null): Step | null {
  const { id: membershipId } = membership;
  const now = timeOf(ctx);
  if (!placement) {
    const wanted = wantedOf(membership);
    if (!wanted) return null;
    const fresh = newPlacement(membership, wanted.target.provider, now);
    return { membershipId, provider: fresh.provider, writes: [insertPlacement(ctx.db, fresh)], isDue: true };
  }
  // The running attempt checks the membership when it ends. The version change makes that check read again.
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
  grant: null,
  grantKey: null,
  inviteUrl: null,
  lastError: null,
  deliveredAt: null,
  paymentId: membership.lastPaymentId,
  nextAttemptAt: now,
  leaseUntil: 0,
  createdAt: now,
  version: 1,
});

const TRIES_MAX = 3;

/**
 * Handles membership events: grants chat access to members and revokes it from others. Decides by the current rows, so events may come
 * late, twice and in any order. Returns the events with rows that were moved at every try.
 */
export async function followMemberships(ctx: Shard, events: StoredEvent[]): Promise<StoredEvent[]> {
  let ids = [...new Set(events.map(({ membershipId }) => membershipId as MembershipId | null).filter((id) => id !== null))];
  for (let tries = 0; tries < TRIES_MAX && ids.length > 0; tries++) ids = await followOnce(ctx, ids);
  return events.filter(({ membershipId }) => ids.includes(membershipId as MembershipId));
}

async function followOnce(ctx: Shard, ids: MembershipId[]): Promise<MembershipId[]> {
  const members = await listGranted(ctx.db, ids);
  const [live, sandboxed] = [true, false].map((mode) => members.filter(({ membership }) => membership.livemode === mode));
  const moved = await storeSteps(ctx, live!);
  for (const member of sandboxed!) moved.push(...(await storeSteps(await inMode(ctx, member.membership), [member])));
  return moved;
}

async function storeSteps(ctx: Shard, members: Awaited<ReturnType<typeof listGranted>>): Promise<MembershipId[]> {
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
