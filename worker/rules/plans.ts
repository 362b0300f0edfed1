import { assert } from '#core/errors.ts';
import { type ProductId, planProductIdOf } from '#core/ids.ts';
import { parseAmount } from '#core/money.ts';
import { addDays } from '#core/time.ts';

/** Plans: quotas and rates, the one place they are written. */
interface Plan {
  /** For 30 days, as a decimal. */
  priceUsdc: string;
  activeKeysMax: number;
  activeProductsMax: number;
  requestsPerMinute: number;
  /** consume, settle and metered calls: a bucket of their own. */
  meteredPerSecond: number;
  enabledEndpointsMax: number;
  /** x402 payments of one UTC day whose network fee we pay. Small prices are what x402 is for, so this bounds our loss, and no least price. */
  feesPerDay: number;
  /** Sandbox sessions begun on one UTC day. */
  sandboxSessionsPerDay: number;
  /** Receipts by email to buyers. */
  buyerReceiptsPerDay: number;
}

export const PLANS = {
  free: {
    priceUsdc: '0',
    activeKeysMax: 2,
    activeProductsMax: 3,
    requestsPerMinute: 60,
    meteredPerSecond: 5,
    enabledEndpointsMax: 2,
    feesPerDay: 100,
    sandboxSessionsPerDay: 50,
    buyerReceiptsPerDay: 100,
  },
  starter: {
    priceUsdc: '19',
    activeKeysMax: 5,
    activeProductsMax: 25,
    requestsPerMinute: 300,
    meteredPerSecond: 20,
    enabledEndpointsMax: 5,
    feesPerDay: 5_000,
    sandboxSessionsPerDay: 500,
    buyerReceiptsPerDay: 1_000,
  },
  growth: {
    priceUsdc: '49',
    activeKeysMax: 20,
    activeProductsMax: 250,
    requestsPerMinute: 1000,
    meteredPerSecond: 100,
    enabledEndpointsMax: 20,
    feesPerDay: 50_000,
    sandboxSessionsPerDay: 2_000,
    buyerReceiptsPerDay: 10_000,
  },
  scale: {
    priceUsdc: '199',
    activeKeysMax: 100,
    activeProductsMax: Number.POSITIVE_INFINITY,
    requestsPerMinute: 3000,
    meteredPerSecond: 500,
    enabledEndpointsMax: 50,
    feesPerDay: 500_000,
    sandboxSessionsPerDay: 10_000,
    buyerReceiptsPerDay: 100_000,
  },
} as const satisfies Record<string, Plan>;

export const PLAN_DAYS = 30;

export type PlanName = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as [PlanName, ...PlanName[]];

/** Plans that can be bought, cheapest first. */
export const PAID_PLANS = ['starter', 'growth', 'scale'] as const satisfies PlanName[];
export type PaidPlan = (typeof PAID_PLANS)[number];

/** Products that stand for our plans on receipts. */
export const PLAN_PRODUCTS: readonly ProductId[] = PAID_PLANS.map(planProductIdOf);
/** True for a receipt of what an account paid, false for one of what it received. */
export const isPlanProduct = (productId: string): boolean => PLAN_PRODUCTS.includes(productId as ProductId);
/** The rank of a plan: a higher plan has a higher one. */
export const planRank = (plan: PlanName): number => PLAN_NAMES.indexOf(plan);

/** A plan and when it ends; null: it does not. */
export interface HeldPlan {
  plan: PlanName;
  planThrough: number | null;
}

/** Where a subscription at the payment processor stands. */
export const SUBSCRIPTION_STATUSES = ['none', 'active', 'trialing', 'past_due', 'cancelled'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** What an account holds: time that was bought by x402, and apart from it what its subscriptions at the payment processor give. */
export interface AccountPlans extends HeldPlan {
  /** Absent from what an object remembers from before there were any. */
  processorPlans?: readonly HeldPlan[];
}

/** One plan at an instant: it is over at its end, whether or not the sweep has stored that yet. */
const timeAt = ({ plan, planThrough }: HeldPlan, now: number): PlanName =>
  // What an object remembers from before plans had an end has none.
  (planThrough ?? Number.POSITIVE_INFINITY) <= now ? 'free' : plan;

export const higherPlan = (one: PlanName, other: PlanName): PlanName => (planRank(one) > planRank(other) ? one : other);

/** The plan that counts at an instant: the highest of those that run. */
export const planAt = ({ processorPlans = [], ...bought }: AccountPlans, now: number): PlanName =>
  processorPlans.map((held) => timeAt(held, now)).reduce(higherPlan, timeAt(bought, now));

/**
 * The plan that an account loses at an instant; null where the one that counts is as high after it. `goesOn` is what a subscription that
 * renews itself gives beyond any end that is stored.
 */
export function planLostAt(held: AccountPlans, at: number, goesOn: PlanName): PlanName | null {
  const before = higherPlan(planAt(held, at - 1), goesOn);
  const after = higherPlan(planAt(held, at), goesOn);
  return planRank(before) > planRank(after) ? before : null;
}

/** Whether the plan that counts is one that was bought; where a subscription gives the same, bought time is named. */
export const isBought = ({ plan, planThrough }: HeldPlan, counting: PlanName, now: number): boolean =>
  counting !== 'free' && timeAt({ plan, planThrough }, now) === counting;

/** Atomic units of USDC for 30 days. */
export function planPrice(plan: PlanName): bigint {
  const price = parseAmount('USDC', PLANS[plan].priceUsdc);
  assert(price.ok, 'a price is an amount');
  return price.value.units;
}

/**
 * Time of a plan as it was paid for. `planPrice` is what 30 days of it cost then, in base units of USDC: a later price list does
 * not reprice what was sold.
 */
export interface PaidTime extends HeldPlan {
  planPrice: bigint;
}

/** One purchase of 30 days of a plan, at the instant it counted from (ms), in base units of USDC. */
export interface PlanPurchase {
  plan: PaidPlan;
  paidUnits: bigint;
  at: number;
}

export const NO_PLAN: PaidTime = { plan: 'free', planThrough: null, planPrice: 0n };
const PLAN_MS = BigInt(addDays(0, PLAN_DAYS));

/**
 * What is held after a purchase. Value is conserved and time follows from it: what is left keeps the value it was bought at, and is
 * converted where the plan changes. The same plan lasts 30 days longer; a higher one begins now and lasts 30 days plus what was left;
 * a lower one, which only a race lets through, prolongs the higher one by what was paid. A plan without an end stays as it is.
 * Divisions round down, so that never more is held than was paid.
 */
export function extendPlan(held: PaidTime, { plan: bought, paidUnits, at }: PlanPurchase): PaidTime {
  assert(paidUnits > 0n, 'a plan is paid for');
  const current = planAt(held, at);
  if (current !== 'free' && held.planThrough === null) return { plan: current, planThrough: null, planPrice: held.planPrice };
  const leftMs = current === 'free' ? 0n : BigInt((held.planThrough ?? at) - at);
  // Base units of USDC times milliseconds: exact.
  const value = leftMs * held.planPrice + paidUnits * PLAN_MS;
  if (bought === current) {
    const ms = leftMs + PLAN_MS;
    return { plan: bought, planThrough: at + Number(ms), planPrice: value / ms };
  }
  const [plan, planPrice] = planRank(bought) > planRank(current) ? [bought, paidUnits] : [current, held.planPrice];
  const ms = value / planPrice;
  return { plan, planThrough: at + Number(ms), planPrice };
}

/** Returns what purchases, in their order, add to what was held before. */
export const foldPurchases = (purchases: readonly PlanPurchase[], held: PaidTime = NO_PLAN): PaidTime => purchases.reduce(extendPlan, held);

/**
 * What a call counts against: the API at large by the minute, or by the second consume, settle and metered calls. Unpaid requests begin metered
 * sessions, so those have a bucket of their own: a flood of them leaves buyers who pay what they need.
 */
export type CallBucket = 'requests' | 'metered' | 'challenges';

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

/** A payer over all merchants: settlements that are open, and those of ten minutes that failed on chain. Each may cost us its fee. */
export const PAYER_LIMITS = { open: 5, failed: 10, failedMinutes: 10 };

/** Buckets of callers without a credential: `max` hits per window, per caller address and named subject. */
export interface PublicBucket {
  max: number;
  windowSeconds: number;
  /** A count of what goes out into the world: no multiplier of a local machine raises it. */
  isCount?: true;
}

export const PUBLIC_BUCKETS = {
  register: { max: 5, windowSeconds: 3600 },
  login: { max: 10, windowSeconds: 900 },
  nonce: { max: 30, windowSeconds: 60 },
  'wallet-login': { max: 30, windowSeconds: 60 },
  operator: { max: 10, windowSeconds: 60 },
  connect: { max: 10, windowSeconds: 60 },
  identity: { max: 10, windowSeconds: 60 },
  // One connector calls for every buyer of its platform.
  connector: { max: 300, windowSeconds: 60 },
  payload: { max: 120, windowSeconds: 60 },
  confirm: { max: 30, windowSeconds: 60 },
  status: { max: 60, windowSeconds: 60 },
  receipt: { max: 120, windowSeconds: 60 },
  pdf: { max: 20, windowSeconds: 60 },
  'agent-bootstrap': { max: 10, windowSeconds: 3600 },
  letters: { max: 10, windowSeconds: 3600, isCount: true },
  'email-proof': { max: 30, windowSeconds: 60 },
} as const satisfies Record<string, PublicBucket>;

export type PublicBucketName = keyof typeof PUBLIC_BUCKETS;

/** Ceilings over all buckets of one address, whatever it asks for. */
export const ADDRESS_CEILINGS = {
  all: { max: 600, windowSeconds: 60 },
  'sign-ins': { max: 30, windowSeconds: 900 },
  connects: { max: 60, windowSeconds: 60 },
  'refused-credentials': { max: 20, windowSeconds: 60 },
  // Each is looked for on the chain for a while, and kept until then.
  'unseen-signatures': { max: 200, windowSeconds: 3600 },
} as const satisfies Record<string, PublicBucket>;

/**
 * Passwords that may be tried for one account from addresses that did not sign in to it within so many days, however many they are. Addresses
 * that did are not counted, so that no stranger keeps an owner out; a link by email is the way in from elsewhere.
 */
export const PASSWORD_TRIES = { max: 100, windowSeconds: 3600, knownDays: 90 };

export type AddressCeiling = keyof typeof ADDRESS_CEILINGS;

/**
 * Buckets that are counted by the site (/48) of an IPv6 caller too, because the tenant of one has 65,536 networks of a /64; so many
 * times what one address may do.
 */
export const SITE_BUCKETS: readonly PublicBucketName[] = ['register', 'login', 'wallet-login', 'agent-bootstrap'];
export const SITE_TIMES = 8;

/** The ceilings a bucket counts against, beside the one over everything. */
export const CEILINGS_OF: Partial<Record<PublicBucketName, AddressCeiling>> = {
  login: 'sign-ins',
  'wallet-login': 'sign-ins',
  connect: 'connects',
};
