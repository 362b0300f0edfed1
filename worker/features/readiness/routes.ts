import { createRoute, z } from '@hono/zod-openapi';
import type { AppId } from '#core/ids.ts';
import { namedProduct, productRef } from '#features/products/product-ref.ts';
import { merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { idOf, ModeQuery, ok, router } from '#platform/http/openapi.ts';
import { CHECKS } from './checks.ts';
import { checkReadiness, ReadinessBody } from './readiness.ts';

const tags = ['Set-up'];
const readiness = createRoute({
  method: 'get',
  path: '/access/setup/readiness',
  operationId: 'getReadiness',
  tags,
  summary: 'Check readiness',
  description:
    'Name a product to have a whole sale judged; without one only the account is. A sandbox key is answered for the sandbox, where ' +
    `whatever concerns the chain is skipped. ${Object.entries(CHECKS)
      .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
      .join(' ')}`,
  ...merchantRoute('read'),
  request: { query: z.object({ ...ModeQuery, ...productRef, access_app_id: idOf<AppId>().optional() }) },
  responses: { ...ok(ReadinessBody), ...merchantErrors() },
});

export const readinessRoutes = router().openapi(readiness, async (c) => {
  const { scope: ctx } = c.var;
  const query = c.req.valid('query');
  const isNamed = query.product_id !== undefined || query.external_product_id !== undefined;
  const asked = { appId: query.access_app_id ?? null, named: isNamed ? namedProduct(query, 'query') : null };
  return c.json(await checkReadiness(ctx, asked), 200);
});
