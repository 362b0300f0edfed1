import { activationFate } from '../access/activation-fate.ts';
import { facilitatedFate } from '../access/facilitated-fate.ts';
import type { FateFollower, Watched } from '../db/fate.ts';
import { paymentFate } from '../payments/finality.ts';
import { unmatchedFate } from '../payments/unmatched.ts';

/** What follows when the chain has spoken of a transaction, by what the transaction paid: one row for each kind. */
export const FATES: Record<Watched['kind'], FateFollower> = {
  checkout: paymentFate,
  x402: paymentFate,
  activation: activationFate,
  facilitator: facilitatedFate,
  unmatched: unmatchedFate,
};
