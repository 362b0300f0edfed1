import type { Address } from '@solana/kit';
import { ApiError } from '#core/errors.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import { type Prospect, payoutOf } from '#features/products/selling/obstacles.ts';
import { pullersOf } from '#platform/chain/fee-payer.ts';
import { type Ctx, hasSubscriptions, type Shard } from '#platform/context.ts';
import { type Change, unchanged } from '#platform/db/commit.ts';
import type { SubscriptionPlanRow } from '#platform/db/tables/subscriptions/plans.ts';
import { suits } from '#rules/product-rails.ts';
import { SUBSCRIPTION_RAIL } from '#rules/rails.ts';
import { buildPlanTransaction, type DraftPlan, draftPlan, findDifferences, isPeriod } from '#solana/programs/subscriptions/publishing.ts';
import type { SubscriptionPlan } from '#solana/programs/subscriptions/subscription.ts';
import { readPlanAccount } from '#solana/programs/subscriptions/subscription-state.ts';
import { listPlans, savePlan } from '../store.ts';

/** `outdated`: the published plan has other terms than the product. `sunset`: the plan accepts no new subscribers. */
export const PLAN_STATUSES = ['unpublished', 'published', 'outdated', 'sunset'] as const;
type PlanStatus = (typeof PLAN_STATUSES)[number];

export interface PlanView {
  status: PlanStatus;
  draft: DraftPlan;
  plan: SubscriptionPlan | null;
}

export interface PreparedPlan extends PlanView {
  transaction: string | null;
  expiresAt: number | null;
}

type Sold = Prospect & { product: NonNullable<Prospect['product']> };

interface Planned {
  draft: DraftPlan;
  known: SubscriptionPlanRow[];
}

/**
 * Returns the plan that fits the product, or null if its terms allow none or the service collects nothing. Uses the operator key of the
 * last plan while configured, so that a key rotation makes no plan outdated.
 */
async function derivePlan(ctx: Shard, sale: Sold): Promise<Planned | null> {
  const { product } = sale;
  const merchant = payoutOf(sale);
  if (merchant === null || !isPeriod(product.accessPeriodDays) || !suits(product, SUBSCRIPTION_RAIL) || !hasSubscriptions(ctx.config))
    return null;
  const known = await listPlans(ctx.db, product.id);
  const { addresses, current } = pullersOf(ctx.config);
  const puller = known.find((plan) => addresses.includes(plan.puller))?.puller ?? current;
  const draft = draftPlan({
    productId: product.id,
    mint: ctx.config.network.usdcMint as Address,
    amount: product.priceAmount,
    periodDays: product.accessPeriodDays,
    merchant: merchant as Address,
    puller: puller as Address,
    page: `${ctx.baseUrl}/p/${product.slug}`,
  });
  return { draft, known };
}

/** Returns the plan that fits the product. Throws 409 setup_not_ready if none is possible: no automatic renewal, or no wallet. */
async function requirePlanned(ctx: Shard, sale: Sold): Promise<Planned> {
  const planned = await derivePlan(ctx, sale);
  if (planned !== null) return planned;
  if (!hasSubscriptions(ctx.config)) throw newObstacleError('rail_unavailable', SUBSCRIPTION_RAIL, sale);
  throw newObstacleError(suits(sale.product, SUBSCRIPTION_RAIL) ? 'payout_wallet_set' : 'rail_enabled', SUBSCRIPTION_RAIL, sale);
}

export async function viewPlan(ctx: Shard, sale: Sold): Promise<PlanView> {
  const planned = await requirePlanned(ctx, sale);
  const read = await readPlan(ctx, planned.draft);
  if (read.kind === 'unavailable') throw newOutage(ctx, read.reason);
  return viewOf(planned, read.plan);
}

/** Reads whether a plan is available, as part of a larger check. `none`: the product can have no plan, which its obstacles explain. */
export async function readPlanStatus(ctx: Shard, sale: Prospect): Promise<PlanStatus | 'none' | 'unknown'> {
  const { product } = sale;
  const planned = product === null ? null : await derivePlan(ctx, { ...sale, product });
  if (planned === null) return 'none';
  const read = await readPlan(ctx, planned.draft);
  if (read.kind === 'plan') return viewOf(planned, read.plan).status;
  ctx.note(`rpc: ${read.reason}`);
  return 'unknown';
}

/** True if the fitting plan was published according to the database. Calls no node. */
export async function hasPublishedPlan(ctx: Shard, sale: Prospect): Promise<boolean> {
  const { product } = sale;
  const planned = product === null ? null : await derivePlan(ctx, { ...sale, product });
  return planned?.known.some(({ planAddress }) => planAddress === planned.draft.address) ?? false;
}

function viewOf({ draft, known }: Planned, plan: SubscriptionPlan | null): PlanView {
  const isNoted = known.some(({ planAddress }) => planAddress === draft.address);
  if (isNoted && plan !== null && mattering(plan, draft).length === 0)
    return { status: plan.status === 'sunset' ? 'sunset' : 'published', draft, plan };
  return { status: known.length > 0 ? 'outdated' : 'unpublished', draft, plan };
}

/** Shorter than a blockhash lives. */
const SIGNED_WITHIN_MS = MINUTE;

/**
 * Prepares the transaction that publishes the plan, or nothing to sign if the plan exists on the chain, which is then recorded. Throws the
 * errors of `viewPlan`, 409 state_conflict if a different or sunset plan occupies the address.
 */
export async function preparePlan(ctx: Shard, sale: Sold): Promise<Change<PreparedPlan>> {
  const view = await viewPlan(ctx, sale);
  const { draft, plan } = view;
  if (plan === null) return unchanged({ ...view, ...(await prepareTransaction(ctx, draft)) });
  const signed = { transaction: null, expiresAt: null };
  if (view.status === 'published') return unchanged({ ...view, ...signed });
  const differs = [...mattering(plan, draft), ...(plan.status === 'sunset' ? ['status'] : [])];
  if (differs.length > 0) {
    const detail = 'Another plan uses this address on the chain. Change the price or the period slightly, and publish that.';
    throw new ApiError('state_conflict', { detail, meta: { reason: 'plan_differs', fields: differs } });
  }
  return { events: [], writes: [savePlan(ctx.db, rowOf(ctx, sale, draft, plan))], result: { ...view, status: 'published', ...signed } };
}

async function prepareTransaction(ctx: Ctx, draft: DraftPlan): Promise<Pick<PreparedPlan, 'transaction' | 'expiresAt'>> {
  const prepared = await ctx.chain.prepare([]);
  if (prepared.kind === 'unavailable') throw newOutage(ctx, prepared.reason);
  return { transaction: buildPlanTransaction(draft, prepared.lifetime), expiresAt: ctx.now + SIGNED_WITHIN_MS };
}

/**
 * Records a plan as published once the on-chain account matches the draft, whichever transaction created it. Throws 422 payment_mismatch
 * with the differing fields, or `not_published`, and the errors of `viewPlan`.
 */
export async function confirmPlan(ctx: Shard, sale: Sold): Promise<Change<PlanView>> {
  const { draft } = await requirePlanned(ctx, sale);
  const read = await readPlan(ctx, draft);
  if (read.kind === 'unavailable') throw newOutage(ctx, read.reason);
  const { plan } = read;
  if (plan === null) throw newMismatch('not_published', { retryable: true });
  const [field, ...more] = [...findDifferences(plan, draft.plan), ...(plan.status === 'sunset' ? ['status' as const] : [])];
  if (field !== undefined) throw newMismatch(field, { more });
  return { events: [], writes: [savePlan(ctx.db, rowOf(ctx, sale, draft, plan))], result: { status: 'published', draft, plan } };
}

const newMismatch = (reason: string, { more = [], retryable = false }: { more?: string[]; retryable?: boolean }): ApiError =>
  new ApiError('payment_mismatch', {
    retryable,
    ...(retryable ? { retryAfterSeconds: 2 } : {}),
    meta: { reason, ...(more.length > 0 ? { fields: [reason, ...more] } : {}) },
  });

/** Excludes the plan's page texts: they move no money, and the owner may change them. */
const mattering = (plan: SubscriptionPlan, { plan: wanted }: DraftPlan) =>
  findDifferences(plan, wanted).filter((field) => field !== 'metadata');

type PlanRead = { kind: 'plan'; plan: SubscriptionPlan | null } | { kind: 'unavailable'; reason: string };

async function readPlan(ctx: Ctx, { address }: DraftPlan): Promise<PlanRead> {
  const read = await ctx.chain.readAccounts([address]);
  return read.kind === 'unavailable' ? read : { kind: 'plan', plan: readPlanAccount(read.accounts[0]) };
}

function newOutage(ctx: Ctx, reason: string): ApiError {
  ctx.note(`rpc: ${reason}`);
  return new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
}

const rowOf = (ctx: Ctx, { product }: Sold, { address, plan }: DraftPlan, { createdAt }: SubscriptionPlan): SubscriptionPlanRow => ({
  planAddress: address,
  merchantId: product.merchantId,
  livemode: product.livemode,
  productId: product.id,
  planId: plan.planId.toString(),
  ownerWallet: plan.owner,
  puller: plan.pullers[0]!,
  mint: plan.mint,
  amount: plan.amount,
  periodHours: Number(plan.periodHours),
  publishedAt: Number(createdAt) * SECOND,
  createdAt: ctx.now,
});
