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
import { readPlanAccount } from '#solana/programs/subscriptions/standing.ts';
import type { SubscriptionPlan } from '#solana/programs/subscriptions/subscription.ts';
import { listPlans, savePlan } from '../store.ts';

/** `outdated`: another plan of the product was published, and the terms are others by now. `sunset`: it takes no subscribers any more. */
export const PLAN_STATUSES = ['unpublished', 'published', 'outdated', 'sunset'] as const;
type PlanStatus = (typeof PLAN_STATUSES)[number];

export interface PlanView {
  status: PlanStatus;
  draft: DraftPlan;
  /** As it stands on the chain; null where nothing does. */
  plan: SubscriptionPlan | null;
}

/** What a merchant's wallet has to sign; null where nothing is left to publish. */
export interface PreparedPlan extends PlanView {
  transaction: string | null;
  /** From then on it can land no more. */
  expiresAt: number | null;
}

/** What of a sale its plan is made of. */
type Sold = Prospect & { product: NonNullable<Prospect['product']> };

/** A product's plan as it is to be, and what was published before it. */
interface Planned {
  draft: DraftPlan;
  known: SubscriptionPlanRow[];
}

/**
 * The plan that a product is to be sold by as it is now; null where its terms allow none, or nothing is collected here. It names the key
 * of ours that the product's last plan named, while we have that, so that a new key makes no plan outdated.
 */
async function planOf(ctx: Shard, sale: Sold): Promise<Planned | null> {
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

/** As `planOf`. 409 setup_not_ready where the product can have none: that it does not renew itself, above all, or knows no wallet. */
async function requirePlanned(ctx: Shard, sale: Sold): Promise<Planned> {
  const planned = await planOf(ctx, sale);
  if (planned !== null) return planned;
  if (!hasSubscriptions(ctx.config)) throw newObstacleError('rail_unavailable', SUBSCRIPTION_RAIL, sale);
  throw newObstacleError(suits(sale.product, SUBSCRIPTION_RAIL) ? 'payout_wallet_set' : 'rail_enabled', SUBSCRIPTION_RAIL, sale);
}

/** What a product's plan is by now, as the chain shows it. As `requirePlanned`, and 503 rpc_unavailable. */
export async function viewPlan(ctx: Shard, sale: Sold): Promise<PlanView> {
  const planned = await requirePlanned(ctx, sale);
  const read = await readPlan(ctx, planned.draft);
  if (read.kind === 'unavailable') throw newOutage(ctx, read.reason);
  return viewOf(planned, read.plan);
}

/**
 * Whether a product's plan is there to subscribe to, for one look among others. `none`: the product can have none, which is said by what
 * stands in its way.
 */
export async function lookAtPlan(ctx: Shard, sale: Prospect): Promise<PlanStatus | 'none' | 'unknown'> {
  const { product } = sale;
  const planned = product === null ? null : await planOf(ctx, { ...sale, product });
  if (planned === null) return 'none';
  const read = await readPlan(ctx, planned.draft);
  if (read.kind === 'plan') return viewOf(planned, read.plan).status;
  ctx.note(`rpc: ${read.reason}`);
  return 'unknown';
}

/** True where the plan that the product is sold by as it is now was published, by our own record: no node is asked. */
export async function hasPublishedPlan(ctx: Shard, sale: Prospect): Promise<boolean> {
  const { product } = sale;
  const planned = product === null ? null : await planOf(ctx, { ...sale, product });
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
 * What publishes a product's plan: the transaction for its merchant's wallet, or nothing to sign where the plan stands already, which is
 * then noted. Changes nothing else. As `viewPlan`, and 409 state_conflict where a plan that differs, or is in sunset, has its place.
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
 * Notes a plan as published once the chain shows it as it was drafted, field by field; what counts is the account, whichever transaction
 * made it. 422 payment_mismatch with the fields that differ, `not_published` where there is none yet. As `viewPlan`.
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

/** The words of its page move no money, and its owner may change them. */
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
