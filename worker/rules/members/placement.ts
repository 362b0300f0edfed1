/**
 * When a member's place in a chat or guild is given and when it is taken away: decided from what the membership says by now and what
 * stands at the platform, so that it does not matter in which order events come, or how often.
 * @module
 */

import { HOUR, MINUTE } from '#core/time.ts';
import { type DeliveryPlace, type IdentityProvider, type PaymentTerms, PLATFORM_FIELDS, type ProvenIdentity } from '../payment-terms.ts';
import { type MembershipStatus, PLACEMENT, type PlacementStatus } from '../states.ts';

/** Who gets access, and where: of the purchase, kept with the membership. */
export interface DeliverTo {
  place: DeliveryPlace;
  identity: ProvenIdentity;
}

/** Access is delivered where the product promised it and the buyer showed who they are there. An identity that was erased gets nothing. */
function deliverToOf({ delivery: place, identity }: Pick<PaymentTerms, 'delivery' | 'identity'>): DeliverTo | null {
  return place && identity?.provider === place.provider && identity.providerUserId !== '' ? { place, identity } : null;
}

/** What a purchase says of who gets access. */
export interface BoughtPlace {
  deliverTo: DeliverTo | null;
  /** By a reference that the buyer alone named, which proves nothing. */
  isClaim: boolean;
}

export const boughtPlaceOf = ({ customerRef, terms }: { customerRef: string | null; terms: PaymentTerms }): BoughtPlace => ({
  deliverTo: deliverToOf(terms),
  isClaim: customerRef !== null && terms.isRefTrusted !== true,
});

/** Who gets access after a purchase: a claim moves the place of no one who has one. */
export const deliverToAfter = (held: DeliverTo | null, { deliverTo, isClaim }: BoughtPlace): DeliverTo | null =>
  isClaim ? (held ?? deliverTo) : (deliverTo ?? held);

/** What may stand at the platform since an attempt was begun, whether or not its answer came. */
export interface StandingPlace {
  place: DeliveryPlace;
  providerUserId: string;
  /** It is being taken away: part of that may be done, so it is done to the end before anything is given again. */
  isLeaving?: true;
  /** The account has no claim to it any more: its invitation is taken back, and nothing else there is touched. */
  isGivenBack?: true;
}

export type PlacementWork = 'give' | 'take';

/** What of a placement decides. Instants are epoch milliseconds. */
export interface PlacementState {
  status: PlacementStatus;
  /** The platform that is asked next, and in whose queue this waits. */
  provider: IdentityProvider;
  standing: StandingPlace | null;
  /** What the attempts are counted of. */
  work: PlacementWork;
  attempts: number;
  /** The purchase that the present work goes back to. */
  paymentId: string;
  nextAttemptAt: number | null;
}

interface Member {
  status: MembershipStatus;
  deliverTo: DeliverTo | null;
  lastPaymentId: string;
}

/** Access that a membership gives by now; grace covers delivered access. */
export const wantedOf = ({ status, deliverTo }: Member): DeliverTo | null => (status === 'active' || status === 'grace' ? deliverTo : null);

/** One person's place, whichever membership gave it. Where an invitation leads to within it decides nothing. */
export const placeKeyOf = (place: DeliveryPlace, providerUserId: string): string =>
  [place.provider, ...PLATFORM_FIELDS[place.provider].map((field) => place[field]), providerUserId].join(':');

const stands = ({ place, providerUserId }: StandingPlace, { place: wanted, identity }: DeliverTo): boolean =>
  placeKeyOf(place, providerUserId) === placeKeyOf(wanted, identity.providerUserId);

/** What is left to do; null: nothing. What is wanted elsewhere is first taken from where it stands. */
export function workOf({ status, standing }: Pick<PlacementState, 'status' | 'standing'>, wanted: DeliverTo | null): PlacementWork | null {
  if (standing && (standing.isGivenBack || standing.isLeaving || !wanted || !stands(standing, wanted))) return 'take';
  if (!wanted) return status === 'revoked' ? null : 'take';
  return status === 'delivered' ? null : 'give';
}

/** The platform that is asked to do it: a product may have moved to another since the last attempt. */
export const platformOf = (
  { provider, standing }: Pick<PlacementState, 'provider' | 'standing'>,
  work: PlacementWork | null,
  wanted: DeliverTo | null,
): IdentityProvider => (work === 'give' ? wanted : standing)?.place.provider ?? provider;

/** What a place that could not be taken away leaves: its merchant is told, and a place elsewhere that is paid for does not wait for it. */
export const isInTheWay = (standing: StandingPlace | null, wanted: DeliverTo | null): boolean =>
  standing !== null && wanted !== null && !stands(standing, wanted);

type Begun = Pick<PlacementState, 'status' | 'provider' | 'work' | 'attempts' | 'paymentId' | 'nextAttemptAt'>;

/**
 * What an event of its membership, or the end of an attempt, changes about a placement; null: nothing. Work that waits for its time goes on
 * waiting, and what was given up stays given up until it is paid for again or the merchant asks.
 */
export function followMembership(state: PlacementState, member: Member, now: number): Begun | null {
  const wanted = wantedOf(member);
  const work = workOf(state, wanted);
  const { status, provider, attempts, paymentId, nextAttemptAt } = state;
  if (work === null)
    return nextAttemptAt === null ? null : { status, provider, work: state.work, attempts, paymentId, nextAttemptAt: null };
  const isSame = work === state.work && paymentId === member.lastPaymentId;
  if (isSame && (nextAttemptAt !== null || status === 'failed')) return null;
  return begin({ ...state, provider: platformOf(state, work, wanted), paymentId: member.lastPaymentId }, work, now);
}

/** The merchant asks once more: the schedule begins anew. Null where nothing is left to do, or it is under way or about to be done. */
export function retryPlacement(state: PlacementState, member: Member, now: number, isUnderWay: boolean): Begun | null {
  const wanted = wantedOf(member);
  const work = workOf(state, wanted);
  if (work === null || isUnderWay || (state.nextAttemptAt !== null && state.nextAttemptAt <= now)) return null;
  return begin({ ...state, provider: platformOf(state, work, wanted) }, work, now);
}

/** A place that stands is shown as such until it is gone. */
const begin = ({ status, provider, paymentId }: PlacementState, work: PlacementWork, now: number): Begun => ({
  status: work === 'take' && status === 'delivered' ? status : PLACEMENT.next(status, 'again'),
  provider,
  work,
  attempts: 0,
  paymentId,
  nextAttemptAt: now,
});

/** What a platform answered to one attempt. Expected failures are answers. */
export type PlatformAnswer =
  | { kind: 'done' }
  /** It may be otherwise later: too many calls, a fault of theirs, no answer. */
  | { kind: 'later'; reason: string; afterSeconds?: number }
  /** It was not asked, because it wants to be left alone for so long: this counts as no attempt. */
  | { kind: 'unasked'; afterSeconds: number }
  /** The person is not there yet, and holds an invitation: looked for again as long as access lasts. */
  | { kind: 'absent' }
  | { kind: 'refused'; reason: string };

/** What a person who was invited has not done yet. */
export const ABSENT = 'not_a_member';

/** The most pressing of two answers: where either of them may be otherwise later, both are asked again. */
export const worseOf = (one: PlatformAnswer, other: PlatformAnswer): PlatformAnswer =>
  SEVERITY.indexOf(one.kind) >= SEVERITY.indexOf(other.kind) ? one : other;
const SEVERITY: readonly PlatformAnswer['kind'][] = ['done', 'absent', 'refused', 'later', 'unasked'];

const LAST_LOOK_MS = 12 * HOUR;

/** Milliseconds to the next attempt; null: it is given up. `attempts` were made, this one among them. */
export function waitAfter(
  answer: Exclude<PlatformAnswer, { kind: 'unasked' }>,
  attempts: number,
  retrySeconds: readonly number[],
): number | null {
  if (answer.kind === 'done' || answer.kind === 'refused') return null;
  const seconds = retrySeconds[attempts - 1];
  if (answer.kind === 'absent') return seconds === undefined ? LAST_LOOK_MS : seconds * 1000;
  // A platform that asks for more than that gets it.
  return seconds === undefined ? null : Math.max(seconds * 1000, Math.ceil((answer.afterSeconds ?? 0) * 1000));
}

/** An attempt that died is made again after so much wall time: the clock of a sandbox session may stand still. */
export const PLACEMENT_LEASE_MS = MINUTE;
