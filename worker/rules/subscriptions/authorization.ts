/**
 * Transitions of a buyer's authorization for a native subscription: by a chain reading, by a collection and by time.
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

export interface AuthorizationFacts {
  status: AuthorizationStatus;
  /** End of the last paid period. Null before the first collection. */
  paidThrough: number | null;
  startedAt: number;
  periodMs: number;
}

/** Consent as read from the chain. `lost`: nothing can be collected until the buyer signs again. A low balance does not affect consent. */
export type ConsentSeen = 'given' | 'cancelled' | 'lost';

/** Full periods without a payment after which nothing is collected, even if consent returns. */
const UNPAID_PERIODS_MAX = 3;

const lapsesAt = ({ paidThrough, startedAt, periodMs }: Omit<AuthorizationFacts, 'status'>): number =>
  (paidThrough ?? startedAt) + UNPAID_PERIODS_MAX * periodMs;

/**
 * Step after a chain reading at `now`. Null means no change. A cancellation by the buyer wins over other problems: `cancel_requested` while
 * paid time is left, then `cancelled`. Withdrawn consent is restored once the chain shows it.
 */
export function stepAfterReading(facts: AuthorizationFacts, seen: ConsentSeen, now: number): AuthorizationStep | null {
  const { status, paidThrough } = facts;
  const wasCancelled = status === 'cancel_requested' || status === 'cancelled';
  if (status === 'pending' || status === 'expired') return null;
  if (seen === 'cancelled' || (wasCancelled && seen === 'lost')) {
    // A revocation after the cancellation, which returns the rent to the buyer, changes nothing.
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

export const stepAfterCollection = (status: AuthorizationStatus): 'collect' | null => (status === 'expired' ? null : 'collect');

export const stepAfterShortage = (status: AuthorizationStatus): 'fallDue' | null => (status === 'active' ? 'fallDue' : null);

export const isCollected = (status: AuthorizationStatus): boolean => status === 'active' || status === 'past_due';
