import type { MembershipId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import { membershipChange } from '#features/memberships/membership.ts';
import type { Shard } from '#platform/context.ts';
import { abortIf, type Change, commit, isAborted, transact, unchanged } from '#platform/db/commit.ts';
import type { Placement } from '#platform/db/tables/office/placements.ts';
import type { Pace } from '#platform/providers/messaging/pace.ts';
import { deskOf, missingForDelivery, paceOf } from '#platform/providers/messaging/platforms.ts';
import {
  ABSENT,
  type DeliverTo,
  followMembership,
  grantKeyOf,
  isInTheWay,
  PLACEMENT_LEASE_MS,
  type PlacementWork,
  type PlatformAnswer,
  type PlatformGrant,
  platformOf,
  waitAfter,
  wantedOf,
  workOf,
} from '#rules/members/placement.ts';
import { PLACEMENT } from '#rules/states.ts';
import { askPlatform, takeInvite } from './ask.ts';
import { retrySecondsOf, sendPlacements, timeOf } from './placement.ts';
import { deleteAbandoned, findAbandoned, findMember, isBeingTaken, movePlacement, updateAbandoned, withDelivery } from './store.ts';

type Member = NonNullable<Awaited<ReturnType<typeof findMember>>>;

/** Attempt with the lease of its row: no other attempt runs for this membership until it ends or the lease of a minute expires. */
interface Leased extends Member {
  work: PlacementWork;
}

/**
 * Makes one attempt at a due membership delivery. Idempotent, also late or if nothing is to be done. Live deliveries wait if the platform
 * is not configured.
 */
export async function attemptPlacement(ctx: Shard, membershipId: MembershipId, pace?: Pace): Promise<void> {
  const found = await findMember(ctx.db, membershipId);
  if (!found) return endAbandoned(ctx, membershipId, pace);
  const { provider } = found.placement;
  if (found.membership.livemode && missingForDelivery(ctx.config, provider).length > 0) return;
  const leased = await lease(ctx, found);
  if (!leased) return;
  const answer = await askPlatform(ctx, leased, pace ?? paceOf(provider));
  if (answer.kind === 'later' || answer.kind === 'refused') ctx.note(`${provider} ${leased.work}: ${answer.reason}`);
  const after = await record(ctx, leased, answer);
  if (after && after.nextAttemptAt !== null && after.nextAttemptAt <= timeOf(ctx)) await bringPlacements(ctx, [after]);
}

/**
 * Leases the row and stores a possible grant before the platform call, so that it can be revoked whatever the answer. Work for another
 * platform goes to that platform's queue.
 */
async function lease(ctx: Shard, member: Member): Promise<Leased | null> {
  const { placement, membership } = member;
  const { nextAttemptAt, leaseUntil, membershipId } = placement;
  if (nextAttemptAt === null || nextAttemptAt > timeOf(ctx) || leaseUntil > ctx.wallNow) return null;
  const wanted = wantedOf(membership);
  const work = workOf(placement, wanted);
  const provider = platformOf(placement, work, wanted);
  const isElsewhere = provider !== placement.provider;
  const patch = isElsewhere ? { provider } : leaseOf(ctx, member, work, wanted);
  const { grantKey } = { ...placement, ...patch };
  const waits = work === 'give' && grantKey !== null ? [abortIf(ctx, isBeingTaken(placement, grantKey, ctx.wallNow))] : [];
  try {
    await commit(ctx, { ...unchanged(null), writes: [...waits, ...movePlacement(ctx, placement, patch)] });
  } catch (error) {
    // Another attempt has the row, revokes this very grant from this person, or an event moved the row. The message or the sweep retries.
    if (isAborted(error)) return null;
    throw error;
  }
  if (isElsewhere) await bringPlacements(ctx, [{ membershipId, provider }]);
  if (isElsewhere || work === null) return null;
  return { ...member, placement: { ...placement, ...patch, version: placement.version + 1 }, work };
}

function leaseOf(
  ctx: Shard,
  { placement, membership: { livemode } }: Member,
  work: PlacementWork | null,
  wanted: DeliverTo | null,
): Partial<Placement> {
  if (work === null) return { nextAttemptAt: null };
  const begun = work === 'give' ? givingTo(wanted!, livemode) : takingFrom(placement.grant);
  const attempts = work === placement.work ? placement.attempts + 1 : 1;
  return { ...begun, work, attempts, leaseUntil: ctx.wallNow + PLACEMENT_LEASE_MS };
}

/** The sandbox grants nothing at a platform, so its rows have no key to compare. */
const givingTo = ({ target, identity: { providerUserId } }: DeliverTo, livemode: boolean): Partial<Placement> => ({
  grant: { target, providerUserId },
  grantKey: livemode ? grantKeyOf(target, providerUserId) : null,
});

/**
 * Stores the result of an attempt and the remaining work, by the membership's current state. Changes nothing if another attempt took the
 * lease. The result of the answer itself is published even if new work begins at once.
 */
const record = (ctx: Shard, leased: Leased, answer: PlatformAnswer): Promise<Placement | null> =>
  transact(ctx, { reload: () => findMember(ctx.db, leased.placement.membershipId) }, (member): Change<Placement | null> => {
    if (member?.placement.leaseUntil !== leased.placement.leaseUntil) return unchanged(null);
    const { placement, membership } = member;
    const ended: Placement = { ...placement, ...outcomeOf(ctx, leased.work, answer, member), leaseUntil: 0 };
    const after = { ...ended, ...followMembership(ended, membership, timeOf(ctx)) } as Placement;
    const { version: _, ...patch } = after;
    const writes = movePlacement(ctx, placement, patch);
    const event = ended.status === placement.status ? null : EVENTS[ended.status];
    const change = event ? membershipChange(ctx, event, withDelivery(membership, ended), {}) : { events: [], writes: [] };
    return { events: change.events, writes: [...change.writes, ...writes], result: after };
  });

const EVENTS = { pending: null, delivered: 'delivery.succeeded', failed: 'delivery.failed', revoked: 'membership.access_revoked' } as const;

const takingFrom = (grant: PlatformGrant | null): Partial<Placement> =>
  grant && !grant.isGivenBack ? { grant: { ...grant, isLeaving: true } } : {};

const NO_GRANT = { grant: null, grantKey: null, inviteUrl: null, deliveredAt: null } as const;

function outcomeOf(ctx: Shard, work: PlacementWork, answer: PlatformAnswer, { placement, membership }: Member): Partial<Placement> {
  const { status, attempts, grant } = placement;
  const now = timeOf(ctx) + ctx.elapsedMs();
  if (answer.kind === 'unasked') return { attempts: attempts - 1, nextAttemptAt: now + answer.afterSeconds * SECOND };
  const wait = waitAfter(answer, attempts, retrySecondsOf(ctx));
  const isGivenBack = work === 'take' && grant?.isGivenBack === true;
  if (isGivenBack) return wait === null ? leftAlone(grant) : { nextAttemptAt: now + wait };
  if (answer.kind === 'done') {
    const ended = { lastError: null, nextAttemptAt: null };
    return work === 'give'
      ? { ...ended, status: PLACEMENT.next(status, 'deliver'), deliveredAt: now }
      : { ...ended, ...NO_GRANT, status: PLACEMENT.next(status, 'revoke') };
  }
  const lastError = answer.kind === 'absent' ? ABSENT : answer.reason;
  if (wait !== null) return { status: PLACEMENT.next(status, 'retry'), lastError, nextAttemptAt: now + wait };
  const left = work === 'take' && (grant?.isErased || isInTheWay(grant, wantedOf(membership))) ? NO_GRANT : {};
  return { ...left, status: PLACEMENT.next(status, 'fail'), lastError, nextAttemptAt: null };
}

/** Access in a released chat, without its invitation: shown unchanged until it ends. */
const leftAlone = ({ isGivenBack: _, ...grant }: PlatformGrant): Partial<Placement> => ({
  grant,
  inviteUrl: null,
  work: 'give',
  nextAttemptAt: null,
  ...(grant.isErased && NO_GRANT),
});

export async function bringPlacements(ctx: Shard, due: readonly Pick<Placement, 'membershipId' | 'provider'>[]): Promise<void> {
  if (!ctx.sandbox) return sendPlacements(ctx, due);
  if (ctx.sandbox.sessionId !== null) return;
  for (const { membershipId } of due) await attemptPlacement(ctx, membershipId);
}

/**
 * Ends the delivery of a deleted account: revokes its open invitation, because the chat may belong to another merchant later, and deletes
 * the row at the end of the schedule at the latest. Idempotent.
 */
async function endAbandoned(ctx: Shard, membershipId: MembershipId, pace?: Pace): Promise<void> {
  const row = await findAbandoned(ctx.db, membershipId);
  if (!row || row.nextAttemptAt === null || row.nextAttemptAt > ctx.wallNow || row.leaseUntil > ctx.wallNow) return;
  const { grant, inviteUrl, provider } = row;
  const isOpen = row.livemode && inviteUrl !== null && missingForDelivery(ctx.config, provider).length === 0;
  if (!grant || !isOpen) return void (await deleteAbandoned(ctx.db, row));
  const taken = { attempts: row.attempts + 1, leaseUntil: ctx.wallNow + PLACEMENT_LEASE_MS };
  if (!(await updateAbandoned(ctx.db, row, taken))) return;
  const leased = { ...row, ...taken, version: row.version + 1 };
  const answer = await takeInvite(deskOf(ctx, pace ?? paceOf(provider)), grant, inviteUrl);
  const isUnasked = answer.kind === 'unasked';
  const waitMs = isUnasked ? answer.afterSeconds * SECOND : waitAfter(answer, leased.attempts, retrySecondsOf(ctx));
  if (waitMs === null) return void (await deleteAbandoned(ctx.db, leased));
  const attempts = isUnasked ? row.attempts : leased.attempts;
  await updateAbandoned(ctx.db, leased, { attempts, leaseUntil: 0, nextAttemptAt: ctx.wallNow + ctx.elapsedMs() + waitMs });
}
