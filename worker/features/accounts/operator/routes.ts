import { z } from '@hono/zod-openapi';
import { routes } from '#platform/http/route.ts';
import { OPERATOR_ACTIONS, operateAccount } from './operator.ts';
import { operatorOnly } from './operator-only.ts';

export const operatorRoutes = routes().public({
  path: 'POST /v1/operator/accounts',
  bucket: 'operator',
  guards: [operatorOnly],
  body: z.object({ account: z.string().min(1).max(254), action: z.enum(OPERATOR_ACTIONS) }),
  returns: z.object({ user_id: z.uuid(), status: z.string(), is_staff: z.boolean() }),
  codes: ['not_found', 'state_conflict'],
  answer: async ({ ctx, body }) => {
    const account = await operateAccount(ctx, body);
    return { user_id: account.id, status: account.status, is_staff: account.isStaff };
  },
});
