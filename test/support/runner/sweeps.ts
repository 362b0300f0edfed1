// Names of worker/sweeps.ts, in its order. A test that is about one of these runs it alone, with `w.sweepAlone`.

/** Finds what was paid on chain, judges it, and gives up sessions that nobody paid. */
export const PAYMENT_SWEEPS = ['reference', 'candidates', 'expired', 'sentCandidates', 'namedCandidates'] as const;
/** Follows events whose message was lost, and sends due attempts. */
export const WEBHOOK_SWEEPS = ['fanOut', 'deliveries'] as const;
/** Collects periods, confirms checkouts, and reads the rest from the chain. */
export const SUBSCRIPTION_SWEEPS = ['collections', 'subscriptionCheckouts', 'subscriptions'] as const;
