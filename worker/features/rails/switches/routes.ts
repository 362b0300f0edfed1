import { z } from '@hono/zod-openapi';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { routes } from '#platform/http/route.ts';
import { turnSwitch } from './switches.ts';

export const switchRoutes = routes().public({
  path: 'POST /v1/operator/switches',
  bucket: 'operator',
  guards: [operatorOnly],
  body: z.object({ subject: z.string().max(100), to: z.enum(['on', 'off']) }),
  returns: z.object({ switched_off: z.array(z.string()) }),
  codes: ['not_found'],
  answer: async ({ ctx, body: { subject, to } }) => ({ switched_off: await turnSwitch(ctx, subject, to) }),
});
