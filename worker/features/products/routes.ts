import { createRoute, z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { toMoneyResource } from '#core/money.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Ctx } from '#platform/context.ts';
import type { Keep } from '#platform/db/once.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { merchantErrors, merchantRoute, merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { created, errors, given, idOf, idParam, jsonBody, ModeQuery, ok, PageQuery, pageOf, router } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { RAILS } from '#rules/rails.ts';
import { createProduct, findActiveListing } from './product.ts';
import { CreateProductRequest, ListingBody, ProductBody, toProductResource, UpdateProductRequest } from './resource.ts';
import { openRails } from './selling/checkout-rails.ts';
import { getActiveListing, getProduct, type Listing, listProducts } from './store.ts';
import { archiveProduct, changeProduct, unarchiveProduct } from './update-product.ts';

const tags = ['Products'];
const create = createRoute({
  method: 'post',
  path: '/products',
  operationId: 'createProduct',
  tags,
  summary: 'Create a product with a hosted checkout',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(CreateProductRequest) },
  responses: {
    ...created(ProductBody),
    ...merchantWriteErrors(
      'invalid_product_type',
      'not_found',
      'state_conflict',
      'setup_not_ready',
      'invalid_wallet_address',
      'plan_limit_reached',
    ),
  },
});
const list = createRoute({
  method: 'get',
  path: '/products',
  operationId: 'listProducts',
  tags,
  summary: 'Products of the workspace, newest first',
  ...merchantRoute('read'),
  request: { query: z.object({ ...PageQuery, ...ModeQuery }) },
  responses: { ...ok(pageOf(ProductBody, 'ProductPage')), ...merchantErrors() },
});
const get = createRoute({
  method: 'get',
  path: '/products/{product_id}',
  operationId: 'getProduct',
  tags,
  summary: 'One product',
  ...merchantRoute('read'),
  request: { params: idParam('product_id', idOf<ProductId>()), query: z.object(ModeQuery) },
  responses: { ...ok(ProductBody), ...merchantErrors('not_found') },
});
const change = createRoute({
  method: 'patch',
  path: '/products/{product_id}',
  operationId: 'updateProduct',
  tags,
  summary: 'Change what is given; sessions under way keep their terms',
  ...writeRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    params: idParam('product_id', idOf<ProductId>()),
    query: z.object(ModeQuery),
    ...jsonBody(UpdateProductRequest),
  },
  responses: {
    ...ok(ProductBody),
    ...merchantWriteErrors('invalid_product_type', 'not_found', 'state_conflict', 'setup_not_ready', 'invalid_wallet_address'),
  },
});
const archive = createRoute({
  method: 'post',
  path: '/products/{product_id}/archive',
  operationId: 'archiveProduct',
  tags,
  summary: 'Take a product off sale; running sessions finish',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, params: idParam('product_id', idOf<ProductId>()), query: z.object(ModeQuery) },
  responses: { ...ok(ProductBody), ...merchantWriteErrors('not_found', 'state_conflict') },
});
const unarchive = createRoute({
  method: 'post',
  path: '/products/{product_id}/unarchive',
  operationId: 'unarchiveProduct',
  tags,
  summary: 'Put a product on sale again',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, params: idParam('product_id', idOf<ProductId>()), query: z.object(ModeQuery) },
  responses: { ...ok(ProductBody), ...merchantWriteErrors('not_found', 'plan_limit_reached', 'state_conflict') },
});
const showListing = createRoute({
  method: 'get',
  path: '/products/p/{slug}',
  operationId: 'getOffer',
  tags: ['Checkout'],
  summary: 'What a buyer sees before paying',
  middleware: publicBucket('payload'),
  request: {
    params: z.object({
      slug: z
        .string()
        .max(80)
        .openapi({ param: { name: 'slug', in: 'path' } }),
    }),
  },
  responses: { ...ok(ListingBody), ...errors('not_found', 'rate_limited', 'validation_error') },
});

function toListingResource(ctx: Ctx, listing: Listing): z.infer<typeof ListingBody> {
  const { product, merchant } = listing;
  const settings = merchant.merchantSettings;
  return {
    product_id: product.id,
    slug: product.slug,
    name: product.name,
    ...given('description', product.description),
    price: toMoneyResource({ asset: product.asset, units: product.priceAmount }),
    accepted_assets: openRails(ctx.config, listing).map((railId) => RAILS[railId].asset),
    billing_model: product.billingModel,
    access_period_days: product.accessPeriodDays,
    usage_units: product.usageUnits,
    ...given('unit_name', product.unitName),
    requires_identity: product.requiresIdentity,
    network: ctx.config.network.caip2,
    livemode: product.livemode,
    checkout_url: `${ctx.baseUrl}/p/${product.slug}`,
    merchant: {
      display_name: merchant.displayName,
      ...given('brand_name', settings.checkout_brand_name ?? null),
      ...given('logo_url', settings.checkout_logo_url ?? null),
      ...given('hero_image_url', settings.checkout_hero_image_url ?? null),
      ...given('accent_hex', settings.checkout_accent_hex ?? null),
      ...given('success_button_label', settings.checkout_success_button_label ?? null),
      ...given('support_url', settings.default_support_url ?? null),
    },
  };
}

export const productRoutes = router()
  .openapi(showListing, async (c) => {
    const { slug } = c.req.valid('param');
    const shard = await enterShard(c, ({ db }) => findActiveListing(db, slug));
    const listing = await getActiveListing(shard.db, slug);
    return c.json(toListingResource(await inMode(shard, listing.product), listing), 200);
  })
  .openapi(create, async (c) => {
    const { actor, scope: ctx } = c.var;
    const run = (keep: Keep<Product>) => createProduct(ctx, actor, c.req.valid('json'), keep);
    return sendStored(c, await answerOnce(c, run, (product) => ({ status: 201, body: toProductResource(ctx, product) })));
  })
  .openapi(change, async (c) => {
    const { actor, scope: ctx } = c.var;
    const input = { ...c.req.valid('json'), productId: c.req.valid('param').product_id };
    const run = (keep: Keep<Product>) => changeProduct(ctx, actor, input, keep);
    return sendStored(c, await answerOnce(c, run, (product) => ({ status: 200, body: toProductResource(ctx, product) })));
  })
  .openapi(archive, async (c) => {
    const { scope: ctx } = c.var;
    const run = (keep: Keep<Product>) => archiveProduct(ctx, c.req.valid('param').product_id, keep);
    return sendStored(c, await answerOnce(c, run, (product) => ({ status: 200, body: toProductResource(ctx, product) })));
  })
  .openapi(unarchive, async (c) => {
    const { actor, scope: ctx } = c.var;
    const run = (keep: Keep<Product>) => unarchiveProduct(ctx, actor, c.req.valid('param').product_id, keep);
    return sendStored(c, await answerOnce(c, run, (product) => ({ status: 200, body: toProductResource(ctx, product) })));
  })
  .openapi(list, async (c) => {
    const { scope: ctx } = c.var;
    const page = pageRequest(c.req.valid('query'));
    const found = await listProducts(ctx, page);
    return c.json(
      toPage(page, found, (product) => toProductResource(ctx, product)),
      200,
    );
  })
  .openapi(get, async (c) => {
    const { scope: ctx } = c.var;
    const product = await getProduct(ctx, c.req.valid('param').product_id);
    return c.json(toProductResource(ctx, product), 200);
  });
