import { z } from '@hono/zod-openapi';
import { readNear } from '#platform/db/directory.ts';
import { homeOfSlug } from '#platform/db/names/names.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { created, PageQuery, pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { PRODUCT } from '#rules/states.ts';
import { createProduct } from './create-product.ts';
import { CreateProductRequest, ProductBody, slugParam, toProductResource, UpdateProductRequest } from './resource.ts';
import { ListingBody, toListingResource } from './selling/offer.ts';
import { CreatedProductBody, toCreatedProduct } from './selling/warnings.ts';
import { getActiveListing, getProduct, listProducts } from './store.ts';
import { archiveProduct, changeProduct, recordedProduct, unarchiveProduct } from './update-product.ts';

const refusals = [
  'invalid_product_type',
  'not_found',
  'state_conflict',
  'setup_not_ready',
  'invalid_wallet_address',
  'plan_limit_reached',
] as const;

export const productRoutes = routes('Products', 'products')
  .public({
    path: 'GET /products/p/{slug}',
    id: 'getOffer',
    sdk: 'checkout.getOffer',
    tag: 'Checkout',
    summary: 'Get a product’s offer',
    description: 'Returns the offer that a buyer sees before payment.',
    bucket: 'payload',
    params: slugParam,
    returns: ListingBody,
    codes: ['not_found'],
    shard: ({ ctx, params }) => homeOfSlug(ctx, params.slug, readNear),
    load: ({ shard, params }) => readNear(shard, ({ db }) => getActiveListing(db, params.slug)),
    owner: ({ product }) => product,
    answer: ({ scope, row }) => toListingResource(scope, row),
  })
  .write({
    path: 'POST /products',
    id: 'createProduct',
    sdk: 'products.create',
    summary: 'Create a product',
    description:
      'Creates a product with a hosted checkout. `POST /v1/access/products` creates the same kind of product and requires an `Idempotency-Key`.',
    body: CreateProductRequest,
    returns: created(CreatedProductBody),
    codes: refusals,
    once: ({ scope, actor, body }, storeAnswer) => createProduct(scope, actor, body, storeAnswer),
    audit: { action: 'product.created', subject: 'product', fields: recordedProduct },
    present: (product, { scope, body }) => toCreatedProduct(scope, product, body),
  })
  .write({
    path: 'PATCH /products/{product_id}',
    id: 'updateProduct',
    sdk: 'products.update',
    summary: 'Update a product',
    description: 'Updates the given fields. Open sessions retain their terms.',
    body: UpdateProductRequest,
    returns: ProductBody,
    codes: refusals,
    once: ({ scope, actor, params, body }, storeAnswer) =>
      changeProduct(scope, actor, { ...body, productId: params.product_id }, storeAnswer),
    audit: { action: 'product.updated', subject: 'product', fields: recordedProduct },
    present: (product, { scope }) => toProductResource(scope, product),
  })
  .write({
    path: 'POST /products/{product_id}/archive',
    id: 'archiveProduct',
    sdk: 'products.archive',
    summary: 'Archive a product',
    description: 'Takes a product off sale. Open sessions can still be paid.',
    returns: ProductBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, params }, storeAnswer) => archiveProduct(scope, params.product_id, storeAnswer),
    audit: { action: 'product.archived', subject: 'product', fields: recordedProduct },
    present: (product, { scope }) => toProductResource(scope, product),
  })
  .write({
    path: 'POST /products/{product_id}/unarchive',
    id: 'unarchiveProduct',
    sdk: 'products.unarchive',
    summary: 'Unarchive a product',
    description: 'Puts an archived product back on sale.',
    returns: ProductBody,
    codes: ['not_found', 'plan_limit_reached', 'state_conflict'],
    once: ({ scope, actor, params }, storeAnswer) => unarchiveProduct(scope, actor, params.product_id, storeAnswer),
    audit: { action: 'product.unarchived', subject: 'product', fields: recordedProduct },
    present: (product, { scope }) => toProductResource(scope, product),
  })
  .read({
    path: 'GET /products',
    id: 'listProducts',
    sdk: 'products.list',
    summary: 'List products',
    description: 'Lists products, newest first.',
    query: { ...PageQuery, status: z.enum(PRODUCT.states).optional().describe('Return only objects with this status.') },
    returns: pageOf(ProductBody, 'ProductPage'),
    answer: async ({ scope, query: { status, ...query } }) => {
      const page = pageRequest(query);
      return toPage(page, await listProducts(scope, status, page), (product) => toProductResource(scope, product));
    },
  })
  .read({
    path: 'GET /products/{product_id}',
    id: 'getProduct',
    sdk: 'products.get',
    summary: 'Get a product',
    description: 'Returns a product.',
    returns: ProductBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => toProductResource(scope, await getProduct(scope, params.product_id)),
  });
