import { formatErrorChain } from '#core/errors.ts';
import { type CustomerId, customerIdOf, type MembershipId } from '#core/ids.ts';
import { findSurvivor } from '#features/entitlements/store.ts';
import { membershipChange } from '#features/memberships/membership.ts';
import { findMembership } from '#features/memberships/store.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import { loadNextIds } from '#platform/db/search/customer-ids.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Customer } from '#rules/balance.ts';
import { MEMBERSHIP } from '#rules/states.ts';
import { parseKey } from './customer.ts';
import { abortIfMerged, findPeer, listMergedIds, listRunningIds, movePayments, rekeyMembership } from './merge.store.ts';

const isRunning = ({ status }: Pick<Membership, 'status'>): boolean => status === 'active' || status === 'grace';

/**
 * Cancels a membership, and adds its remaining time and its payments to the survivor's for the same product. Access without an end wins.
 * `at`: time from which the remaining time counts.
 */
export function planMembershipMerge(ctx: Scope, from: Membership, into: Membership, at = ctx.now): Change<null> {
  const paid = movePayments(ctx, from, into);
  if (!isRunning(from)) return { events: [], writes: paid, result: null };
  const { now } = ctx;
  const ended = { status: MEMBERSHIP.next(from.status, 'revoke'), graceUntil: null, cancelledAt: now, cancelReason: 'merged' as const };
  const paidThrough = from.paidThrough === null ? now : Math.min(from.paidThrough, now);
  const cancelled = membershipChange(ctx, 'membership.cancelled', from, { ...ended, paidThrough });
  if (from.paidThrough !== null && from.paidThrough <= at) return { ...cancelled, writes: [...cancelled.writes, ...paid], result: null };
  const extended = membershipChange(ctx, 'membership.renewed', into, {
    status: MEMBERSHIP.next(into.status, 'renew'),
    paidThrough: from.paidThrough === null || into.paidThrough === null ? null : Math.max(at, into.paidThrough) + from.paidThrough - at,
    ...{ graceUntil: null, cancelledAt: null, cancelReason: null, deliverTo: into.deliverTo ?? from.deliverTo },
  });
  return { events: [...cancelled.events, ...extended.events], writes: [...cancelled.writes, ...extended.writes, ...paid], result: null };
}

/** Plans the move of a membership that a payment under a merged reference made or renewed. Its time counts from that payment. */
async function planLateMove(ctx: Scope, membership: Membership | undefined): Promise<Change<null>> {
  if (!membership || !isRunning(membership)) return unchanged(null);
  const survivor = await findSurvivor(ctx.db, customerIdOf(ctx.merchantId, ctx.livemode, parseKey(membership.customerKey)));
  if (!survivor) return unchanged(null);
  const peer = await findPeer(ctx, membership, survivor.customer);
  const change = peer
    ? planMembershipMerge(ctx, membership, peer, Math.min(ctx.now, membership.updatedAt))
    : { events: [], writes: rekeyMembership(ctx, membership, survivor.customer), result: null };
  return { ...change, writes: [abortIfMerged(ctx, survivor.id), ...change.writes] };
}

/** Moves a membership of a merged customer to the survivor, once. Does nothing for any other membership. */
const moveMembership = (ctx: Scope, id: MembershipId): Promise<null> =>
  transact(ctx, { reload: () => findMembership(ctx.db, id) }, (membership) => planLateMove(ctx, membership));

/** Moves what purchases left under the key of a merged customer. Idempotent. */
export async function moveMemberships(ctx: Scope, from: Customer): Promise<void> {
  for (const id of await listRunningIds(ctx, from)) await moveMembership(ctx, id);
}

const customerIn = ({ data }: StoredEvent) =>
  (data.object as { customer?: { customer_ref?: string; wallet_address?: string } }).customer ?? {};

const customerIdIn = (event: StoredEvent): CustomerId | null => {
  const { merchantId, livemode } = event;
  const { customer_ref: customerRef, wallet_address: walletAddress } = customerIn(event);
  if (customerRef !== undefined) return customerIdOf(merchantId, livemode, { customerRef });
  return walletAddress === undefined ? null : customerIdOf(merchantId, livemode, { walletAddress });
};

/** Handles membership.activated and membership.renewed under the key of a merged customer. Returns the events that failed. */
export async function followLateMemberships(shard: Shard, events: StoredEvent[]): Promise<StoredEvent[]> {
  const derived = [...new Set(events.flatMap((event) => customerIdIn(event) ?? []))];
  const next = await loadNextIds(shard.db, derived);
  const current = await listMergedIds(
    shard.db,
    derived.map((id) => next.get(id) ?? id),
  );
  const merged = new Set(derived.filter((id) => current.has(next.get(id) ?? id)));
  const failed: StoredEvent[] = [];
  for (const event of events.filter((one) => merged.has(customerIdIn(one)!))) {
    try {
      const { merchantId, livemode } = event;
      const owner = { merchantId: merchantId as Scope['merchantId'], livemode, customerRef: customerIn(event).customer_ref ?? null };
      await moveMembership(await loadScope(shard, owner), event.membershipId as MembershipId);
    } catch (error) {
      shard.note(`membership ${event.membershipId}: ${formatErrorChain(error)}`);
      failed.push(event);
    }
  }
  return failed;
}
