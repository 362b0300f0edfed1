/** Plans: quotas and rates, the one place they are written. (contract section 2) */
export interface Plan {
  activeKeysMax: number;
  activeProductsMax: number;
  requestsPerMinute: number;
  /** consume, settle and metered calls: a bucket of their own. */
  meteredPerSecond: number;
  enabledEndpointsMax: number;
}

export const PLANS = {
  free: { activeKeysMax: 2, activeProductsMax: 3, requestsPerMinute: 60, meteredPerSecond: 5, enabledEndpointsMax: 2 },
  starter: { activeKeysMax: 5, activeProductsMax: 25, requestsPerMinute: 300, meteredPerSecond: 20, enabledEndpointsMax: 5 },
  growth: { activeKeysMax: 20, activeProductsMax: 250, requestsPerMinute: 1000, meteredPerSecond: 100, enabledEndpointsMax: 20 },
  scale: {
    activeKeysMax: 100,
    activeProductsMax: Number.POSITIVE_INFINITY,
    requestsPerMinute: 3000,
    meteredPerSecond: 500,
    enabledEndpointsMax: 50,
  },
} as const satisfies Record<string, Plan>;

export type PlanName = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as [PlanName, ...PlanName[]];

/** What a call counts against: the API at large by the minute, or consume, settle and metered calls by the second. */
export type CallBucket = 'requests' | 'metered';

/** Sandbox calls get a fifth of the plan's rate, at least 30 a minute. `multiplier` is 1 in production. */
export function rateOf(
  plan: PlanName,
  bucket: CallBucket,
  livemode: boolean,
  multiplier: number,
): { limit: number; windowSeconds: number } {
  const { requestsPerMinute, meteredPerSecond } = PLANS[plan];
  const [live, least, windowSeconds] = bucket === 'requests' ? [requestsPerMinute, 30, 60] : [meteredPerSecond, 1, 1];
  return { limit: Math.floor((livemode ? live : Math.max(least, live / 5)) * multiplier), windowSeconds };
}

/**
 * Lamports of network fees we pay for an account's x402 payments on one day of UTC: some 450 payments on the free plan. This, and
 * no least price, is what keeps the fee payer from being drained: small prices are what x402 is for.
 */
const FEE_LAMPORTS_PER_DAY: Record<PlanName, number> = { free: 5_000_000, starter: 50_000_000, growth: 250_000_000, scale: 1_000_000_000 };

export const feeBudgetOf = (plan: PlanName, multiplier: number): number => Math.floor(FEE_LAMPORTS_PER_DAY[plan] * multiplier);

/** Buckets of callers without a credential: `max` hits per window, per caller address and named subject. */
export interface PublicBucket {
  max: number;
  windowSeconds: number;
}

export const PUBLIC_BUCKETS = {
  register: { max: 5, windowSeconds: 3600 },
  login: { max: 10, windowSeconds: 900 },
  nonce: { max: 30, windowSeconds: 60 },
  operator: { max: 10, windowSeconds: 60 },
  connect: { max: 10, windowSeconds: 60 },
  payload: { max: 120, windowSeconds: 60 },
  confirm: { max: 30, windowSeconds: 60 },
  status: { max: 60, windowSeconds: 60 },
  receipt: { max: 120, windowSeconds: 60 },
} as const satisfies Record<string, PublicBucket>;

export type PublicBucketName = keyof typeof PUBLIC_BUCKETS;
