import { ApiError, raise } from '#core/errors.ts';
import type { ListingId, ProductId } from '#core/ids.ts';
import { type Listing, saleOn } from '#features/products/product.ts';
import { obstaclesOf, payoutOf, prospectOf } from '#features/products/selling/obstacles.ts';
import type { Scope } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { abortUnlessChanged, isConstraint } from '#platform/db/commit.ts';
import type { PageRequest } from '#platform/db/page.ts';
import type { ListingRow } from '#platform/db/tables/office/listings.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { LISTED_MS } from '#rules/catalogue/listing.ts';
import { settingOf } from '#rules/product-rails.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { type Reason, reasonOf } from './reasons.ts';
import { type Entry, endListing, findListed, listEntries, listOfProduct, loadSeller } from './store.ts';

/** Entry of a merchant's list, and why it is not public. `reasons` of a listed one: what would end it. */
export interface JudgedEntry extends Entry {
  status: 'listed' | 'not_listed' | 'pending';
  reasons: Reason[];
  /** First origin of the merchant. */
  origin: string | null;
}

/** `switchedOff`: subjects. */
type Seller = Omit<Listing, 'product'>;

/** Lists the resources of a merchant, newest first. */
export async function listJudged(
  ctx: Scope,
  productId: ProductId | undefined,
  page: PageRequest,
): Promise<{ items: JudgedEntry[]; total: number }> {
  const { items, total } = await listEntries(ctx, productId, page);
  const seller = await loadSeller(
    ctx,
    items.flatMap(({ product }) => product?.id ?? []),
  );
  return { items: items.map((entry) => judgeEntry(ctx, entry, seller)), total };
}

/** Judges each listing of a product, or the product alone. */
export async function judgeProduct(ctx: Scope, product: Product): Promise<JudgedEntry[]> {
  const [listed, seller] = await Promise.all([listOfProduct(ctx.db, product.id), loadSeller(ctx, [product.id])]);
  return (listed.length > 0 ? listed : [null]).map((listing) => judgeEntry(ctx, { product, listing }, seller));
}

/** Deletes a resource of the facilitator. Throws 404, 409 state_conflict for one of a product. */
export async function deleteListing(ctx: Scope, id: ListingId): Promise<void> {
  const listing = (ctx.livemode ? await findListed(ctx, id) : null) ?? raise('not_found');
  if (listing.productId !== null) {
    const detail = 'The listing belongs to a product. Set discovery.listed of the product to false, or remove the route.';
    throw new ApiError('state_conflict', { detail, meta: { reason: 'listing_of_product' } });
  }
  const entry = { action: 'listing.removed', subject: { type: 'listing', id }, before: { resource: listing.resource }, after: {} } as const;
  await ctx.db.batch([endListing(ctx.db, id), abortUnlessChanged(ctx), recordAction(ctx, ctx, entry)]).catch((error: unknown) => {
    throw isConstraint(error) ? new ApiError('not_found') : error;
  });
}

function judgeEntry(ctx: Scope, { product, listing }: Entry, seller: Seller): JudgedEntry {
  const setting = settingOf(seller.settings, X402_RAIL);
  const origin = setting?.origins[0] ?? null;
  const off = seller.switchedOff.map((subject) => (subject === `product:${product?.id}` ? 'product' : subject.replace(/^rail:/, '')));
  const sale = product && saleOn({ product, ...seller, switchedOff: off }, X402_RAIL);
  const isPublic =
    isFresh(ctx, listing) &&
    setting?.enabled === true &&
    setting.origins.includes(listing!.origin ?? '') &&
    !off.includes(X402_RAIL) &&
    (sale === null || (sale.switchedOff === null && sale.product.status === 'active' && payoutOf(prospectOf(sale)) !== null));
  const reasons = ctx.livemode
    ? [...(sale ? reasonsOfSale(ctx, sale, origin) : []), ...reasonsOfProbe(ctx, product, listing)]
    : [reasonOf('sandbox', {})];
  // Between a change and its probe.
  if (!isPublic && reasons.length === 0) reasons.push(reasonOf('look_pending', {}));
  const isPending = !isPublic && reasons.every(({ code }) => code === 'look_pending');
  return { product, listing, reasons, origin, status: isPublic ? 'listed' : isPending ? 'pending' : 'not_listed' };
}

const isFresh = ({ wallNow }: Scope, listing: ListingRow | null): boolean => (listing?.goodAt ?? 0) > wallNow - LISTED_MS;

type Sale = ReturnType<typeof saleOn>;

function reasonsOfSale(ctx: Scope, sale: Sale, origin: string | null): Reason[] {
  const { product } = sale;
  const { discovery } = product;
  if (!discovery?.listed) return [reasonOf('not_opted_in', { product })];
  if (product.status !== 'active') return [reasonOf('product_archived', { product })];
  const [obstacle] = obstaclesOf(ctx.config, prospectOf(sale), X402_RAIL);
  return [
    ...(discovery.routes.length === 0 ? [reasonOf('no_route', { product })] : []),
    ...(obstacle ? [reasonOf('not_ready', { product, obstacle: { name: obstacle, prospect: prospectOf(sale) } })] : []),
    ...(origin === null ? [reasonOf('no_origin', {})] : []),
  ];
}

function reasonsOfProbe(ctx: Scope, product: Product | null, listing: ListingRow | null): Reason[] {
  if (!listing) return [];
  const { reason, reasonDetail, probedAt, nextProbeAt, goodAt } = listing;
  const isDue = nextProbeAt !== null && (probedAt === null || nextProbeAt <= ctx.wallNow);
  if (isDue) return [reasonOf('look_pending', {})];
  // The sale of a product has these.
  const isKnown = product !== null && (reason === 'no_origin' || reason === 'not_ready');
  return [
    ...(reason === null || isKnown ? [] : [reasonOf(reason, { product, message: reasonDetail })]),
    ...(goodAt !== null && !isFresh(ctx, listing) ? [reasonOf('stale', {})] : []),
  ];
}
