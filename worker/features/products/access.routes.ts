import { createRoute, z } from '@hono/zod-openapi';
import { commitWithAnswer, once } from '#platform/db/once.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { idempotentRoute, merchantBodyErrors } from '#platform/http/callers.ts';
import { IdempotencyHeader, idempotencyErrors, idempotentRequest, sendStored } from '#platform/http/idempotency-key.ts';
import { created, jsonBody, ModeQuery, router } from '#platform/http/openapi.ts';
import { AppBody, CreateAppRequest, planApp, toAppResource } from './apps.ts';
import { explainRefusal, planProduct } from './product.ts';
import { CreateProductRequest } from './resource.ts';
import { CreatedProductBody, toCreatedProduct } from './selling/warnings.ts';

const tags = ['Set-up'];

const createApp = createRoute({
  method: 'post',
  path: '/access/apps',
  operationId: 'createAccessApp',
  tags,
  summary: 'Create an app',
  description: 'Name an application that your products belong to.',
  ...idempotentRoute(),
  request: { headers: IdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(CreateAppRequest) },
  responses: { ...created(AppBody), ...merchantBodyErrors(...idempotencyErrors, 'idempotency_race') },
});

const createProduct = createRoute({
  method: 'post',
  path: '/access/products',
  operationId: 'createAccessProduct',
  tags,
  summary: 'Create a product, retry-safe',
  description:
    'The same product as POST /v1/products makes, in every rule; here the Idempotency-Key keeps a retry from making a second one.',
  ...idempotentRoute(),
  request: { headers: IdempotencyHeader, query: z.object(ModeQuery), ...jsonBody(CreateProductRequest) },
  responses: {
    ...created(CreatedProductBody),
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

export const accessProductRoutes = router()
  .openapi(createApp, async (c) => {
    const { scope: ctx } = c.var;
    const input = c.req.valid('json');
    const present = (app: Parameters<typeof toAppResource>[0]) => ({ status: 201, body: toAppResource(app) });
    const request = await idempotentRequest(c);
    return sendStored(c, await once(ctx, request, (storeAnswer) => commitWithAnswer(ctx, planApp(ctx, input), storeAnswer), present));
  })
  .openapi(createProduct, async (c) => {
    const { actor, scope: ctx } = c.var;
    const input = c.req.valid('json');
    const answer = await once<Product>(
      ctx,
      await idempotentRequest(c),
      async (storeAnswer) => {
        const planned = await planProduct(ctx, actor, input);
        return commitWithAnswer(ctx, planned, storeAnswer, (product) => explainRefusal(ctx, actor, product));
      },
      async (product) => ({ status: 201, body: await toCreatedProduct(ctx, product, input) }),
    );
    return sendStored(c, answer);
  });
