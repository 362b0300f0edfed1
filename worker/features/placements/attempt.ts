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
  isInTheWay,
  PLACEMENT_LEASE_MS,
  type PlacementWork,
  type PlatformAnswer,
  placeKeyOf,
  platformOf,
  type StandingPlace,
  waitAfter,
  wantedOf,
  workOf,
} from '#rules/members/placement.ts';
import { PLACEMENT } from '#rules/states.ts';
import { askPlatform, takeInvite } from './ask.ts';
import { retrySecondsOf, sendPlacements, timeOf } from './placement.ts';
import { deleteAbandoned, findAbandoned, findMember, isBeingTaken, movePlacement, updateAbandoned, withDelivery } from './store.ts';

type Member = NonNullable<Awaited<ReturnType<typeof findMember>>>;

/** An attempt that has the lease of its row: no other is made for this membership until it ends or is a minute old. */
interface Leased extends Member {
  work: PlacementWork;
}

/**
 * One attempt at a member's place that is due. Harmless doubled, late or for a place that is as it should be. Where the platform is not
 * configured, live places wait.
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
  // Something else is due at once: the membership changed meanwhile.
  if (after && after.nextAttemptAt !== null && after.nextAttemptAt <= timeOf(ctx)) await bringPlacements(ctx, [after]);
}

/**
 * What may stand from now on is stored before the platform is asked, so that it is taken away whatever becomes of the answer. Work that
 * another platform has to do by now goes to the queue of that.
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
  const { standingKey } = { ...placement, ...patch };
  const waits = work === 'give' && standingKey !== null ? [abortIf(ctx, isBeingTaken(placement, standingKey, ctx.wallNow))] : [];
  try {
    await commit(ctx, { ...unchanged(null), writes: [...waits, ...movePlacement(ctx, placement, patch)] });
  } catch (error) {
    // Another attempt has it, or takes this very place from this person, or an event moved it: its message, or the sweep, brings it again.
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
  const begun = work === 'give' ? givingTo(wanted!, livemode) : takingFrom(placement.standing);
  const attempts = work === placement.work ? placement.attempts + 1 : 1;
  return { ...begun, work, attempts, leaseUntil: ctx.wallNow + PLACEMENT_LEASE_MS };
}

/** A sandbox gives no place at a platform, so none of its rows has the key by which others are compared. */
const givingTo = ({ place, identity: { providerUserId } }: DeliverTo, livemode: boolean): Partial<Placement> => ({
  standing: { place, providerUserId },
  standingKey: livemode ? placeKeyOf(place, providerUserId) : null,
});

/**
 * Stores what became of an attempt, and what is left to do, judged by what the membership says by now. One whose lease another took over
 * changes nothing. What the answer itself made of the place is told, also where the next work begins at once.
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

const takingFrom = (standing: StandingPlace | null): Partial<Placement> =>
  standing && !standing.isGivenBack ? { standing: { ...standing, isLeaving: true } } : {};

const NOTHING_STANDS = { standing: null, standingKey: null, inviteUrl: null, deliveredAt: null } as const;

/** What an answer makes of the row. */
function outcomeOf(ctx: Shard, work: PlacementWork, answer: PlatformAnswer, { placement, membership }: Member): Partial<Placement> {
  const { status, attempts, standing } = placement;
  const now = timeOf(ctx) + ctx.elapsedMs();
  if (answer.kind === 'unasked') return { attempts: attempts - 1, nextAttemptAt: now + answer.afterSeconds * SECOND };
  const wait = waitAfter(answer, attempts, retrySecondsOf(ctx));
  const isGivenBack = work === 'take' && standing?.isGivenBack === true;
  if (isGivenBack) return wait === null ? leftAlone(standing) : { nextAttemptAt: now + wait };
  if (answer.kind === 'done') {
    const ended = { lastError: null, nextAttemptAt: null };
    return work === 'give'
      ? { ...ended, status: PLACEMENT.next(status, 'deliver'), deliveredAt: now }
      : { ...ended, ...NOTHING_STANDS, status: PLACEMENT.next(status, 'revoke') };
  }
  const lastError = answer.kind === 'absent' ? ABSENT : answer.reason;
  if (wait !== null) return { status: PLACEMENT.next(status, 'retry'), lastError, nextAttemptAt: now + wait };
  const left = work === 'take' && isInTheWay(standing, wantedOf(membership)) ? NOTHING_STANDS : {};
  return { ...left, status: PLACEMENT.next(status, 'fail'), lastError, nextAttemptAt: null };
}

/** A place in a chat that was given back, without its invitation: it is shown as it was, and only its end is still to come. */
const leftAlone = ({ isGivenBack: _, ...standing }: StandingPlace): Partial<Placement> => ({
  standing,
  inviteUrl: null,
  work: 'give',
  nextAttemptAt: null,
});

/** Has places that are due attempted: by the queues of their platforms, and at once in a sandbox, which asks none. */
export async function bringPlacements(ctx: Shard, due: readonly Pick<Placement, 'membershipId' | 'provider'>[]): Promise<void> {
  if (!ctx.sandbox) return sendPlacements(ctx, due);
  // The run of a session does what is due by its clock, in order.
  if (ctx.sandbox.sessionId !== null) return;
  for (const { membershipId } of due) await attemptPlacement(ctx, membershipId);
}

/**
 * What is left of a place whose account was deleted: its open invitation is taken back, because it leads into a chat that may be another
 * merchant's by now, and the row goes, whatever the platform says by the end of the schedule. Harmless doubled.
 */
async function endAbandoned(ctx: Shard, membershipId: MembershipId, pace?: Pace): Promise<void> {
  const row = await findAbandoned(ctx.db, membershipId);
  if (!row || row.nextAttemptAt === null || row.nextAttemptAt > ctx.wallNow || row.leaseUntil > ctx.wallNow) return;
  const { standing, inviteUrl, provider } = row;
  const isOpen = row.livemode && inviteUrl !== null && missingForDelivery(ctx.config, provider).length === 0;
  if (!standing || !isOpen) return void (await deleteAbandoned(ctx.db, row));
  const taken = { attempts: row.attempts + 1, leaseUntil: ctx.wallNow + PLACEMENT_LEASE_MS };
  if (!(await updateAbandoned(ctx.db, row, taken))) return;
  const leased = { ...row, ...taken, version: row.version + 1 };
  const answer = await takeInvite(deskOf(ctx, pace ?? paceOf(provider)), standing, inviteUrl);
  const isUnasked = answer.kind === 'unasked';
  const waitMs = isUnasked ? answer.afterSeconds * SECOND : waitAfter(answer, leased.attempts, retrySecondsOf(ctx));
  if (waitMs === null) return void (await deleteAbandoned(ctx.db, leased));
  const attempts = isUnasked ? row.attempts : leased.attempts;
  await updateAbandoned(ctx.db, leased, { attempts, leaseUntil: 0, nextAttemptAt: ctx.wallNow + ctx.elapsedMs() + waitMs });
}
