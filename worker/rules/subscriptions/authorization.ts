/**
 * What becomes of a buyer's authorization for a native subscription: from what the chain shows of it, from a collection, and with time.
 * @module
 */

export type AuthorizationStatus = 'pending' | 'active' | 'past_due' | 'cancel_requested' | 'cancelled' | 'requires_reapproval' | 'expired';

export type AuthorizationStep =
  | 'authorize'
  | 'collect'
  | 'fallDue'
  | 'requestCancel'
  | 'cancel'
  | 'resume'
  | 'loseApproval'
  | 'approve'
  | 'expire';

/** What of an authorization decides its next step. Times in milliseconds. */
export interface AuthorizationFacts {
  status: AuthorizationStatus;
  /** The end of the last period that was paid; null before the first collection. */
  paidThrough: number | null;
  /** When the subscription began on chain. */
  startedAt: number;
  periodMs: number;
}

/**
 * What a look at the chain says of the buyer's consent. `lost`: nothing can be collected until the buyer signs again. A balance that is
 * too small is no matter of consent.
 */
export type ConsentSeen = 'given' | 'cancelled' | 'lost';

/** After so many whole periods without a payment nothing is collected any more, even if the buyer gives their consent again. */
const UNPAID_PERIODS_MAX = 3;

/** From when on an authorization that nothing was collected from is over. */
const lapsesAt = ({ paidThrough, startedAt, periodMs }: Omit<AuthorizationFacts, 'status'>): number =>
  (paidThrough ?? startedAt) + UNPAID_PERIODS_MAX * periodMs;

/**
 * The step that a look at the chain makes at `now`; null where nothing changes. What the buyer cancelled stays so, whatever else is
 * wrong: with paid time left it is `cancel_requested`, and `cancelled` after it. Consent that was taken back is believed again once
 * the chain shows it.
 */
export function stepAfterLook(facts: AuthorizationFacts, seen: ConsentSeen, now: number): AuthorizationStep | null {
  const { status, paidThrough } = facts;
  const wasCancelled = status === 'cancel_requested' || status === 'cancelled';
  if (status === 'pending' || status === 'expired') return null;
  if (seen === 'cancelled' || (wasCancelled && seen === 'lost')) {
    // One that is revoked after it was cancelled, as its buyer may to get the rent back, is as cancelled as before.
    const after = paidThrough !== null && paidThrough > now ? 'requestCancel' : 'cancel';
    if (status === 'cancelled' || (status === 'cancel_requested' && after === 'requestCancel')) return null;
    return after;
  }
  const hasLapsed = now >= lapsesAt(facts);
  if (wasCancelled) return hasLapsed ? null : 'resume';
  if (hasLapsed) return 'expire';
  if (seen === 'lost') return status === 'requires_reapproval' ? null : 'loseApproval';
  return status === 'requires_reapproval' ? 'approve' : null;
}

/** The step that a collection makes: also one that was on its way when the buyer cancelled, whose time is then paid. null: none. */
export const stepAfterCollection = (status: AuthorizationStatus): 'collect' | null => (status === 'expired' ? null : 'collect');

/** The step of an attempt that found too little money. */
export const stepAfterShortage = (status: AuthorizationStatus): 'fallDue' | null => (status === 'active' ? 'fallDue' : null);

/** Statuses in which a period is collected when it is due. */
export const isCollected = (status: AuthorizationStatus): boolean => status === 'active' || status === 'past_due';
