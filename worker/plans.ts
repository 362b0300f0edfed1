import { assert } from './core/errors.ts';
import { parseAmount } from './core/money.ts';
import { addDays, SECOND } from './core/time.ts';

/** Plans: quotas and rates, the one place they are written. (contract section 2) */
export interface Plan {
  /** For 30 days, as a decimal. */
  priceUsdc: string;
  activeKeysMax: number;
  activeProductsMax: number;
  requestsPerMinute: number;
  /** consume, settle and metered calls: a bucket of their own. */
  meteredPerSecond: number;
  enabledEndpointsMax: number;
}

export const PLANS = {
  free: { priceUsdc: '0', activeKeysMax: 2, activeProductsMax: 3, requestsPerMinute: 60, meteredPerSecond: 5, enabledEndpointsMax: 2 },
  starter: {
    priceUsdc: '19',
    activeKeysMax: 5,
    activeProductsMax: 25,
    requestsPerMinute: 300,
    meteredPerSecond: 20,
    enabledEndpointsMax: 5,
  },
  growth: {
    priceUsdc: '49',
    activeKeysMax: 20,
    activeProductsMax: 250,
    requestsPerMinute: 1000,
    meteredPerSecond: 100,
    enabledEndpointsMax: 20,
  },
  scale: {
    priceUsdc: '199',
    activeKeysMax: 100,
    activeProductsMax: Number.POSITIVE_INFINITY,
    requestsPerMinute: 3000,
    meteredPerSecond: 500,
    enabledEndpointsMax: 50,
  },
} as const satisfies Record<string, Plan>;

export const PLAN_DAYS = 30;

export type PlanName = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as [PlanName, ...PlanName[]];

/** Plans that can be bought, cheapest first. */
export const PAID_PLANS = ['starter', 'growth', 'scale'] as const satisfies PlanName[];
export type PaidPlan = (typeof PAID_PLANS)[number];
/** Which of two plans is more. */
export const planRank = (plan: PlanName): number => PLAN_NAMES.indexOf(plan);

/** A plan and when it ends; null: it does not. */
export interface HeldPlan {
  plan: PlanName;
  planThrough: number | null;
}

/** The plan that counts at an instant: one that was paid for is over at its end, whether or not anybody has written so yet. */
export const planAt = ({ plan, planThrough }: HeldPlan, now: number): PlanName =>
  // What an object remembers from before plans had an end has none.
  (planThrough ?? Number.POSITIVE_INFINITY) <= now ? 'free' : plan;

/** Atomic units of USDC for 30 days. */
export function planPrice(plan: PlanName): bigint {
  const price = parseAmount('USDC', PLANS[plan].priceUsdc);
  assert(price.ok, 'a price is an amount');
  return price.value.units;
}

/**
 * What is held after a payment: 30 more days, at the end of what is paid for already. Where a higher plan runs by then, the
 * money is not lost and the plan is not lowered: it lasts as much longer as was paid for at its own price, in whole seconds.
 */
export function extendPlan(held: HeldPlan, bought: PaidPlan, paidUnits: bigint, now: number): HeldPlan {
  const current = planAt(held, now);
  if (planRank(bought) > planRank(current) || (bought === current && held.planThrough !== null))
    return { plan: bought, planThrough: addDays(Math.max(now, held.planThrough ?? now), PLAN_DAYS) };
  if (held.planThrough === null) return { plan: current, planThrough: null };
  const seconds = (BigInt(addDays(0, PLAN_DAYS) / SECOND) * paidUnits) / planPrice(current);
  return { plan: current, planThrough: held.planThrough + Number(seconds) * SECOND };
}

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
  identity: { max: 10, windowSeconds: 60 },
  // One connector speaks for every buyer of its platform.
  connector: { max: 300, windowSeconds: 60 },
  payload: { max: 120, windowSeconds: 60 },
  confirm: { max: 30, windowSeconds: 60 },
  status: { max: 60, windowSeconds: 60 },
  receipt: { max: 120, windowSeconds: 60 },
  'agent-bootstrap': { max: 10, windowSeconds: 3600 },
} as const satisfies Record<string, PublicBucket>;

export type PublicBucketName = keyof typeof PUBLIC_BUCKETS;
