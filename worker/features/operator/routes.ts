import { z } from '@hono/zod-openapi';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { routes } from '#platform/http/route.ts';
import { readDeadLetters, resendDeadLetters } from './dead-letters.ts';
import { showAccounts, showPayment, showTotals } from './lookup.ts';
import { rebuildNames } from './names/rebuild.ts';
import { reconcile } from './reconcile/reconcile.ts';

const facts = z.record(z.string(), z.unknown());
const list = z.object({ items: z.array(facts) });

export const operationRoutes = routes()
  .public({
    // POST rather than a query string, because access logs record URLs and the search may be an email.
    path: 'POST /v1/operator/accounts/search',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ account: z.string().min(1).max(254).optional(), before: z.uuid().optional() }),
    returns: list,
    codes: ['not_found'],
    answer: async ({ ctx, body }) => ({ items: await showAccounts(ctx, body) }),
  })
  .public({
    path: 'GET /v1/operator/payments/{payment}',
    bucket: 'operator',
    guards: [operatorOnly],
    params: z.object({ payment: z.string().min(1).max(100) }),
    returns: facts,
    codes: ['not_found'],
    answer: ({ ctx, params }) => showPayment(ctx, params.payment),
  })
  .public({
    path: 'GET /v1/operator/totals',
    bucket: 'operator',
    guards: [operatorOnly],
    returns: facts,
    codes: ['not_found'],
    answer: ({ ctx }) => showTotals(ctx),
  })
  .public({
    path: 'GET /v1/operator/dead-letters',
    bucket: 'operator',
    guards: [operatorOnly],
    returns: list,
    codes: ['not_found'],
    answer: async ({ ctx }) => ({ items: await readDeadLetters(ctx) }),
  })
  .public({
    path: 'POST /v1/operator/dead-letters',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ ids: z.union([z.literal('all'), z.array(z.string().min(1).max(100)).min(1).max(100)]) }),
    returns: list,
    codes: ['not_found'],
    answer: async ({ ctx, body }) => ({ items: await resendDeadLetters(ctx, body.ids) }),
  })
  .public({
    path: 'POST /v1/operator/names/rebuild',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({
      after: z
        .string()
        .regex(/^\d{1,5}\.[\w -]{0,100}$/)
        .optional(),
    }),
    returns: facts,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ ctx, body: { after = '' } }) => ({ ...(await rebuildNames(ctx, after)) }),
  })
  .public({
    path: 'POST /v1/operator/reconcile',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({
      since: z.iso.datetime({ offset: true }),
      after: z
        .string()
        .regex(/^\d{1,3}\.[\w-]{0,100}$/)
        .optional(),
    }),
    returns: facts,
    codes: ['not_found', 'rpc_unavailable'],
    answer: async ({ ctx, body: { since, after } }) => ({
      ...(await reconcile(ctx, { since: Date.parse(since), ...(after === undefined ? {} : { after }) })),
    }),
  });
