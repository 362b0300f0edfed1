import { createRoute, z } from '@hono/zod-openapi';
import type { AppId, ProductId } from '#core/ids.ts';
import { AppBody, CreateAppRequest, planApp, toAppResource } from '#features/products/apps.ts';
import { explainRefusal, planProduct } from '#features/products/product.ts';
import { namedProduct, productRef } from '#features/products/product-ref.ts';
import { CreateProductRequest, ProductBody, toProductResource } from '#features/products/resource.ts';
import { listProductRails, ProductRailBody } from '#features/rails/product-rails.ts';
import { commitKept, once } from '#platform/db/once.ts';
import { toPage } from '#platform/db/page.ts';
import { idempotentRoute, merchantBodyErrors, merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { IdempotencyHeader, idempotencyErrors, idempotentRequest, sendStored } from '#platform/http/idempotency-key.ts';
import { created, jsonBody, ModeQuery, ok, pageOf, router, uuidParam } from '#platform/http/openapi.ts';
import { checkReadiness, ReadinessBody } from './readiness.ts';

const tags = ['Set-up'];
const createApp = createRoute({
  method: 'post',
  path: '/access/apps',
  operationId: 'createAccessApp',
  tags,
  summary: 'Name an application that your products belong to',
  ...idempotentRoute(),
  request: { headers: IdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(CreateAppRequest) },
  responses: { ...created(AppBody), ...merchantBodyErrors(...idempotencyErrors, 'idempotency_race') },
});
const createProduct = createRoute({
  method: 'post',
  path: '/access/products',
  operationId: 'createAccessProduct',
  tags,
  summary: 'Create a product, at most once',
  description:
    'The same product as POST /v1/products makes, in every rule; here the Idempotency-Key keeps a retry from making a second one.',
  ...idempotentRoute(),
  request: { headers: IdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(CreateProductRequest) },
  responses: {
    ...created(ProductBody),
    ...merchantBodyErrors(
      ...idempotencyErrors,
      'idempotency_race',
      'invalid_product_type',
      'not_found',
      'state_conflict',
      'setup_not_ready',
      'invalid_wallet_address',
      'plan_limit_reached',
    ),
  },
});
const readiness = createRoute({
  method: 'get',
  path: '/access/setup/readiness',
  operationId: 'getReadiness',
  tags,
  summary: 'What is still missing for a sale, and the call that mends each',
  description:
    'Name a product to have a whole sale judged; without one only the account is. A sandbox key is answered for the sandbox, where ' +
    'whatever concerns the chain is skipped. `docs_url` of a check points at its meaning in this document.',
  ...merchantRoute('read'),
  request: { query: z.object({ ...ModeQuery, ...productRef, access_app_id: z.uuid().optional() }) },
  responses: { ...ok(ReadinessBody), ...merchantErrors('not_found') },
});
const railsOfNamed = createRoute({
  method: 'get',
  path: '/access/products/available-rails',
  operationId: 'listProductRailsByName',
  tags,
  summary: 'Every rail, and whether this product could be sold over it right now',
  ...merchantRoute('read'),
  request: { query: z.object({ ...ModeQuery, ...productRef }) },
  responses: { ...ok(pageOf(ProductRailBody, 'ProductRailPage')), ...merchantErrors('not_found') },
});
const railsOfProduct = createRoute({
  method: 'get',
  path: '/access/products/{product_id}/available-rails',
  operationId: 'listProductRails',
  tags,
  summary: 'The same, by the id of the product',
  ...merchantRoute('read'),
  request: { params: uuidParam('product_id'), query: z.object(ModeQuery) },
  responses: { ...ok(pageOf(ProductRailBody, 'ProductRailPage')), ...merchantErrors('not_found') },
});

const WHOLE = { page: 1, perPage: 100, offset: 0 };

export const setupRoutes = router()
  .openapi(createApp, async (c) => {
    const { actor, ctx } = c.var;
    const input = c.req.valid('json');
    const present = (app: Parameters<typeof toAppResource>[0]) => ({ status: 201, body: toAppResource(app) });
    const request = await idempotentRequest(c, { validated: input });
    return sendStored(c, await once(ctx, request, (keep) => commitKept(ctx, planApp(ctx, actor, input), keep), present));
  })
  .openapi(createProduct, async (c) => {
    const { actor, ctx } = c.var;
    const input = c.req.valid('json');
    const answer = await once<Parameters<typeof toProductResource>[1]>(
      ctx,
      await idempotentRequest(c, { validated: input }),
      async (keep) => {
        const planned = await planProduct(ctx, actor, input);
        return commitKept(ctx, planned, keep, (product) => explainRefusal(ctx, actor, product));
      },
      (product) => ({ status: 201, body: toProductResource(ctx, product) }),
    );
    return sendStored(c, answer);
  })
  .openapi(readiness, async (c) => {
    const { actor, ctx } = c.var;
    const query = c.req.valid('query');
    const isNamed = query.product_id !== undefined || query.external_product_id !== undefined;
    const asked = { appId: (query.access_app_id ?? null) as AppId | null, named: isNamed ? namedProduct(query, 'query') : null };
    return c.json(await checkReadiness(ctx, actor, asked), 200);
  })
  .openapi(railsOfNamed, async (c) => {
    const items = await listProductRails(c.var.ctx, c.var.actor, namedProduct(c.req.valid('query'), 'query'));
    return c.json(toPage(WHOLE, items.length, items), 200);
  })
  .openapi(railsOfProduct, async (c) => {
    const productId = c.req.valid('param').product_id as ProductId;
    const items = await listProductRails(c.var.ctx, c.var.actor, { productId });
    return c.json(toPage(WHOLE, items.length, items), 200);
  });
