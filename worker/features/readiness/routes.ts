import { z } from '@hono/zod-openapi';
import type { AppId } from '#core/ids.ts';
import { namedProduct, productRef } from '#features/products/product-ref.ts';
import { idOf, ModeQuery } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { checkReadiness, ReadinessBody } from './readiness.ts';

export const readinessRoutes = routes('Set-up', 'products').read({
  path: 'GET /access/setup/readiness',
  id: 'getReadiness',
  sdk: 'setup.getReadiness',
  summary: 'Check readiness',
  description:
    'Checks a sale. With a product, checks the whole sale; without one, only the account. In the sandbox, checks of the chain are skipped. `/docs#readiness` describes each check.',
  query: z.object({
    ...ModeQuery,
    ...productRef,
    access_app_id: idOf<AppId>().optional().describe('Application that the product must belong to.'),
  }),
  returns: ReadinessBody,
  answer: async ({ scope, query }) => {
    const isNamed = query.product_id !== undefined || query.external_product_id !== undefined;
    const asked = { appId: query.access_app_id ?? null, named: isNamed ? namedProduct(query, 'query') : null };
    return await checkReadiness(scope, asked);
  },
});
