import { facilitatedFate } from '#features/facilitator/fate.ts';
import { unmatchedFate } from '#features/payments/unmatched/unmatched.ts';
import { paymentFate } from '#features/payments/watch/finality.ts';
import { activationFate } from '#features/plans/activation-fate.ts';
import type { FateFollower, Watched } from '#platform/db/fate.ts';

/** What follows when the chain has spoken of a transaction, by what the transaction paid: one row for each kind. */
export const FATES: Record<Watched['kind'], FateFollower> = {
  checkout: paymentFate,
  x402: paymentFate,
  activation: activationFate,
  facilitator: facilitatedFate,
  unmatched: unmatchedFate,
};
