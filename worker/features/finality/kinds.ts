import { facilitatedFate } from '#features/facilitator/fate.ts';
import { refundFate } from '#features/payments/refunds/seen.ts';
import { unmatchedFate } from '#features/payments/unmatched/unmatched.ts';
import { paymentFate } from '#features/payments/watch/finality.ts';
import { activationFate } from '#features/plans/activation-fate.ts';
import type { FateFollower, Watched } from '#platform/db/fate.ts';

/** What follows when a transaction is final, dropped or back, by what it paid: one row for each kind. */
export const FATES: Record<Watched['kind'], FateFollower> = {
  checkout: paymentFate,
  x402: paymentFate,
  metered: paymentFate,
  subscription: paymentFate,
  activation: activationFate,
  facilitator: facilitatedFate,
  refund: refundFate,
  unmatched: unmatchedFate,
};
