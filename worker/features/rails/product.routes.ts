import { createRoute, z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { namedProduct, productRef } from '#features/products/product-ref.ts';
import { toWholePage } from '#platform/db/page.ts';
import { merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { idOf, idParam, ModeQuery, ok, pageOf, router } from '#platform/http/openapi.ts';
import { listProductRails, ProductRailBody } from './product-rails.ts';

const tags = ['Set-up'];

const railsOfNamed = createRoute({
  method: 'get',
  path: '/access/products/available-rails',
  operationId: 'listProductRailsByName',
  tags,
  summary: 'List rails by product name',
  description: 'Every rail, and whether this product could be sold over it right now.',
  ...merchantRoute('read'),
  request: { query: z.object({ ...ModeQuery, ...productRef }) },
  responses: { ...ok(pageOf(ProductRailBody, 'ProductRailPage')), ...merchantErrors('not_found') },
});

const railsOfProduct = createRoute({
  method: 'get',
  path: '/access/products/{product_id}/available-rails',
  operationId: 'listProductRails',
  tags,
  summary: 'List a product’s rails',
  description: 'The same, by the id of the product.',
  ...merchantRoute('read'),
  request: { params: idParam('product_id', idOf<ProductId>()), query: z.object(ModeQuery) },
  responses: { ...ok(pageOf(ProductRailBody, 'ProductRailPage')), ...merchantErrors('not_found') },
});

export const productRailRoutes = router()
  .openapi(railsOfNamed, async (c) => {
    return c.json(toWholePage(await listProductRails(c.var.scope, namedProduct(c.req.valid('query'), 'query'))), 200);
  })
  .openapi(railsOfProduct, async (c) => {
    const productId = c.req.valid('param').product_id;
    return c.json(toWholePage(await listProductRails(c.var.scope, { productId })), 200);
  });
