/**
 * Membership delivery: when a member's access to a chat or guild is granted and revoked. Decided from the current membership and the grant
 * at the platform, so that order and repetition of events do not matter.
 * @module
 */

import { HOUR, MINUTE } from '#core/time.ts';
import { type DeliveryTarget, type IdentityProvider, type PaymentTerms, PLATFORM_FIELDS, type ProvenIdentity } from '../payment-terms.ts';
import { type MembershipStatus, PLACEMENT, type PlacementStatus } from '../states.ts';

/** Recipient and target of delivered access. Stored with the membership. */
export interface DeliverTo {
  target: DeliveryTarget;
  identity: ProvenIdentity;
}

function deliverToOf({ delivery: target, identity }: Pick<PaymentTerms, 'delivery' | 'identity'>): DeliverTo | null {
  return target && identity?.provider === target.provider && identity.providerUserId !== '' ? { target, identity } : null;
}

export interface PurchasedDelivery {
  deliverTo: DeliverTo | null;
  /** True if only the buyer named the customer reference, which proves nothing. */
  isClaim: boolean;
}

export const purchasedDeliveryOf = ({ customerRef, terms }: { customerRef: string | null; terms: PaymentTerms }): PurchasedDelivery => ({
  deliverTo: deliverToOf(terms),
  isClaim: customerRef !== null && terms.isRefTrusted !== true,
});

/** Recipient after a purchase. A claim never replaces an existing recipient. */
export const deliverToAfter = (held: DeliverTo | null, { deliverTo, isClaim }: PurchasedDelivery): DeliverTo | null =>
  isClaim ? (held ?? deliverTo) : (deliverTo ?? held);

/** Access that may exist at the platform since an attempt was started, whether or not an answer arrived. */
export interface PlatformGrant {
  target: DeliveryTarget;
  providerUserId: string;
  /** Revocation in progress. Parts may be done, so it is completed before another grant. */
  isLeaving?: true;
  /** The account lost its claim to the chat: the invitation is revoked and nothing else is touched. */
  isGivenBack?: true;
  /** The customer is erased: the grant is forgotten at the end of its revocation. */
  isErased?: true;
}

export type PlacementWork = 'give' | 'take';

export interface PlacementState {
  status: PlacementStatus;
  /** Platform to call next. The delivery waits in its queue. */
  provider: IdentityProvider;
  grant: PlatformGrant | null;
  work: PlacementWork;
  attempts: number;
  paymentId: string;
  nextAttemptAt: number | null;
}

interface Member {
  status: MembershipStatus;
  deliverTo: DeliverTo | null;
  lastPaymentId: string;
}

/** Access that the membership currently includes. Grace covers delivered access. */
export const wantedOf = ({ status, deliverTo }: Member): DeliverTo | null => (status === 'active' || status === 'grace' ? deliverTo : null);

/** Key of one person's access, independent of the membership. Fields that only shape the invitation are not part of the key. */
export const grantKeyOf = (target: DeliveryTarget, providerUserId: string): string =>
  [target.provider, ...PLATFORM_FIELDS[target.provider].map((field) => target[field]), providerUserId].join(':');

const isWantedGrant = ({ target, providerUserId }: PlatformGrant, { target: wanted, identity }: DeliverTo): boolean =>
  grantKeyOf(target, providerUserId) === grantKeyOf(wanted, identity.providerUserId);

/** Next work, or null if none. A grant elsewhere waits until the old one is revoked. */
export function workOf({ status, grant }: Pick<PlacementState, 'status' | 'grant'>, wanted: DeliverTo | null): PlacementWork | null {
  if (grant && (grant.isGivenBack || grant.isLeaving || !wanted || !isWantedGrant(grant, wanted))) return 'take';
  if (!wanted) return status === 'revoked' ? null : 'take';
  return status === 'delivered' ? null : 'give';
}

/** Platform for the next call. A product may have moved since the last attempt. */
export const platformOf = (
  { provider, grant }: Pick<PlacementState, 'provider' | 'grant'>,
  work: PlacementWork | null,
  wanted: DeliverTo | null,
): IdentityProvider => (work === 'give' ? wanted : grant)?.target.provider ?? provider;

/** True if a failed revocation would block a new grant. The merchant is notified and the new grant proceeds. */
export const isInTheWay = (grant: PlatformGrant | null, wanted: DeliverTo | null): boolean =>
  grant !== null && wanted !== null && !isWantedGrant(grant, wanted);

type Begun = Pick<PlacementState, 'status' | 'provider' | 'work' | 'attempts' | 'paymentId' | 'nextAttemptAt'>;

/**
 * Change of a delivery after a membership event or a finished attempt. Null means no change. Scheduled work stays scheduled, and failed
 * work stays failed until a new payment or the merchant's retry.
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

/** Restarts the schedule at the merchant's request. Null if nothing is left to do, or if work runs or is due. */
export function retryPlacement(state: PlacementState, member: Member, now: number, isUnderWay: boolean): Begun | null {
  const wanted = wantedOf(member);
  const work = workOf(state, wanted);
  if (work === null || isUnderWay || (state.nextAttemptAt !== null && state.nextAttemptAt <= now)) return null;
  return begin({ ...state, provider: platformOf(state, work, wanted) }, work, now);
}

/** Granted access is shown as delivered until it is revoked. */
const begin = ({ status, provider, paymentId }: PlacementState, work: PlacementWork, now: number): Begun => ({
  status: work === 'take' && status === 'delivered' ? status : PLACEMENT.next(status, 'again'),
  provider,
  work,
  attempts: 0,
  paymentId,
  nextAttemptAt: now,
});

export type PlatformAnswer =
  | { kind: 'done' }
  | { kind: 'later'; reason: string; afterSeconds?: number }
  /** Not called because of the platform's rate limit. Does not count as an attempt. */
  | { kind: 'unasked'; afterSeconds: number }
  /** The person holds an invitation and has not joined. Checked again for as long as access lasts. */
  | { kind: 'absent' }
  | { kind: 'refused'; reason: string };

export const ABSENT = 'not_a_member';

/** Returns the more urgent of two answers. If either is temporary, both calls are repeated. */
export const worseOf = (one: PlatformAnswer, other: PlatformAnswer): PlatformAnswer =>
  SEVERITY.indexOf(one.kind) >= SEVERITY.indexOf(other.kind) ? one : other;
const SEVERITY: readonly PlatformAnswer['kind'][] = ['done', 'absent', 'refused', 'later', 'unasked'];

const LAST_CHECK_MS = 12 * HOUR;

/** Milliseconds to the next attempt. Null means giving up. `attempts` includes the current one. */
export function waitAfter(
  answer: Exclude<PlatformAnswer, { kind: 'unasked' }>,
  attempts: number,
  retrySeconds: readonly number[],
): number | null {
  if (answer.kind === 'done' || answer.kind === 'refused') return null;
  const seconds = retrySeconds[attempts - 1];
  if (answer.kind === 'absent') return seconds === undefined ? LAST_CHECK_MS : seconds * 1000;
  // A longer Retry-After of the platform wins.
  return seconds === undefined ? null : Math.max(seconds * 1000, Math.ceil((answer.afterSeconds ?? 0) * 1000));
}

/** Lease of an attempt in wall time, because the clock of a sandbox session may be frozen. */
export const PLACEMENT_LEASE_MS = MINUTE;
