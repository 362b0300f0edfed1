import { z } from '@hono/zod-openapi';
import { namedProduct, productRef } from '#features/products/product-ref.ts';
import { toSinglePage } from '#platform/db/page.ts';
import { ModeQuery, pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { listProductRails, ProductRailBody } from './product-rails.ts';

export const productRailRoutes = routes('Set-up', 'products')
  .read({
    path: 'GET /access/products/available-rails',
    id: 'listProductRailsByName',
    sdk: 'rails.findForProduct',
    summary: 'List rails by product name',
    description: 'Lists all rails, and whether this product can currently be sold over each.',
    query: z.object({ ...ModeQuery, ...productRef }),
    returns: pageOf(ProductRailBody, 'ProductRailPage'),
    codes: ['not_found'],
    answer: async ({ scope, query }) => toSinglePage(await listProductRails(scope, namedProduct(query, 'query'))),
  })
  .read({
    path: 'GET /access/products/{product_id}/available-rails',
    id: 'listProductRails',
    sdk: 'rails.listForProduct',
    summary: 'List a product’s rails',
    description: 'Lists all rails, and whether this product can currently be sold over each. Takes the product id.',
    returns: pageOf(ProductRailBody, 'ProductRailPage'),
    codes: ['not_found'],
    answer: async ({ scope, params }) => toSinglePage(await listProductRails(scope, { productId: params.product_id })),
  });
