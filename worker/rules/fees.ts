/**
 * The pure rules of what we pay the network for x402 payments in a day: of one account, and of all free ones together.
 * @module
 */

import { DAY } from '#core/time.ts';
import type { PlanName } from './plans.ts';

/** Payments whose network fee we are about to pay; less than nothing gives back. */
export interface FeeSpend {
  fees: number;
  /** The most in a day; null: what the plan of the object's account allows. */
  max: number | null;
  /** The payer has paid this merchant before, or is the account itself: payments of others that failed do not keep it out. */
  isKnownPayer: boolean;
  rateMultiplier: number;
  /** Business time, by which plans end. */
  now: number;
  /** Wall time, by which days count; absent where both clocks are one. */
  wallNow?: number;
}
/** Days are of UTC, counted from 1970. */
export interface FeesSpent {
  day: number;
  fees: number;
  /** Of them, for payments that failed on chain. */
  failed: number;
}
export interface FeeAnswer {
  allowed: boolean;
  /** Refused only because the share of failures is used up: a known payer is still served. */
  isForKnownPayers: boolean;
  plan: PlanName;
  limit: number;
  left: number;
  resetAt: number;
}

/** Days never go back: a clock that is behind does not open one again. */
const dayOf = (spent: FeesSpent | undefined, now: number): FeesSpent => {
  const day = Math.max(spent?.day ?? 0, Math.floor(now / DAY));
  return spent?.day === day ? spent : { day, fees: 0, failed: 0 };
};

/** Of a day's budget: what payments of strangers that fail on chain may use up. The rest is for payers the merchant knows. */
const FAILED_SHARE = 1 / 2;

/** Fees, if the day's budget has room for them; a full one is returned as it was. */
export function spendWithin(
  spent: FeesSpent | undefined,
  { fees, isKnownPayer, now }: Pick<FeeSpend, 'fees' | 'isKnownPayer' | 'now'>,
  limit: number,
): { spent: FeesSpent } & Omit<FeeAnswer, 'plan' | 'limit'> {
  const today = dayOf(spent, now);
  const total = Math.max(0, today.fees + fees);
  const hasRoom = fees <= 0 || total <= limit;
  const isForKnownPayers = hasRoom && fees > 0 && !isKnownPayer && today.failed >= limit * FAILED_SHARE;
  const allowed = hasRoom && !isForKnownPayers;
  const after = allowed ? { ...today, fees: total } : today;
  return { allowed, isForKnownPayers, spent: after, left: Math.max(0, limit - after.fees), resetAt: (after.day + 1) * DAY };
}

/** A payment whose fee was paid came to nothing on the chain. */
export function withFailedFee(spent: FeesSpent | undefined, now: number): FeesSpent {
  const today = dayOf(spent, now);
  return { ...today, failed: today.failed + 1 };
}
