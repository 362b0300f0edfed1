import { assert } from '#core/errors.ts';
import { type ProductId, planProductIdOf } from '#core/ids.ts';
import { parseAmount } from '#core/money.ts';
import { addDays } from '#core/time.ts';

/** Quotas and rates of the plans, defined only here. */
interface Plan {
  /** Price of 30 days, as a decimal. */
  priceUsdc: string;
  activeKeysMax: number;
  activeProductsMax: number;
  /** Open checkout sessions of one product. Buyers that the merchant sends are counted, and admitted beyond it. */
  openSessionsMax: number;
  requestsPerMinute: number;
  meteredPerSecond: number;
  enabledEndpointsMax: number;
  /**
   * x402 payments per UTC day with the network fee paid by the service. Bounds the service's loss without a minimum price, because x402
   * serves small prices.
   */
  feesPerDay: number;
  sandboxSessionsPerDay: number;
  buyerReceiptsPerDay: number;
  /** Proofs of receipts per day to addresses that no buyer of the receipt gave. */
  proofsToStrangersPerDay: number;
  /** Members, with the owner and pending invitations. */
  seatsMax: number;
}

export const PLANS = {
  free: {
    priceUsdc: '0',
    activeKeysMax: 2,
    activeProductsMax: 3,
    openSessionsMax: 1_000,
    requestsPerMinute: 60,
    meteredPerSecond: 5,
    enabledEndpointsMax: 2,
    feesPerDay: 100,
    sandboxSessionsPerDay: 50,
    buyerReceiptsPerDay: 100,
    proofsToStrangersPerDay: 20,
    seatsMax: 2,
  },
  starter: {
    priceUsdc: '19',
    activeKeysMax: 5,
    activeProductsMax: 25,
    openSessionsMax: 2_000,
    requestsPerMinute: 300,
    meteredPerSecond: 20,
    enabledEndpointsMax: 5,
    feesPerDay: 5_000,
    sandboxSessionsPerDay: 500,
    buyerReceiptsPerDay: 1_000,
    proofsToStrangersPerDay: 200,
    seatsMax: 5,
  },
  growth: {
    priceUsdc: '49',
    activeKeysMax: 20,
    activeProductsMax: 250,
    openSessionsMax: 5_000,
    requestsPerMinute: 1000,
    meteredPerSecond: 100,
    enabledEndpointsMax: 20,
    feesPerDay: 50_000,
    sandboxSessionsPerDay: 2_000,
    buyerReceiptsPerDay: 10_000,
    proofsToStrangersPerDay: 200,
    seatsMax: 20,
  },
  scale: {
    priceUsdc: '199',
    activeKeysMax: 100,
    activeProductsMax: Number.POSITIVE_INFINITY,
    openSessionsMax: 10_000,
    requestsPerMinute: 3000,
    meteredPerSecond: 500,
    enabledEndpointsMax: 50,
    feesPerDay: 500_000,
    sandboxSessionsPerDay: 10_000,
    buyerReceiptsPerDay: 100_000,
    proofsToStrangersPerDay: 200,
    seatsMax: 100,
  },
} as const satisfies Record<string, Plan>;

/** Open sessions of one product beyond which a buyer without a wallet gives way to buyers with one. */
export const OPEN_SESSIONS_WITHOUT_WALLET = 1_000;

/** Limit on open sessions of a product, for buyers without a hand-off. */
export const openSessionsMax = (plan: PlanName, hasWallet: boolean): number =>
  hasWallet ? PLANS[plan].openSessionsMax : Math.min(PLANS[plan].openSessionsMax, OPEN_SESSIONS_WITHOUT_WALLET);

export const PLAN_DAYS = 30;

export type PlanName = keyof typeof PLANS;
export const PLAN_NAMES = Object.keys(PLANS) as [PlanName, ...PlanName[]];

export const PAID_PLANS = ['starter', 'growth', 'scale'] as const satisfies PlanName[];
export type PaidPlan = (typeof PAID_PLANS)[number];

export const PLAN_PRODUCTS: readonly ProductId[] = PAID_PLANS.map(planProductIdOf);
export const isPlanProduct = (productId: string): boolean => PLAN_PRODUCTS.includes(productId as ProductId);
export const planRank = (plan: PlanName): number => PLAN_NAMES.indexOf(plan);

/** Plan with its end. Null means no end. */
export interface HeldPlan {
  plan: PlanName;
  planThrough: number | null;
}

export const SUBSCRIPTION_STATUSES = ['none', 'active', 'trialing', 'past_due', 'cancelled'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** Plans of an account: time bought by x402, and separately the plans of processor subscriptions. */
export interface AccountPlans extends HeldPlan {
  processorPlans?: readonly HeldPlan[];
}

/** Plan at an instant. A plan ends on time, whether or not the sweep has stored the end. */
const timeAt = ({ plan, planThrough }: HeldPlan, now: number): PlanName =>
  // Records stored before plans had an end have none.
  (planThrough ?? Number.POSITIVE_INFINITY) <= now ? 'free' : plan;

export const higherPlan = (one: PlanName, other: PlanName): PlanName => (planRank(one) > planRank(other) ? one : other);

/** Effective plan at an instant: the highest of the running ones. */
export const planAt = ({ processorPlans = [], ...bought }: AccountPlans, now: number): PlanName =>
  processorPlans.map((held) => timeAt(held, now)).reduce(higherPlan, timeAt(bought, now));

/**
 * Plan that ends at an instant, or null if the effective plan is as high afterwards. `goesOn` is the plan of an auto-renewing subscription,
 * which outlasts its stored end.
 */
export function planLostAt(held: AccountPlans, at: number, goesOn: PlanName): PlanName | null {
  const before = higherPlan(planAt(held, at - 1), goesOn);
  const after = higherPlan(planAt(held, at), goesOn);
  return planRank(before) > planRank(after) ? before : null;
}

/** True if the effective plan was bought. If a subscription includes the same plan, the bought time is reported. */
export const isBought = ({ plan, planThrough }: HeldPlan, counting: PlanName, now: number): boolean =>
  counting !== 'free' && timeAt({ plan, planThrough }, now) === counting;

/** Atomic units of USDC for 30 days. */
export function planPrice(plan: PlanName): bigint {
  const price = parseAmount('USDC', PLANS[plan].priceUsdc);
  assert(price.ok, 'a price is an amount');
  return price.value.units;
}

/**
 * Paid plan time. `planPrice` is the price of 30 days at purchase, in base units of USDC: a later price list does not reprice sold time.
 */
export interface PaidTime extends HeldPlan {
  planPrice: bigint;
}

/** Purchase of 30 days of a plan, at the instant it counted from (ms), in base units of USDC. */
export interface PlanPurchase {
  plan: PaidPlan;
  paidUnits: bigint;
  at: number;
}

export const NO_PLAN: PaidTime = { plan: 'free', planThrough: null, planPrice: 0n };
const PLAN_MS = BigInt(addDays(0, PLAN_DAYS));

/**
 * Plan time after a purchase. Value is conserved: remaining time retains its purchase value and is converted if the plan changes. The same
 * plan adds 30 days. A higher one starts now with 30 days plus the remainder. A lower one (a race) extends the higher plan by the paid
 * value. An endless plan is unchanged. Divisions round down.
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
 * Rate bucket of a call: all API calls per minute, or consume, settle and metered calls per second. Unpaid requests create metered
 * sessions, so those have a separate bucket: a flood of them leaves paying buyers their rate.
 */
export type CallBucket = 'requests' | 'metered' | 'challenges';

/** Sandbox calls get a fifth of the plan's rate, at least 30 per minute. `multiplier` is 1 in production. */
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
 * Limits of a payer over all merchants: open settlements, and settlements that failed on chain within ten minutes. Each may cost the
 * service its fee.
 */
export const PAYER_LIMITS = { open: 5, failed: 10, failedMinutes: 10 };

/** Bucket of callers without a credential: `max` hits per window, caller address and named subject. */
export interface PublicBucket {
  max: number;
  windowSeconds: number;
  /** Counts outgoing messages: no multiplier of a local machine raises the limit. */
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
  // High limit, because one connector calls for every buyer of its platform.
  connector: { max: 300, windowSeconds: 60 },
  payload: { max: 120, windowSeconds: 60 },
  confirm: { max: 30, windowSeconds: 60 },
  status: { max: 60, windowSeconds: 60 },
  receipt: { max: 120, windowSeconds: 60 },
  pdf: { max: 20, windowSeconds: 60 },
  'agent-bootstrap': { max: 10, windowSeconds: 3600 },
  emails: { max: 10, windowSeconds: 3600, isCount: true },
  'email-proof': { max: 30, windowSeconds: 60 },
  buyer: { max: 120, windowSeconds: 60 },
  pages: { max: 120, windowSeconds: 60 },
  'docs-search': { max: 120, windowSeconds: 60 },
  forms: { max: 60, windowSeconds: 60 },
} as const satisfies Record<string, PublicBucket>;

export type PublicBucketName = keyof typeof PUBLIC_BUCKETS;

export const ADDRESS_CEILINGS = {
  all: { max: 600, windowSeconds: 60 },
  'sign-ins': { max: 30, windowSeconds: 900 },
  connects: { max: 60, windowSeconds: 60 },
  'refused-credentials': { max: 20, windowSeconds: 60 },
  'unseen-signatures': { max: 200, windowSeconds: 3600 },
} as const satisfies Record<string, PublicBucket>;

/** How often an account may have the URLs of its listings called again. */
export const LISTING_REFRESHES = { max: 10, windowSeconds: 3600 };

export type AddressCeiling = keyof typeof ADDRESS_CEILINGS;

/**
 * Buckets that also count by the /48 site of an IPv6 caller, at a multiple of the limit per address: a tenant of a /48 has 65,536 networks
 * of a /64.
 */
export const SITE_BUCKETS: readonly PublicBucketName[] = ['register', 'login', 'wallet-login', 'agent-bootstrap'];
export const SITE_TIMES = 8;

export const CEILINGS_OF: Partial<Record<PublicBucketName, AddressCeiling>> = {
  login: 'sign-ins',
  'wallet-login': 'sign-ins',
  connect: 'connects',
};
