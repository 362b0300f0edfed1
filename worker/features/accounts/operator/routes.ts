import { createRoute, z } from '@hono/zod-openapi';
import { publicBodyErrors } from '#platform/http/callers.ts';
import { jsonBody, ok, router } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { OPERATOR_ACTIONS, operateAccount } from './operator.ts';
import { operatorOnly } from './operator-only.ts';

const operate = createRoute({
  method: 'post',
  path: '/v1/operator/accounts',
  hide: true,
  middleware: [publicBucket('operator'), operatorOnly] as const,
  request: jsonBody(z.object({ account: z.string().min(1).max(254), action: z.enum(OPERATOR_ACTIONS) })),
  responses: {
    ...ok(z.object({ user_id: z.uuid(), status: z.string(), is_staff: z.boolean() })),
    ...publicBodyErrors('not_found', 'state_conflict', 'rate_limited'),
  },
});

export const operatorRoutes = router().openapi(operate, async (c) => {
  const account = await operateAccount(c.var.ctx, c.req.valid('json'));
  return c.json({ user_id: account.id, status: account.status, is_staff: account.isStaff }, 200);
});
