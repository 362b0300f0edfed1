import { createRoute, z } from '@hono/zod-openapi';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { publicBodyErrors } from '#platform/http/callers.ts';
import { jsonBody, ok, router } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { readDeadLetters, resendDeadLetters } from './dead-letters.ts';
import { lookAtAccounts, lookAtPayment, lookAtTotals } from './look.ts';
import { reconcile } from './reconcile/reconcile.ts';

const guards = [publicBucket('operator'), operatorOnly];
const refusals = publicBodyErrors('not_found', 'rate_limited');
const facts = z.record(z.string(), z.unknown());
const list = z.object({ items: z.array(facts) });

const accounts = createRoute({
  method: 'post',
  // Not a query string: access logs keep those, and it may be an e-mail.
  path: '/v1/operator/accounts/search',
  hide: true,
  middleware: guards,
  request: jsonBody(z.object({ account: z.string().min(1).max(254).optional(), before: z.uuid().optional() })),
  responses: { ...ok(list), ...refusals },
});

const payment = createRoute({
  method: 'get',
  path: '/v1/operator/payments/{payment}',
  hide: true,
  middleware: guards,
  request: { params: z.object({ payment: z.string().min(1).max(100) }) },
  responses: { ...ok(facts), ...refusals },
});

const totals = createRoute({
  method: 'get',
  path: '/v1/operator/totals',
  hide: true,
  middleware: guards,
  responses: { ...ok(facts), ...refusals },
});

const deadLetters = createRoute({
  method: 'get',
  path: '/v1/operator/dead-letters',
  hide: true,
  middleware: guards,
  responses: { ...ok(list), ...refusals },
});

const resend = createRoute({
  method: 'post',
  path: '/v1/operator/dead-letters',
  hide: true,
  middleware: guards,
  request: jsonBody(z.object({ ids: z.union([z.literal('all'), z.array(z.string().min(1).max(100)).min(1).max(100)]) })),
  responses: { ...ok(list), ...refusals },
});

const agree = createRoute({
  method: 'post',
  path: '/v1/operator/reconcile',
  hide: true,
  middleware: guards,
  request: jsonBody(
    z.object({
      since: z.iso.datetime({ offset: true }),
      after: z
        .string()
        .regex(/^\d{1,3}\.[\w-]{0,100}$/)
        .optional(),
    }),
  ),
  responses: { ...ok(facts), ...publicBodyErrors('not_found', 'rate_limited', 'rpc_unavailable') },
});

/** What `npm run admin` looks at; nothing of it is in the document. */
export const operationRoutes = router()
  .openapi(accounts, async (c) => c.json({ items: await lookAtAccounts(c.var.ctx, c.req.valid('json')) }, 200))
  .openapi(payment, async (c) => c.json(await lookAtPayment(c.var.ctx, c.req.valid('param').payment), 200))
  .openapi(totals, async (c) => c.json(await lookAtTotals(c.var.ctx), 200))
  .openapi(deadLetters, async (c) => c.json({ items: await readDeadLetters(c.var.ctx) }, 200))
  .openapi(resend, async (c) => c.json({ items: await resendDeadLetters(c.var.ctx, c.req.valid('json').ids) }, 200))
  .openapi(agree, async (c) => {
    const { since, after } = c.req.valid('json');
    return c.json({ ...(await reconcile(c.var.ctx, { since: Date.parse(since), ...(after === undefined ? {} : { after }) })) }, 200);
  });
