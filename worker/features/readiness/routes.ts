import { z } from '@hono/zod-openapi';
import type { AppId } from '#core/ids.ts';
import { namedProduct, productRef } from '#features/products/product-ref.ts';
import { idOf, ModeQuery } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { CHECKS } from './checks.ts';
import { checkReadiness, ReadinessBody } from './readiness.ts';

export const readinessRoutes = routes('Set-up').read({
  path: 'GET /access/setup/readiness',
  id: 'getReadiness',
  summary: 'Check readiness',
  description:
    'Name a product to have a whole sale judged; without one only the account is. A sandbox key is answered for the sandbox, where ' +
    `whatever concerns the chain is skipped. ${Object.entries(CHECKS)
      .map(([code, meaning]) => `\`${code}\`: ${meaning}`)
      .join(' ')}`,
  query: z.object({ ...ModeQuery, ...productRef, access_app_id: idOf<AppId>().optional() }),
  returns: ReadinessBody,
  answer: async ({ scope, query }) => {
    const isNamed = query.product_id !== undefined || query.external_product_id !== undefined;
    const asked = { appId: query.access_app_id ?? null, named: isNamed ? namedProduct(query, 'query') : null };
    return await checkReadiness(scope, asked);
  },
});
