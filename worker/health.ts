import { createRoute, z } from '@hono/zod-openapi';
import { type Ctx, hasPriceSource } from './context.ts';
import { iso, MINUTE } from './core/time.ts';
import { orNull, router, Timestamp } from './http/openapi.ts';
import { isPriceHealthy } from './providers/price.ts';
import { VERSION } from './version.ts';

/** `not_configured`: this deployment has no such thing to ask. */
const Check = z.enum(['ok', 'failing', 'not_configured']);
const HealthResponse = z
  .object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    time: Timestamp,
    database_used: orNull(z.number()).openapi({
      description: 'Part of the 10 GB a database holds that is taken; degraded from 0.7 on. Null while it does not answer.',
    }),
    checks: z.object({ database: Check, queue: Check, rpc: Check, price_source: Check, processor: Check }),
  })
  .openapi('HealthResponse');

const route = (path: '/health' | '/v1/health', operationId: string) =>
  createRoute({
    method: 'get',
    path,
    operationId,
    tags: ['System'],
    summary: 'Is the service well?',
    responses: {
      200: {
        description: 'Serving; degraded where something it depends on is not',
        content: { 'application/json': { schema: HealthResponse } },
      },
      503: { description: 'The database does not answer', content: { 'application/json': { schema: HealthResponse } } },
    },
  });

const STALLED_MS = 30 * MINUTE;
/** What one D1 database may hold; and from which part of it on something has to be done. (Cloudflare, D1 limits) */
const DATABASE_MAX_BYTES = 10e9;
const FULL_FROM = 0.7;

async function checkHealth(ctx: Ctx) {
  // Money that was not looked for so long means that neither the queue nor the sweeps behind it run. What strangers name says nothing.
  const stalled = ctx.env.DB.prepare(
    `SELECT EXISTS (SELECT 1 FROM payment_candidates WHERE origin IN ('found', 'sent') AND next_check_at < ?) AS n`,
  ).bind(ctx.now - STALLED_MS);
  const { config } = ctx;
  const [asked, rpc, prices] = await Promise.all([
    stalled.all<{ n: number }>().catch(() => null),
    ctx.chain.isHealthy(ctx.now),
    hasPriceSource(config) ? isPriceHealthy(config.PRICE_URL, ctx.now) : null,
  ]);
  const [database, queue] = [asked !== null, asked?.results[0]?.n === 0];
  const used = asked && Math.round((asked.meta.size_after / DATABASE_MAX_BYTES) * 10_000) / 10_000;
  const word = (isWell: boolean) => (isWell ? 'ok' : 'failing') as z.infer<typeof Check>;
  const health = {
    status: database && queue && rpc && prices !== false && (used ?? 0) < FULL_FROM ? ('ok' as const) : ('degraded' as const),
    version: VERSION,
    time: iso(ctx.now),
    database_used: used,
    checks: {
      database: word(database),
      queue: word(queue),
      rpc: word(rpc),
      price_source: prices === null ? ('not_configured' as const) : word(prices),
      processor: 'not_configured' as const,
    },
  };
  return { health, status: database ? (200 as const) : (503 as const) };
}

export const healthRoutes = router()
  .openapi(route('/health', 'getHealth'), async (c) => {
    const { health, status } = await checkHealth(c.var.ctx);
    return c.json(health, status);
  })
  .openapi(route('/v1/health', 'getHealthV1'), async (c) => {
    const { health, status } = await checkHealth(c.var.ctx);
    return c.json(health, status);
  });
