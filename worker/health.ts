import { createRoute, z } from '@hono/zod-openapi';
import { sql } from 'drizzle-orm';
import type { Ctx } from './context.ts';
import { iso } from './core/time.ts';
import { router, Timestamp } from './http/openapi.ts';
import { VERSION } from './version.ts';

const Check = z.enum(['ok', 'failing']);
const HealthResponse = z
  .object({ status: z.enum(['ok', 'degraded']), version: z.string(), time: Timestamp, checks: z.object({ database: Check, rpc: Check }) })
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

async function checkHealth(ctx: Ctx) {
  const [database, rpc] = await Promise.all([
    ctx.db.run(sql`SELECT 1`).then(
      () => true,
      () => false,
    ),
    ctx.chain.isHealthy(),
  ]);
  const word = (isWell: boolean) => (isWell ? 'ok' : 'failing') as z.infer<typeof Check>;
  const health = {
    status: database && rpc ? ('ok' as const) : ('degraded' as const),
    version: VERSION,
    time: iso(ctx.now),
    checks: { database: word(database), rpc: word(rpc) },
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
