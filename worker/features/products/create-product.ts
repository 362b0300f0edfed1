import type { z } from '@hono/zod-openapi';
import { ApiError, planFull, raise } from '#core/errors.ts';
import { type AccountId, type AppId, generatedSlug, newId, type ProductId, partitionOfSlug, type SandboxSessionId } from '#core/ids.ts';
import { GRACE_HOURS } from '#core/limits.ts';
import { planPayout } from '#features/accounts/payout.ts';
import { requireSpendable } from '#platform/chain/payees.ts';
import { type Actor, type Ctx, hasPriceSource, type Scope } from '#platform/context.ts';
import { type Change, commitNew, isConstraint, type Write } from '#platform/db/commit.ts';
import { type IsUsed, NameTaken, withNames } from '#platform/db/names/names.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { toDiscovery } from '#platform/http/bodies/discovery.ts';
import { requireAccess } from '#platform/http/callers.ts';
import { PLANS } from '#rules/plans.ts';
import { allowedRailsOf } from '#rules/product-rails.ts';
import { deliveryTerms, requireDeliverable } from './delivery.ts';
import { PRODUCT_TYPES } from './product-types.ts';
import type { CreateProductRequest } from './resource.ts';
import { findApp, findProduct, getActiveProductCount, hasSlug, insertProduct, isTaken } from './store.ts';
import { invalid, narrowed, payerLimitOf, renewalOf, requireMeant, requirePrice, requirePurchasable, requireRenewable } from './terms.ts';

/** Defaults of products used up by calls. All others, including automatic renewal, last for a time. */
const API_DEFAULTS = { usageUnits: 1, accessPeriodDays: null };
const OTHER_DEFAULTS = { usageUnits: null, accessPeriodDays: 30 };

/**
 * Plans a new product, for all callers. A product created by a sandbox session counts in no quota. Throws 400 invalid_product_type, 403
 * invalid_authorization for a payout wallet by a caller without `payouts:write`, 404 for a foreign app, 422 for contradicting terms.
 */
export async function planProduct(
  ctx: Scope,
  actor: Actor,
  input: z.infer<typeof CreateProductRequest>,
  sandboxSessionId: SandboxSessionId | null = null,
): Promise<Change<Product>> {
  const productType = requireType(input.product_type ?? 'api');
  const product = { ...newProduct(ctx, productType, input), sandboxSessionId };
  if (input.payout_wallet !== undefined) {
    if (sandboxSessionId === null) requireAccess(actor, 'payouts:write');
    await requireSpendable(ctx, input.payout_wallet, ctx.livemode);
  }
  if (input.access_app_id) await requireApp(ctx, input.access_app_id);
  requireRenewable(ctx, product, null);
  requirePurchasable(input, product);
  requireAssets(ctx, product);
  requireRails(ctx, product);
  await requireDeliverable(ctx, product);
  const payout = product.payoutWallet === null ? null : await planProductPayout(ctx, actor, product, product.payoutWallet, null);
  const activeMax = sandboxSessionId === null ? PLANS[actor.plan].activeProductsMax : Number.POSITIVE_INFINITY;
  const writes = [...insertProduct(ctx, product, activeMax), ...(payout?.writes ?? [])];
  return { events: payout?.events ?? [], writes, result: product };
}

export const planProductPayout = (
  ctx: Scope,
  actor: Actor,
  { id, version, name }: Product,
  wallet: string | null,
  previous: string | null,
) => planPayout(ctx, actor, { subject: { type: 'product', id, version }, wallet, previous, paidFor: name, productId: id });

/**
 * Explains why the database refused a planned product: 429 plan_limit_reached, 409 not_unique, 403 sign_in_required. Returns null if no
 * reason remains.
 */
export async function explainRefusal(ctx: Scope, actor: Actor, product: Product): Promise<ApiError | null> {
  if (await isTaken(ctx.db, product)) return newTakenError();
  const full = await explainQuota(ctx, actor);
  if (full) return full;
  if (product.payoutWallet !== null) await planProductPayout(ctx, actor, product, product.payoutWallet, null);
  return null;
}

const newTakenError = (): ApiError => {
  const detail = 'The slug or external_product_id is taken. Choose another one.';
  return new ApiError('state_conflict', { detail, meta: { reason: 'not_unique' } });
};

export const slugName = (slug: string) => ({ kind: 'slug', keys: [slug], isUsed: isSlugUsed }) as const;
export const isSlugUsed: IsUsed = ({ db }, accountId, [slug]) => hasSlug(db, slug, accountId);

/** Stores a product while its slug is reserved. A generated slug belongs to its database. Throws 409 state_conflict for a taken one. */
export async function withSlug<T>(ctx: Scope, { slug }: Product, store: (reserved: Write[]) => Promise<T>): Promise<T> {
  try {
    return await withNames(ctx, ctx.merchantId, partitionOfSlug(slug) === null ? [slugName(slug)] : [], store);
  } catch (error) {
    throw error instanceof NameTaken ? newTakenError() : error;
  }
}

export async function explainQuota(ctx: Scope, actor: Actor): Promise<ApiError | null> {
  const limit = PLANS[actor.plan].activeProductsMax;
  const used = await getActiveProductCount(ctx);
  return used >= limit ? planFull('products', { limit, used, plan: actor.plan }) : null;
}

/** Creates a product. Throws the errors of `planProduct`, 409 state_conflict (slug or external id taken), 429 plan_limit_reached. */
export async function createProduct(
  ctx: Scope,
  actor: Actor,
  input: z.infer<typeof CreateProductRequest>,
  storeAnswer: StoreAnswer<Product>,
): Promise<Product> {
  const planned = await planProduct(ctx, actor, input);
  const change = await withAnswer(planned, storeAnswer(planned.result));
  try {
    return await withSlug(ctx, planned.result, (reserved) =>
      commitNew(ctx, { ...change, writes: [...reserved, ...change.writes] }, () => findProduct(ctx, planned.result.id)),
    );
  } catch (error) {
    throw (isConstraint(error) && (await explainRefusal(ctx, actor, change.result))) || error;
  }
}

/** Throws 404 for a foreign app. Apps are never deleted, so the answer stays valid. */
export async function requireApp(ctx: Scope, appId: AppId): Promise<void> {
  if (await findApp(ctx, appId)) return;
  throw new ApiError('not_found', {
    detail: 'The app does not exist in this mode. Check access_app_id.',
    meta: { field: 'access_app_id' },
  });
}

export const requireType = (asked: string): Product['productType'] =>
  PRODUCT_TYPES.find((type) => type === asked) ?? raise('invalid_product_type', { meta: { supported: PRODUCT_TYPES } });

/** Throws 422 for a rail that this service does not have, or a default rail that the product does not allow. */
export function requireRails({ config }: Ctx, product: Product): void {
  const { allowedRails, defaultRail } = product;
  const available = allowedRailsOf({ ...product, allowedRails: null }, config);
  const isAvailable = (railId: string) => available.includes(railId);
  if (allowedRails && !allowedRails.every(isAvailable))
    throw invalid('allowed_rails', 'Expected an available rail for the assets of this product: GET /v1/access/rails', 'rail_unavailable');
  if (defaultRail && !(allowedRails ?? available).includes(defaultRail))
    throw invalid('default_rail', 'Expected one of allowed_rails', 'rail_not_allowed');
}

/** The price's asset is always accepted. Another asset needs a price source. */
export function requireAssets({ config }: Ctx, { asset, acceptedAssets }: Pick<Product, 'asset' | 'acceptedAssets'>): void {
  if (acceptedAssets === null) return;
  if (!acceptedAssets.includes(asset)) throw invalid('accepted_assets', `Expected to include ${asset}, the asset of the price`);
  if (acceptedAssets.some((other) => other !== asset) && !hasPriceSource(config)) {
    const detail = 'This deployment has no SOL price source. Accept only the asset of the price.';
    throw new ApiError('setup_not_ready', { detail, meta: { reason: 'price_source_missing' } });
  }
}

function newProduct(ctx: Scope, productType: Product['productType'], input: z.infer<typeof CreateProductRequest>): Product {
  const price = requirePrice(input.price);
  const renewalMode = renewalOf(input.renewal_mode) ?? 'ONE_OFF';
  const defaults = productType === 'api' && renewalMode === 'ONE_OFF' ? API_DEFAULTS : OTHER_DEFAULTS;
  const usageUnits = input.usage_units === undefined ? defaults.usageUnits : input.usage_units;
  const accessPeriodDays = input.access_period_days === undefined ? defaults.accessPeriodDays : input.access_period_days;
  if (renewalMode === 'ONE_OFF') requireMeant(input, { usageUnits, accessPeriodDays });
  return {
    id: newId<ProductId>(ctx.now, ctx.merchantId),
    merchantId: ctx.merchantId,
    livemode: ctx.livemode,
    slug: input.slug === undefined ? newSlug(input.name, ctx.merchantId) : requireChosen(input.slug),
    externalProductId: input.external_product_id ?? null,
    accessAppId: input.access_app_id ?? null,
    name: input.name,
    description: input.description ?? null,
    productType,
    status: 'active',
    asset: price.asset,
    priceAmount: price.units,
    acceptedAssets: input.accepted_assets ? narrowed(input.accepted_assets, price.asset) : null,
    billingModel: input.billing_model ?? (renewalMode === 'AUTOMATIC' ? 'recurring' : 'one_off'),
    renewalMode,
    accessPeriodDays,
    usageUnits,
    unitName: input.unit_name ?? null,
    payoutWallet: input.payout_wallet ?? null,
    allowedRails: input.allowed_rails ?? null,
    defaultRail: input.default_rail ?? null,
    graceHours: input.grace_hours ?? GRACE_HOURS,
    sessionSeconds: input.session_seconds ?? null,
    successUrl: input.success_url ?? null,
    cancelUrl: input.cancel_url ?? null,
    ...deliveryTerms(productType, input),
    discovery: input.discovery ? toDiscovery(input.discovery) : null,
    metadata: input.metadata ?? {},
    liveModeConfirmed: input.live_mode_confirmed ?? false,
    trustedCustomerRef: input.trusted_customer_ref ?? false,
    maxPerPayerPerDay: payerLimitOf(input.max_per_payer_per_day) ?? null,
    sandboxSessionId: null,
    createdAt: ctx.now,
    updatedAt: ctx.now,
    version: 1,
  };
}

function newSlug(name: string, merchantId: AccountId): string {
  const base = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40)
    .replace(/-+$/, '');
  return generatedSlug(base || 'product', merchantId);
}

/** Throws 422 for a slug of the form that the service generates: its database follows from its digits. */
function requireChosen(slug: string): string {
  if (partitionOfSlug(slug) !== null)
    throw invalid('slug', 'Expected another ending: this one is of the form that the service generates', 'reserved');
  return slug;
}
