import { createRoute, z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { merchantErrors, merchantRoute, merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { created, errors, idOf, idParam, jsonBody, ModeQuery, ok, PageQuery, pageOf, router } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { PRODUCT } from '#rules/states.ts';
import { createProduct, findActiveListing } from './product.ts';
import { CreateProductRequest, ProductBody, slugParam, toProductResource, UpdateProductRequest } from './resource.ts';
import { ListingBody, toListingResource } from './selling/offer.ts';
import { CreatedProductBody, toCreatedProduct } from './selling/warnings.ts';
import { getActiveListing, getProduct, listProducts } from './store.ts';
import { archiveProduct, changeProduct, unarchiveProduct } from './update-product.ts';

const tags = ['Products'];
const create = createRoute({
  method: 'post',
  path: '/products',
  operationId: 'createProduct',
  tags,
  summary: 'Create a product',
  description:
    'Create a product with a hosted checkout. `POST /v1/access/products` makes the same kind of product, for programs: it wants an ' +
    '`Idempotency-Key`.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(CreateProductRequest) },
  responses: {
    ...created(CreatedProductBody),
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
  summary: 'List products',
  description: 'Products of the workspace, newest first.',
  ...merchantRoute('read'),
  request: { query: z.object({ ...PageQuery, status: z.enum(PRODUCT.states).optional(), ...ModeQuery }) },
  responses: { ...ok(pageOf(ProductBody, 'ProductPage')), ...merchantErrors() },
});
const get = createRoute({
  method: 'get',
  path: '/products/{product_id}',
  operationId: 'getProduct',
  tags,
  summary: 'Get a product',
  description: 'One product.',
  ...merchantRoute('read'),
  request: { params: idParam('product_id', idOf<ProductId>()), query: z.object(ModeQuery) },
  responses: { ...ok(ProductBody), ...merchantErrors('not_found') },
});
const change = createRoute({
  method: 'patch',
  path: '/products/{product_id}',
  operationId: 'updateProduct',
  tags,
  summary: 'Update a product',
  description: 'Change what is given; sessions under way keep their terms.',
  ...writeRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    params: idParam('product_id', idOf<ProductId>()),
    query: z.object(ModeQuery),
    ...jsonBody(UpdateProductRequest),
  },
  responses: {
    ...ok(ProductBody),
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
const archive = createRoute({
  method: 'post',
  path: '/products/{product_id}/archive',
  operationId: 'archiveProduct',
  tags,
  summary: 'Archive a product',
  description: 'Take a product off sale; running sessions finish.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, params: idParam('product_id', idOf<ProductId>()), query: z.object(ModeQuery) },
  responses: { ...ok(ProductBody), ...merchantWriteErrors('not_found', 'state_conflict') },
});
const unarchive = createRoute({
  method: 'post',
  path: '/products/{product_id}/unarchive',
  operationId: 'unarchiveProduct',
  tags,
  summary: 'Unarchive a product',
  description: 'Put a product on sale again.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, params: idParam('product_id', idOf<ProductId>()), query: z.object(ModeQuery) },
  responses: { ...ok(ProductBody), ...merchantWriteErrors('not_found', 'plan_limit_reached', 'state_conflict') },
});
const showListing = createRoute({
  method: 'get',
  path: '/products/p/{slug}',
  operationId: 'getOffer',
  tags: ['Checkout'],
  summary: 'Get a product’s page',
  description: 'What a buyer sees before paying.',
  middleware: publicBucket('payload'),
  request: {
    params: slugParam,
  },
  responses: { ...ok(ListingBody), ...errors('not_found', 'rate_limited', 'validation_error') },
});

export const productRoutes = router()
  .openapi(showListing, async (c) => {
    const { slug } = c.req.valid('param');
    const shard = await enterShard(c, ({ db }) => findActiveListing(db, slug));
    const listing = await getActiveListing(shard.db, slug);
    return c.json(toListingResource(await inMode(shard, listing.product), listing), 200);
  })
  .openapi(create, async (c) => {
    const { actor, scope: ctx } = c.var;
    const input = c.req.valid('json');
    const run = (storeAnswer: StoreAnswer<Product>) => createProduct(ctx, actor, input, storeAnswer);
    return sendStored(c, await answerOnce(c, run, async (product) => ({ status: 201, body: await toCreatedProduct(ctx, product, input) })));
  })
  .openapi(change, async (c) => {
    const { actor, scope: ctx } = c.var;
    const input = { ...c.req.valid('json'), productId: c.req.valid('param').product_id };
    const run = (storeAnswer: StoreAnswer<Product>) => changeProduct(ctx, actor, input, storeAnswer);
    return sendStored(c, await answerOnce(c, run, (product) => ({ status: 200, body: toProductResource(ctx, product) })));
  })
  .openapi(archive, async (c) => {
    const { scope: ctx } = c.var;
    const run = (storeAnswer: StoreAnswer<Product>) => archiveProduct(ctx, c.req.valid('param').product_id, storeAnswer);
    return sendStored(c, await answerOnce(c, run, (product) => ({ status: 200, body: toProductResource(ctx, product) })));
  })
  .openapi(unarchive, async (c) => {
    const { actor, scope: ctx } = c.var;
    const run = (storeAnswer: StoreAnswer<Product>) => unarchiveProduct(ctx, actor, c.req.valid('param').product_id, storeAnswer);
    return sendStored(c, await answerOnce(c, run, (product) => ({ status: 200, body: toProductResource(ctx, product) })));
  })
  .openapi(list, async (c) => {
    const { scope: ctx } = c.var;
    const { status, ...query } = c.req.valid('query');
    const page = pageRequest(query);
    const found = await listProducts(ctx, status, page);
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
