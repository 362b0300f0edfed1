import { createRoute, z } from '@hono/zod-openapi';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { publicBodyErrors } from '#platform/http/callers.ts';
import { jsonBody, ok, router } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { turnSwitch } from './switches.ts';

const route = createRoute({
  method: 'post',
  path: '/v1/operator/switches',
  hide: true,
  middleware: [publicBucket('operator'), operatorOnly] as const,
  request: jsonBody(z.object({ subject: z.string().max(100), to: z.enum(['on', 'off']) })),
  responses: {
    ...ok(z.object({ switched_off: z.array(z.string()) })),
    ...publicBodyErrors('not_found', 'rate_limited'),
  },
});

export const switchRoutes = router().openapi(route, async (c) => {
  const { subject, to } = c.req.valid('json');
  return c.json({ switched_off: await turnSwitch(c.var.ctx, subject, to) }, 200);
});
