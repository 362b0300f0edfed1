import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import { routes } from '#platform/http/route.ts';
import { OPERATOR_ACTIONS, operateAccount } from './operator.ts';
import { operatorOnly } from './operator-only.ts';
import { beginFactorsReset, setEmail } from './owner-access.ts';

const Named = z.string().min(1).max(254);

export const operatorRoutes = routes()
  .public({
    path: 'POST /v1/operator/accounts',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ account: Named, action: z.enum(OPERATOR_ACTIONS) }),
    returns: z.object({ user_id: z.uuid(), status: z.string(), is_staff: z.boolean() }),
    codes: ['not_found', 'state_conflict'],
    answer: async ({ ctx, body }) => {
      const account = await operateAccount(ctx, body);
      return { user_id: account.id, status: account.status, is_staff: account.isStaff };
    },
  })
  .public({
    path: 'POST /v1/operator/accounts/email',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ account: Named, email: z.email().max(254) }),
    returns: z.object({ user_id: z.uuid(), email: z.string() }),
    codes: ['not_found', 'email_registered', 'state_conflict'],
    answer: async ({ ctx, body }) => {
      const { id, email } = await setEmail(ctx, body);
      return { user_id: id, email: email! };
    },
  })
  .public({
    path: 'POST /v1/operator/accounts/reset-factors',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ account: Named }),
    returns: z.object({ user_id: z.uuid(), ends_at: z.string() }),
    codes: ['not_found', 'state_conflict'],
    answer: async ({ ctx, body }) => {
      const { id, factorsEndAt } = await beginFactorsReset(ctx, body);
      return { user_id: id, ends_at: iso(factorsEndAt!) };
    },
  });
