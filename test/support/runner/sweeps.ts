// Names of worker/sweeps.ts in order, for tests that run these alone with `w.sweepAlone`.

/** Sweeps that find payments on chain, judge them, and expire unpaid sessions. */
export const PAYMENT_SWEEPS = [
  'reference',
  'reference2',
  'reference3',
  'candidates',
  'expired',
  'sentCandidates',
  'namedCandidates',
] as const;
/** Sweeps that handle events with lost messages and send due attempts. */
export const WEBHOOK_SWEEPS = ['fanOut', 'deliveries'] as const;
/** Sweeps that collect periods, confirm checkouts and read subscriptions from the chain. */
export const SUBSCRIPTION_SWEEPS = ['collections', 'subscriptionCheckouts', 'subscriptions'] as const;
