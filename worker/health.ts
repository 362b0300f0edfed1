import { createRoute, z } from '@hono/zod-openapi';
import { sql } from 'drizzle-orm';
import { type Ctx, hasPriceSource } from './context.ts';
import { iso, MINUTE, SECOND } from './core/time.ts';
import { fullness } from './db/vital-signs.ts';
import { errors, orNull, router, Timestamp } from './http/openapi.ts';
import { isPriceHealthy } from './providers/price.ts';
import { VERSION } from './version.ts';

/** `not_configured`: this deployment has no such thing to ask. */
const Check = z.enum(['ok', 'failing', 'not_configured']);
const HealthResponse = z
  .object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    time: Timestamp,
    checks: z.object({ database: Check, queue: Check, rpc: Check, price_source: Check, processor: Check }),
    database_used: orNull(z.number()).openapi({
      description: 'How full the database is, from 0 to 1; from 0.7 on the status is degraded. null where it does not answer.',
    }),
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
      ...errors('rate_limited'),
      503: { description: 'The database does not answer', content: { 'application/json': { schema: HealthResponse } } },
    },
  });

const STALLED_MS = 30 * MINUTE;

interface Waiting {
  stalled: number;
  fullness: ReturnType<typeof fullness>;
}

/** What the database said last, by the environment that asked: anybody may ask for our health, all day. A failure is not remembered. */
const REMEMBERED_MS = 5 * SECOND;
const remembered = new WeakMap<object, { until: number; waiting: Waiting }>();

async function readWaiting(ctx: Ctx): Promise<Waiting | null> {
  const known = remembered.get(ctx.env);
  if (known && ctx.now < known.until) return known.waiting;
  // Money that was not looked for so long means that neither the queue nor the sweeps behind it run. What strangers name says nothing.
  const stalled = sql`SELECT EXISTS (SELECT 1 FROM payment_candidates
    WHERE origin IN ('found', 'sent') AND next_check_at < ${ctx.now - STALLED_MS}) AS n`;
  try {
    const {
      results: [row],
      meta,
    } = await ctx.db.run(stalled);
    const waiting = { stalled: (row as { n: number }).n, fullness: fullness(meta.size_after) };
    remembered.set(ctx.env, { until: ctx.now + REMEMBERED_MS, waiting });
    return waiting;
  } catch {
    return null;
  }
}

async function checkHealth(ctx: Ctx) {
  const { config } = ctx;
  const [waiting, rpc, prices] = await Promise.all([
    readWaiting(ctx),
    ctx.chain.isHealthy(ctx.now),
    hasPriceSource(config) ? isPriceHealthy(config.PRICE_URL, ctx.now) : null,
  ]);
  const [database, queue] = [waiting !== null, waiting?.stalled === 0];
  const hasRoom = waiting?.fullness.isWarning === false;
  const word = (isWell: boolean) => (isWell ? 'ok' : 'failing') as z.infer<typeof Check>;
  const health = {
    status: database && hasRoom && queue && rpc && prices !== false ? ('ok' as const) : ('degraded' as const),
    version: VERSION,
    time: iso(ctx.now),
    checks: {
      database: word(database),
      queue: word(queue),
      rpc: word(rpc),
      price_source: prices === null ? ('not_configured' as const) : word(prices),
      processor: 'not_configured' as const,
    },
    database_used: waiting?.fullness.used ?? null,
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
