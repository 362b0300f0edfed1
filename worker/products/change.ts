import type { z } from '@hono/zod-openapi';
import type { Actor, Ctx } from '../context.ts';
import { canonicalJson } from '../core/encoding.ts';
import { ApiError, raise } from '../core/errors.ts';
import type { AccountId, AppId, ProductId } from '../core/ids.ts';
import { transact } from '../db/commit.ts';
import { type Keep, unchangedKept, withAnswer } from '../db/once.ts';
import { requireFreshSignIn } from '../http/guards.ts';
import { PLANS } from '../plans.ts';
import { type RailId, SELLING_RAILS, suits } from '../rails.ts';
import { PRODUCT } from '../states.ts';
import { narrowed, priceOf, requireApp, requireAssets, requireRails, requireSellable } from './product.ts';
import { toProductResource, type UpdateProductRequest } from './resource.ts';
import { isAllowed, payoutOf, prospectOf } from './sale.ts';
import {
  countActiveProducts,
  findByExternalId,
  findListing,
  getProduct,
  type Listing,
  type Product,
  reviveProduct,
  saleOn,
  updateProduct,
} from './store.ts';

/** Changes what is given. Sessions under way keep the terms they began with. 404, 409, 422 as for a new product. */
export async function changeProduct(
  ctx: Ctx,
  actor: Actor,
  { productId, ...input }: z.infer<typeof UpdateProductRequest> & { productId: ProductId },
  keep: Keep<Product>,
): Promise<Product> {
  try {
    return await transact(ctx, async () => {
      const listing = (await findListing(ctx.db, actor.accountId as AccountId, actor.livemode, { productId })) ?? raise('not_found');
      const { product } = listing;
      requireSellable({
        ...input,
        product_type: input.product_type ?? product.productType,
        billing_model: input.billing_model ?? product.billingModel,
      });
      if (input.access_app_id) await requireApp(ctx, actor, input.access_app_id);
      const patch = patchOf(input, product);
      if (Object.entries(patch).every(([name, value]) => isSame(value, product[name as keyof Product])))
        return unchangedKept(product, keep);
      const after = { ...product, ...patch, updatedAt: ctx.now, version: product.version + 1 };
      const payout = movedPayout(listing, { ...listing, product: after });
      // A stolen key must not be able to send the next sale elsewhere, by naming a wallet or by choosing another rail.
      if (payout?.wasSet && product.livemode) requireFreshSignIn(ctx, actor);
      if (after.asset !== product.asset || !isSame(after.acceptedAssets, product.acceptedAssets)) requireAssets(ctx, after);
      requireRails(ctx, after);
      const events = payout ? [payoutChanged(ctx, after, payout.before)] : [];
      return withAnswer({ events, writes: updateProduct(ctx, product, after), result: after }, keep(after));
    });
  } catch (error) {
    // Three refused batches: the external id belongs to another product, or others keep changing this one.
    const externalId = input.external_product_id;
    const owner =
      externalId && isContended(error) ? await findByExternalId(ctx.db, actor.accountId as AccountId, actor.livemode, externalId) : null;
    if (owner && owner.id !== productId)
      throw new ApiError('state_conflict', { detail: 'This external_product_id is taken.', meta: { reason: 'not_unique' } });
    throw error;
  }
}

const payoutOn = (listing: Listing, railId: RailId): string | null => payoutOf(prospectOf(saleOn(listing, railId)));

const paidOver = (listing: Listing, railIds: RailId[]): string[] =>
  railIds.map((railId) => payoutOn(listing, railId)).filter((wallet) => wallet !== null);

/**
 * Does a change send money elsewhere: over a rail that suits the product, offered today or not, or by opening one onto a wallet
 * nobody paid before? Null where it does not. `wasSet`: somebody is to be paid already, on offer or not.
 */
function movedPayout(before: Listing, after: Listing): { before: string | null; wasSet: boolean } | null {
  const suiting = ({ product }: Listing) => SELLING_RAILS.filter((railId) => suits(product, railId));
  const offered = (listing: Listing) => suiting(listing).filter((railId) => isAllowed(listing, railId));
  const moved = [...new Set([...suiting(before), ...suiting(after)])].filter(
    (railId) => payoutOn(before, railId) !== payoutOn(after, railId),
  );
  const [paid, known] = [paidOver(before, offered(before)), paidOver(before, suiting(before))];
  // Offered again is not opened: where nobody else could be meant, no wallet is new.
  const isNew = (wallet: string): boolean => !paid.includes(wallet) && !(known.length > 0 && known.every((one) => one === wallet));
  const isOpened = paidOver(after, offered(after)).some(isNew);
  if (moved.length === 0 && !isOpened) return null;
  const left = paidOver(before, moved);
  return { before: left[0] ?? paid[0] ?? null, wasSet: left.length > 0 || (isOpened && known.length > 0) };
}

const isContended = (error: unknown): boolean => error instanceof ApiError && error.options.meta?.reason === 'contended';

/** The order in which somebody writes metadata changes nothing. */
const isSame = (a: unknown, b: unknown): boolean =>
  a === b || (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null && canonicalJson(a) === canonicalJson(b));

/** The columns a request names; what it leaves out is not there. */
function patchOf(input: z.infer<typeof UpdateProductRequest>, product: Product): Partial<Product> {
  const price = input.price && priceOf(input.price);
  const named: Partial<Product> = {
    name: input.name,
    asset: price?.asset,
    priceAmount: price?.units,
    acceptedAssets: input.accepted_assets && narrowed(input.accepted_assets, price?.asset ?? product.asset),
    externalProductId: input.external_product_id,
    accessAppId: input.access_app_id as AppId | null | undefined,
    description: input.description,
    productType: input.product_type as Product['productType'] | undefined,
    billingModel: input.billing_model,
    accessPeriodDays: input.access_period_days,
    usageUnits: input.usage_units,
    unitName: input.unit_name,
    payoutWallet: input.payout_wallet,
    allowedRails: input.allowed_rails,
    defaultRail: input.default_rail,
    graceHours: input.grace_hours,
    sessionSeconds: input.session_seconds,
    successUrl: input.success_url,
    requiresIdentity: input.requires_identity,
    metadata: input.metadata,
    liveModeConfirmed: input.live_mode_confirmed,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}

const payoutChanged = (ctx: Ctx, product: Product, before: string | null) =>
  ({
    merchantId: product.merchantId,
    livemode: product.livemode,
    type: 'payout.changed',
    subject: { type: 'product', id: product.id, version: product.version },
    object: toProductResource(ctx, product),
    previous: { payout_wallet: before },
    productId: product.id,
  }) as const;

/** Takes a product off sale: new sessions get 404, running ones finish. Already archived is fine. */
export const archiveProduct = (ctx: Ctx, actor: Actor, productId: ProductId, keep: Keep<Product>): Promise<Product> =>
  transact(ctx, async () => {
    const product = await getProduct(ctx.db, actor.accountId as AccountId, actor.livemode, productId);
    if (product.status === 'archived') return unchangedKept(product, keep);
    const after = movedTo(ctx, product, 'archive');
    return withAnswer({ events: [], writes: updateProduct(ctx, product, after), result: after }, keep(after));
  });

/** Puts it on sale again, if the plan has room: 429 plan_limit_reached. */
export async function unarchiveProduct(ctx: Ctx, actor: Actor, productId: ProductId, keep: Keep<Product>): Promise<Product> {
  const merchantId = actor.accountId as AccountId;
  const limit = PLANS[actor.plan].activeProductsMax;
  try {
    return await transact(ctx, async () => {
      const product = await getProduct(ctx.db, merchantId, actor.livemode, productId);
      if (product.status === 'active') return unchangedKept(product, keep);
      const after = movedTo(ctx, product, 'unarchive');
      return withAnswer({ events: [], writes: reviveProduct(ctx, product, after, limit), result: after }, keep(after));
    });
  } catch (error) {
    if (!isContended(error)) throw error;
    const used = await countActiveProducts(ctx.db, merchantId, actor.livemode);
    throw used >= limit ? new ApiError('plan_limit_reached', { meta: { limit, used, plan: actor.plan } }) : error;
  }
}

const movedTo = (ctx: Ctx, product: Product, transition: 'archive' | 'unarchive'): Product => ({
  ...product,
  status: PRODUCT.next(product.status, transition),
  updatedAt: ctx.now,
  version: product.version + 1,
});
