import { z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { isoOrNull } from '#core/time.ts';
import { FixBody } from '#features/products/selling/fixes.ts';
import type { Scope } from '#platform/context.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { given, idOf, ModeQuery, orNull, PageQuery, ProductUuid, pageOf, Timestamp } from '#platform/http/openapi.ts';
import { countRefresh } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { isToolRoute } from '#protocols/x402/discovery.ts';
import { LISTED_MS, LISTING_REASONS } from '#rules/catalogue/listing.ts';
import { deleteListing, type JudgedEntry, listJudged } from './listings.ts';
import { scheduleProbes } from './store.ts';

const ListingBody = z
  .object({
    listing_id: z.uuid().optional().describe('Identifier of the listing. Absent for a product without listed routes.'),
    kind: z.enum(['product', 'facilitator']),
    product_id: ProductUuid.optional(),
    resource: z.string().describe('URL of the resource. Parameters of its path are written `:name`.'),
    method: z.string().optional(),
    tool_name: z.string().optional(),
    status: z.enum(['listed', 'not_listed', 'pending']),
    reasons: z
      .array(
        z.object({
          code: z.enum(LISTING_REASONS).describe('Reason why the resource is not listed, or will no longer be.'),
          message: z.string().describe('Human-readable message. Do not branch on it.'),
          fix: orNull(FixBody).describe('Call that resolves the reason; null if none is needed.'),
        }),
      )
      .describe('Reasons why the resource is not in the public catalogue, or will no longer be.'),
    looked_at: Timestamp.optional().describe('Time at which the service called the resource.'),
    listed_until: Timestamp.optional().describe('Time until which the latest good answer counts.'),
    last_payment_at: Timestamp.optional().describe('Time of a settled payment of the facilitator, at most a day old.'),
  })
  .openapi('Listing');

function toListingResource(ctx: Scope, { product, listing, status, reasons, origin }: JudgedEntry): z.infer<typeof ListingBody> {
  const { call, target } = listing ?? { call: null, target: null };
  const isTool = call === 'tool';
  return {
    ...given('listing_id', listing?.id ?? null),
    kind: product ? 'product' : 'facilitator',
    ...given('product_id', product?.id ?? null),
    resource: listing?.resource ?? (product ? urlOf(ctx, product, { target, isTool, origin }) : target!),
    ...(isTool ? given('tool_name', target) : given('method', call)),
    status,
    reasons,
    ...given('looked_at', isoOrNull(listing?.probedAt ?? null)),
    ...given('listed_until', status === 'listed' ? isoOrNull(listing!.goodAt! + LISTED_MS) : null),
    ...given('last_payment_at', isoOrNull(listing?.lastPaymentAt ?? null)),
  };
}

/** URL of a route at the merchant's first origin. Without an origin or a route: the page of the product. */
function urlOf(
  { baseUrl }: Scope,
  { slug, discovery }: Product,
  { target, isTool, origin }: { target: string | null; isTool: boolean; origin: string | null },
): string {
  const tool = isTool ? discovery?.routes.find((route) => isToolRoute(route) && route.tool_name === target) : undefined;
  const path = isTool ? tool?.path : target;
  return path && origin !== null ? origin + path : `${baseUrl}/p/${slug}`;
}

export const listingRoutes = routes('x402', 'products')
  .read({
    path: 'GET /access/x402/listings',
    id: 'listListings',
    sdk: 'listings.list',
    summary: 'List your listings',
    description:
      'Lists what of yours is in the public catalogue, and why the rest is not, each with its fix: the routes of your products, and the resources that the facilitator knows.',
    query: { ...PageQuery, ...ModeQuery, product_id: idOf<ProductId>().optional().describe('Return only objects of this product.') },
    returns: pageOf(ListingBody, 'ListingPage'),
    answer: async ({ scope, query: { product_id: productId, ...query } }) => {
      const page = pageRequest(query);
      return toPage(page, await listJudged(scope, productId, page), (entry) => toListingResource(scope, entry));
    },
  })
  .write({
    path: 'DELETE /access/x402/listings/{listing_id}',
    id: 'deleteListing',
    sdk: 'listings.delete',
    summary: 'Delete a listing',
    description:
      'Deletes a resource of the facilitator from the catalogue. A later settled payment adds it again. A product’s listing ends with its route.',
    returns: { 204: { description: 'Deleted' } },
    codes: ['not_found', 'state_conflict'],
    leased: ({ scope, params }) => deleteListing(scope, params.listing_id),
    audit: ['listing.removed'],
    present: () => undefined,
  })
  .write({
    path: 'POST /access/x402/listings/refresh',
    id: 'refreshListings',
    sdk: 'listings.refresh',
    summary: 'Refresh your listings',
    description: 'Calls all your resources again within a minute, instead of once a day. At most 10 times an hour.',
    returns: {
      202: {
        description: 'Scheduled',
        content: {
          'application/json': {
            schema: z.object({ scheduled: z.int().describe('Number of resources that will be called.') }).openapi('RefreshedListings'),
          },
        },
      },
    },
    codes: ['rate_limited'],
    leased: async ({ c, scope }) => {
      await countRefresh(c, scope.merchantId);
      return { scheduled: scope.livemode ? await scheduleProbes(scope) : 0 };
    },
    audit: ['listing.refreshed'],
    present: (scheduled) => scheduled,
  });
