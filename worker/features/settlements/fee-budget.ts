import { ApiError, formatErrorChain, objectAway } from '#core/errors.ts';
import { admissionIdOf } from '#core/ids.ts';
import { Memory } from '#core/isolate/memory.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { admissionObject } from '#platform/objects.ts';
import type { FeeAnswer, FeeSpend } from '#rules/admission.ts';
import { hasPaidBefore } from './store.ts';

const accountObject = (merchantId: string) => `account:${admissionIdOf(merchantId)}`;
/** Pool shared by all free accounts, so that opening many accounts does not multiply the budget. */
const FREE_POOL = 'fees:free-accounts';

/** Pool of plan purchases, so that merchants' sales cannot exhaust it. */
const PLAN_POOL = 'fees:plans';

/** Cache of exhausted pools by name and size. A listed pool is not asked again before `until`. */
const poolRefusals = new Memory<string, { until: number; answer: FeeAnswer }>(100);

/**
 * Reserves the network fees of a payment from its merchant's daily budget and from the pool of free accounts before the broadcast, which
 * limits what strangers can make the service pay. Plan purchases have their own pool. Returns a function that releases the fees.
 * Throws 429 rate_limited (`fee_budget`).
 */
export async function spendFee(ctx: Shard, settlement: Settlement, fees = 1): Promise<() => Promise<void>> {
  if (!settlement.livemode) return async () => {};
  if (settlement.purpose === 'activation') {
    const pooled = await spendPool(ctx, PLAN_POOL, fees);
    if (!pooled.allowed) throw newBudgetError(ctx, pooled, 'plans');
    return () => giveBack(ctx, [PLAN_POOL], fees);
  }
  return spendFees(ctx, settlement, fees);
}

/** Reserves `fees` network fees from the merchant's daily budget. Returns a function that releases them. */
export async function spendFees(
  ctx: Shard,
  payer: Pick<Settlement, 'merchantId' | 'livemode' | 'payerWallet'>,
  fees: number,
): Promise<() => Promise<void>> {
  const own = accountObject(payer.merchantId);
  let answer = await spendAtObject(ctx, own, { fees, isKnownPayer: false });
  if (answer.isForKnownPayers && (await hasPaidBefore(ctx.db, payer))) answer = await spendAtObject(ctx, own, { fees, isKnownPayer: true });
  if (!answer.allowed) throw newBudgetError(ctx, answer);
  if (answer.plan !== 'free') return () => giveBack(ctx, [own], fees);
  const shared = await spendPool(ctx, FREE_POOL, fees);
  if (shared.allowed) return () => giveBack(ctx, [own, FREE_POOL], fees);
  await giveBack(ctx, [own], fees);
  throw newBudgetError(ctx, shared, 'free');
}

/** Counts a fee even if the budget is exhausted: a buyer's due period is collected anyway. */
export async function countFee(ctx: Ctx, { merchantId, livemode }: Pick<Settlement, 'merchantId' | 'livemode'>): Promise<void> {
  if (!livemode) return;
  const count = (name: string) => spendAtObject(ctx, name, { fees: 1, isKnownPayer: true });
  try {
    const { plan } = await count(accountObject(merchantId));
    if (plan === 'free') await count(FREE_POOL);
  } catch (error) {
    ctx.note(`fee not counted: ${formatErrorChain(error)}`);
  }
}

async function spendPool(ctx: Ctx, name: string, fees: number): Promise<FeeAnswer> {
  const poolKey = `${name} ${ctx.config.FREE_FEES_PER_DAY}`;
  const known = poolRefusals.get(poolKey);
  if (known && ctx.wallNow < known.until) return known.answer;
  const answer = await spendAtObject(ctx, name, { fees, isKnownPayer: true });
  // Short cache: released fees may be spent again.
  if (answer.allowed) poolRefusals.delete(poolKey);
  else poolRefusals.set(poolKey, { until: Math.min(ctx.wallNow + MINUTE, answer.resetAt), answer });
  return answer;
}

async function spendAtObject(ctx: Ctx, name: string, { fees, isKnownPayer }: Pick<FeeSpend, 'fees' | 'isKnownPayer'>): Promise<FeeAnswer> {
  const { RATE_MULTIPLIER: rateMultiplier, FREE_FEES_PER_DAY } = ctx.config;
  const max = name === FREE_POOL || name === PLAN_POOL ? FREE_FEES_PER_DAY : null;
  try {
    return await admissionObject(ctx, name).spendFees({ fees, max, isKnownPayer, rateMultiplier, now: ctx.now, wallNow: ctx.wallNow });
  } catch (error) {
    ctx.note(`object: ${formatErrorChain(error)}`);
    throw objectAway(error);
  }
}

/** Best effort: a failed release only reduces today's remaining budget. */
const giveBack = async (ctx: Ctx, names: string[], fees: number): Promise<void> => {
  await Promise.allSettled(names.map((name) => spendAtObject(ctx, name, { fees: -fees, isKnownPayer: true })));
};

/**
 * Purposes excluded from the failure share, because no stranger can make them fail at a merchant's cost: paid from their own pool, or sent
 * by the service itself.
 */
const UNBLAMED: ReadonlySet<Settlement['purpose']> = new Set(['activation', 'metered', 'subscription']);

/** Counts a paid fee without a successful payment against the failure share of the merchant that it was charged to. */
export async function noteFailedFee(ctx: Ctx, { merchantId, livemode, purpose }: Settlement): Promise<void> {
  if (UNBLAMED.has(purpose) || !livemode) return;
  const noted = admissionObject(ctx, accountObject(merchantId)).noteFailedFee(ctx.wallNow);
  await noted.catch((error: unknown) => ctx.note(`failed fee not recorded: ${formatErrorChain(error)}`));
}

const POOL_TEXT = {
  free: 'Today’s network fee budget of all free accounts is used up (UTC). Retry tomorrow, or upgrade to a paid plan.',
  plans: 'Today’s network fee budget of plan purchases is used up (UTC). Retry tomorrow.',
};

function newBudgetError(
  ctx: Ctx,
  { isForKnownPayers, plan, limit, left, resetAt }: FeeAnswer,
  pool: 'free' | 'plans' | null = null,
): ApiError {
  const detail = pool
    ? POOL_TEXT[pool]
    : isForKnownPayers
      ? 'Too many of today’s payments failed on the chain. Until tomorrow (UTC), only wallets that have paid this merchant before can pay.'
      : 'Today’s network fee budget of this account is used up (UTC). Retry tomorrow, or upgrade.';
  const meta = { reason: 'fee_budget', limit, left, plan, ...(pool ? { shared: true } : {}) };
  return new ApiError('rate_limited', { detail, retryAfterSeconds: (resetAt - ctx.wallNow) / SECOND, meta });
}
