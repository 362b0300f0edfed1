import { commitWithAnswer } from '#platform/db/once.ts';
import { created } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { AppBody, CreateAppRequest, planApp, toAppResource } from './apps.ts';
import { explainRefusal, planProduct, withSlug } from './create-product.ts';
import { CreateProductRequest } from './resource.ts';
import { CreatedProductBody, toCreatedProduct } from './selling/warnings.ts';
import { recordedProduct } from './update-product.ts';

export const accessProductRoutes = routes('Set-up', 'products')
  .write({
    path: 'POST /access/apps',
    id: 'createAccessApp',
    sdk: 'setup.createApp',
    summary: 'Create an app',
    description: 'Creates an application that products can belong to.',
    key: 'required',
    body: CreateAppRequest,
    returns: created(AppBody),
    once: ({ scope, body }, storeAnswer) => commitWithAnswer(scope, planApp(scope, body), storeAnswer),
    audit: { action: 'app.created', subject: 'app', fields: ({ id, name, homepageUrl: homepage_url }) => ({ id, name, homepage_url }) },
    present: (app: Parameters<typeof toAppResource>[0]) => toAppResource(app),
  })
  .write({
    path: 'POST /access/products',
    id: 'createAccessProduct',
    sdk: 'setup.createProduct',
    summary: 'Create a product, retry-safe',
    description:
      'Creates the same product as POST /v1/products. The Idempotency-Key is required, so that a retry creates no second product.',
    key: 'required',
    body: CreateProductRequest,
    returns: created(CreatedProductBody),
    codes: ['invalid_product_type', 'not_found', 'state_conflict', 'setup_not_ready', 'invalid_wallet_address', 'plan_limit_reached'],
    once: async ({ scope, actor, body }, storeAnswer) => {
      const planned = await planProduct(scope, actor, body);
      return withSlug(scope, planned.result, (reserved) =>
        commitWithAnswer(scope, { ...planned, writes: [...reserved, ...planned.writes] }, storeAnswer, (product) =>
          explainRefusal(scope, actor, product),
        ),
      );
    },
    audit: { action: 'product.created', subject: 'product', fields: recordedProduct },
    present: (product, { scope, body }) => toCreatedProduct(scope, product, body),
  });
