import { ApiError, objectAway, storyOf } from '#core/errors.ts';
import { admissionIdOf } from '#core/ids.ts';
import { Memory } from '#core/isolate/memory.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { admissionObject } from '#platform/objects.ts';
import type { FeeAnswer, FeeSpend } from '#rules/admission.ts';
import { PAYER_LIMITS, PLAN_NAMES, PLANS } from '#rules/plans.ts';
import { hasPaidBefore } from './store.ts';

/** What the budget is, in the words of the document. */
export const FEE_BUDGET_TEXT =
  `The service pays the network fee of ${PLAN_NAMES.map((plan) => `${PLANS[plan].feesPerDay} payments a day (${plan})`).join(', ')}, and free ` +
  'accounts share a budget of the deployment. Once half of it was spent on failed payments, the rest of the day is reserved for wallets ' +
  `that have paid you before. Purchases of plans do not count. A payer may have ${PAYER_LIMITS.open} open payments, and ${PAYER_LIMITS.failed} failed ones within ` +
  `${PAYER_LIMITS.failedMinutes} minutes, over all merchants. Beyond that, calls return 429 \`rate_limited\` with the \`reason\` in \`meta\` ` +
  '(`fee_budget` or `payer_busy`), the limit and the remaining number.';

const accountObject = (merchantId: string) => `account:${admissionIdOf(merchantId)}`;
/** All free accounts together: opening many of them does not give many budgets. */
const FREE_POOL = 'fees:free-accounts';

/** Plans that are bought, by whichever account: no merchant's sales use up the budget with which plans are bought. */
const PLAN_POOL = 'fees:plans';

/** Until when a pool is known to be used up, by its name and size: then it is not asked. */
const poolRefusals = new Memory<string, { until: number; answer: FeeAnswer }>(100);

/**
 * Takes the fees of a payment out of its merchant's budget of the day, and out of that of all free accounts together, before it is
 * broadcast: what strangers can make us pay has an end, and where it ends others go on. A plan is bought from a pool of its own, or an
 * account whose budget is used up could not buy a larger one. Answers how to give it back where nothing is sent. `fees`: a payment costs
 * one. 429 rate_limited (`fee_budget`).
 */
export async function spendFee(ctx: Shard, settlement: Settlement, fees = 1): Promise<() => Promise<void>> {
  // A simulated chain takes no fee.
  if (!settlement.livemode) return async () => {};
  if (settlement.purpose === 'activation') {
    const pooled = await spendPool(ctx, PLAN_POOL, fees);
    if (!pooled.allowed) throw newBudgetError(ctx, pooled, 'plans');
    return () => giveBack(ctx, [PLAN_POOL], fees);
  }
  return spendFees(ctx, settlement, fees);
}

/** The same for whatever else we pay the network for on a merchant's behalf. */
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

/** Counts a fee of the day that is paid whatever is left of the budget: what a buyer owes for a period is collected all the same. */
export async function countFee(ctx: Ctx, { merchantId, livemode }: Pick<Settlement, 'merchantId' | 'livemode'>): Promise<void> {
  if (!livemode) return;
  const count = (name: string) => spendAtObject(ctx, name, { fees: 1, isKnownPayer: true });
  try {
    const { plan } = await count(accountObject(merchantId));
    if (plan === 'free') await count(FREE_POOL);
  } catch (error) {
    ctx.note(`fee not counted: ${storyOf(error)}`);
  }
}

async function spendPool(ctx: Ctx, name: string, fees: number): Promise<FeeAnswer> {
  const place = `${name} ${ctx.config.FREE_FEES_PER_DAY}`;
  const known = poolRefusals.get(place);
  if (known && ctx.wallNow < known.until) return known.answer;
  const answer = await spendAtObject(ctx, name, { fees, isKnownPayer: true });
  // For a minute only: what is given back may be spent again.
  if (answer.allowed) poolRefusals.delete(place);
  else poolRefusals.set(place, { until: Math.min(ctx.wallNow + MINUTE, answer.resetAt), answer });
  return answer;
}

async function spendAtObject(ctx: Ctx, name: string, { fees, isKnownPayer }: Pick<FeeSpend, 'fees' | 'isKnownPayer'>): Promise<FeeAnswer> {
  const { RATE_MULTIPLIER: rateMultiplier, FREE_FEES_PER_DAY } = ctx.config;
  const max = name === FREE_POOL || name === PLAN_POOL ? FREE_FEES_PER_DAY : null;
  try {
    return await admissionObject(ctx, name).spendFees({ fees, max, isKnownPayer, rateMultiplier, now: ctx.now, wallNow: ctx.wallNow });
  } catch (error) {
    ctx.note(`object: ${storyOf(error)}`);
    throw objectAway(error);
  }
}

/** A fee that was not given back is missed by nothing but today's budget. */
const giveBack = async (ctx: Ctx, names: string[], fees: number): Promise<void> => {
  await Promise.allSettled(names.map((name) => spendAtObject(ctx, name, { fees: -fees, isKnownPayer: true })));
};

/** What no stranger can make fail at a merchant's cost: bought from a pool of its own, or sent by the service itself. */
const UNBLAMED: ReadonlySet<Settlement['purpose']> = new Set(['activation', 'metered', 'subscription']);

/** Its fee is paid and nothing came of it: counted against the share of failures of its merchant, whose budget paid for it. */
export async function noteFailedFee(ctx: Ctx, { merchantId, livemode, purpose }: Settlement): Promise<void> {
  if (UNBLAMED.has(purpose) || !livemode) return;
  const noted = admissionObject(ctx, accountObject(merchantId)).noteFailedFee(ctx.wallNow);
  await noted.catch((error: unknown) => ctx.note(`failed fee not recorded: ${storyOf(error)}`));
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
