import type { z } from '@hono/zod-openapi';
import { canonicalJson } from '#core/encoding.ts';
import { ApiError, raise } from '#core/errors.ts';
import type { ProductId } from '#core/ids.ts';
import { requireSpendable } from '#platform/chain/payees.ts';
import type { Actor, Ctx, Scope } from '#platform/context.ts';
import { pick } from '#platform/db/audit/record-answer.ts';
import { transact } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { toDiscovery } from '#platform/http/bodies/discovery.ts';
import { changedMetadata, hasRoom, TOO_MANY_KEYS } from '#platform/http/bodies/own-fields.ts';
import { requireAccess, requireFreshSignIn } from '#platform/http/callers.ts';
import { PLANS } from '#rules/plans.ts';
import { SELLING_RAILS, suits } from '#rules/product-rails.ts';
import { PRODUCT } from '#rules/states.ts';
import { explainQuota, planProductPayout, requireApp, requireAssets, requireRails, requireType } from './create-product.ts';
import { deliveryTerms, requireDeliverable } from './delivery.ts';
import { toProductResource, type UpdateProductRequest } from './resource.ts';
import { isAllowed, payoutOf, prospectOf } from './selling/obstacles.ts';
import { findByExternalId, findListing, getProduct, isPayable, type Listing, openProduct, saleOn, updateProduct } from './store.ts';
import { narrowed, payerLimitOf, renewalOf, requireMeant, requirePrice, requirePurchasable, requireRenewable } from './terms.ts';

const SHOWN = [
  ...([
    'name',
    'description',
    'slug',
    'external_product_id',
    'access_app_id',
    'product_type',
    'status',
    'price',
    'accepted_assets',
  ] as const),
  ...(['billing_model', 'renewal_mode', 'access_period_days', 'usage_units', 'unit_name', 'payout_wallet', 'allowed_rails'] as const),
  ...(['default_rail', 'grace_hours', 'session_seconds', 'requires_identity', 'delivery', 'success_url', 'cancel_url'] as const),
  ...(['discovery', 'max_per_payer_per_day', 'metadata', 'live_mode_confirmed', 'trusted_customer_ref'] as const),
] as const;

/** Fields of a product in the audit log. */
export const recordedProduct = (product: Product, { scope }: { scope: Scope }) => ({
  id: product.id,
  ...pick(toProductResource(scope, product), ...SHOWN),
});

/** Updates the given fields. Running sessions retain their terms. Throws 403, 404, 409, 422, 429 as for a new product. */
export async function changeProduct(
  ctx: Scope,
  actor: Actor,
  { productId, ...input }: z.infer<typeof UpdateProductRequest> & { productId: ProductId },
  storeAnswer: StoreAnswer<Product>,
): Promise<Product> {
  // Checks that need only the body run before the product is loaded.
  if (input.product_type !== undefined) requireType(input.product_type);
  if (input.price) requirePrice(input.price);
  payerLimitOf(input.max_per_payer_per_day);
  if (typeof input.payout_wallet === 'string') await requireSpendable(ctx, input.payout_wallet, ctx.livemode);
  const limit = PLANS[actor.plan].activeProductsMax;
  let opens = false;
  try {
    return await transact(ctx, { reload: () => findListing(ctx, { productId }) }, async (found) => {
      const listing = found ?? raise('not_found');
      const { product } = listing;
      const productType = requireType(input.product_type ?? product.productType);
      if (input.access_app_id) await requireApp(ctx, input.access_app_id);
      const patch = { ...patchOf(input, product), ...deliveryTerms(productType, input, product) };
      if (Object.entries(patch).every(([name, value]) => isSame(value, product[name as keyof Product])))
        return unchangedWithAnswer(product, storeAnswer);
      const after = { ...product, ...patch, updatedAt: ctx.now, version: product.version + 1 };
      if (after.payoutWallet !== product.payoutWallet) requireAccess(actor, 'payouts:write');
      requireRenewable(ctx, after, product);
      requirePurchasable(input, after);
      if (product.usageUnits !== null || product.accessPeriodDays !== null) requireMeant(input, after);
      // A stolen key must not put another product under the external id that the merchant's server sells by.
      const isRenamed = product.externalProductId !== null && after.externalProductId !== product.externalProductId;
      if (product.livemode && isRenamed) requireFreshSignIn(ctx, actor);
      const moved = movedPayout(listing, { ...listing, product: after });
      const payout = moved && (await planProductPayout(ctx, actor, after, moved.wallet, moved.previous));
      if (after.asset !== product.asset || !isSame(after.acceptedAssets, product.acceptedAssets)) requireAssets(ctx, after);
      // A rail that this service no longer supports blocks only changes of rails.
      const movesRails = ON_RAILS.some((name) => !isSame(after[name], product[name]));
      if (movesRails) requireRails(ctx, after);
      if (!isSame(after.delivery, product.delivery)) await requireDeliverable(ctx, after);
      const mayOpen = (after.payoutWallet !== null && product.payoutWallet === null) || movesRails;
      opens = mayOpen && !(await isPayable(ctx, product.id));
      const writes = [...(opens ? openProduct(ctx, product, after, limit) : updateProduct(ctx, product, after)), ...(payout?.writes ?? [])];
      return withAnswer({ events: payout?.events ?? [], writes, result: after }, storeAnswer(after, { before: product }));
    });
  } catch (error) {
    // Three aborted batches mean that the external id is taken, or that others continue to change this product.
    const externalId = input.external_product_id;
    const owner = externalId && isContended(error) ? await findByExternalId(ctx, externalId) : null;
    if (owner && owner.id !== productId)
      throw new ApiError('state_conflict', {
        detail: 'The external_product_id is taken. Choose another one.',
        meta: { reason: 'not_unique' },
      });
    throw (opens && isContended(error) && (await explainQuota(ctx, actor))) || error;
  }
}

const ON_RAILS = ['allowedRails', 'defaultRail', 'asset', 'acceptedAssets', 'requiresIdentity', 'renewalMode'] as const;

const paidOver = (listing: Listing): string[] =>
  SELLING_RAILS.filter((railId) => suits(listing.product, railId) && isAllowed(listing, railId))
    .map((railId) => payoutOf(prospectOf(saleOn(listing, railId))))
    .filter((wallet) => wallet !== null);

/**
 * Returns the wallet that a change makes payable, by naming it or by opening a rail, and the wallet that the product loses. Null without a
 * move.
 */
function movedPayout(before: Listing, after: Listing): { wallet: string | null; previous: string | null } | null {
  const [paid, opened] = [paidOver(before), paidOver(after).filter((wallet) => !paidOver(before).includes(wallet))];
  const { payoutWallet: own } = after.product;
  const { payoutWallet: previous } = before.product;
  if (own === previous && opened.length === 0) return null;
  return { wallet: own ?? opened[0] ?? null, previous: previous ?? paid[0] ?? null };
}

const isContended = (error: unknown): boolean => error instanceof ApiError && error.options.meta?.reason === 'contended';

const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null && canonicalJson(a) === canonicalJson(b));

function requireKeyCapacity(metadata: Product['metadata']): Product['metadata'] {
  if (hasRoom(metadata)) return metadata;
  throw new ApiError('validation_error', { problems: [{ loc: ['body', 'metadata'], msg: TOO_MANY_KEYS, type: 'too_big' }] });
}

function patchOf(input: z.infer<typeof UpdateProductRequest>, product: Product): Partial<Product> {
  const price = input.price && requirePrice(input.price);
  const named: Partial<Product> = {
    name: input.name,
    asset: price?.asset,
    priceAmount: price?.units,
    acceptedAssets: input.accepted_assets && narrowed(input.accepted_assets, price?.asset ?? product.asset),
    externalProductId: input.external_product_id,
    accessAppId: input.access_app_id,
    description: input.description,
    productType: input.product_type as Product['productType'] | undefined,
    billingModel: input.billing_model,
    renewalMode: renewalOf(input.renewal_mode),
    accessPeriodDays: input.access_period_days,
    usageUnits: input.usage_units,
    unitName: input.unit_name,
    payoutWallet: input.payout_wallet,
    allowedRails: input.allowed_rails,
    defaultRail: input.default_rail,
    graceHours: input.grace_hours,
    sessionSeconds: input.session_seconds,
    successUrl: input.success_url,
    cancelUrl: input.cancel_url,
    discovery: input.discovery && toDiscovery(input.discovery),
    metadata: input.metadata && requireKeyCapacity(changedMetadata(product.metadata, input.metadata)),
    liveModeConfirmed: input.live_mode_confirmed,
    trustedCustomerRef: input.trusted_customer_ref,
    maxPerPayerPerDay: payerLimitOf(input.max_per_payer_per_day),
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

/** Archives a product: new sessions get 404, running ones finish. Idempotent. */
export const archiveProduct = (ctx: Scope, productId: ProductId, storeAnswer: StoreAnswer<Product>): Promise<Product> =>
  transact(ctx, { reload: () => getProduct(ctx, productId) }, (product) => {
    if (product.status === 'archived') return unchangedWithAnswer(product, storeAnswer);
    const after = movedTo(ctx, product, 'archive');
    return withAnswer({ events: [], writes: updateProduct(ctx, product, after), result: after }, storeAnswer(after, { before: product }));
  });

export async function unarchiveProduct(
  ctx: Scope,
  actor: Actor,
  productId: ProductId,
  storeAnswer: StoreAnswer<Product>,
): Promise<Product> {
  const limit = PLANS[actor.plan].activeProductsMax;
  try {
    return await transact(ctx, { reload: () => getProduct(ctx, productId) }, (product) => {
      if (product.status === 'active') return unchangedWithAnswer(product, storeAnswer);
      const after = movedTo(ctx, product, 'unarchive');
      return withAnswer(
        { events: [], writes: openProduct(ctx, product, after, limit), result: after },
        storeAnswer(after, { before: product }),
      );
    });
  } catch (error) {
    throw (isContended(error) && (await explainQuota(ctx, actor))) || error;
  }
}

const movedTo = (ctx: Ctx, product: Product, transition: 'archive' | 'unarchive'): Product => ({
  ...product,
  status: PRODUCT.next(product.status, transition),
  updatedAt: ctx.now,
  version: product.version + 1,
});
