/**
 * Entry of the service for `npm run bench`. A request may ask for its cost at the database and the objects.
 * @module
 */

import type { Env } from '#platform/context.ts';
import { seedFigures } from '../../../test/support/fixtures/many-analytics.ts';
import { copyReceipt } from '../../../test/support/fixtures/multiply.ts';
import { withReadableIds } from '../../../test/support/runner/readable-ids.ts';
import { rowsOf, withRowCount, writtenBy } from '../../../test/support/runner/rows-read.ts';
import service from '../../../worker/index.ts';
import type { Counted } from '../load/load.ts';

export { Admission, Entitlement, MeteredSession } from '../../../worker/index.ts';

const YEAR_MS = 365 * 86_400_000;
const none = (): Counted => ({ rowsRead: 0, rowsWritten: 0, objectCalls: 0 });
let queued = none();
let countsQueues = false;

function counting(env: Env): { env: Env; counted: () => Counted } {
  const { env: read, readings } = withRowCount(env);
  let objectCalls = 0;
  const namespace = <T extends object>(real: T): T =>
    new Proxy(real, {
      get: (target, name) =>
        name === 'getByName' ? (id: string) => object((target as unknown as Env['ADMISSION']).getByName(id)) : Reflect.get(target, name),
    });
  const object = (stub: object) =>
    new Proxy(stub, {
      get:
        (target, name) =>
        (...args: unknown[]) => {
          objectCalls++;
          return (target as Record<PropertyKey, (...args: unknown[]) => unknown>)[name]!(...args);
        },
    });
  return {
    env: { ...read, ADMISSION: namespace(env.ADMISSION), ENTITLEMENT: namespace(env.ENTITLEMENT) },
    counted: () => ({ rowsRead: rowsOf(readings), rowsWritten: writtenBy(readings), objectCalls }),
  };
}

async function countRequest(request: Request, env: Env, execution: ExecutionContext): Promise<Response> {
  const { env: own, counted } = counting(env);
  const deferred: Promise<unknown>[] = [];
  const waiting = { waitUntil: (work: Promise<unknown>) => deferred.push(work), passThroughOnException: () => {}, props: {} };
  const answer = await service.fetch(request, own, { ...execution, ...waiting } as unknown as ExecutionContext);
  await answer.arrayBuffer();
  await Promise.all(deferred);
  return Response.json(counted(), { status: answer.status });
}

export default {
  fetch: async (request: Request, env, execution) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/bench/receipts') {
      const { receiptId, times } = await request.json<{ receiptId: string; times: number }>();
      await copyReceipt(withReadableIds(env.DB), receiptId, times);
      return Response.json({});
    }
    if (pathname === '/bench/figures') {
      const { paymentId, payments } = await request.json<{ paymentId: string; payments: number }>();
      const db = withReadableIds(env.DB);
      await db
        .prepare("UPDATE payments SET status = 'CONFIRMED', tx_signature = 'bench', confirmed_at = created_at WHERE id = ?")
        .bind(paymentId)
        .run();
      await seedFigures(db, paymentId, payments);
      return Response.json({});
    }
    if (pathname === '/bench/plan') {
      // Raises the account's plan so that no plan limit affects the measurement.
      await env.DB.prepare("UPDATE accounts SET plan = 'scale', plan_through = ?")
        .bind(Date.now() + YEAR_MS)
        .run();
      return Response.json({});
    }
    if (pathname === '/bench/sandboxes') {
      const running = await env.DB.prepare("SELECT count(*) AS n FROM sandbox_sessions WHERE status = 'running'").first<number>('n');
      return Response.json({ running });
    }
    if (pathname === '/bench/queued') {
      const before = queued;
      countsQueues = request.method === 'POST';
      queued = none();
      return Response.json(before);
    }
    return request.headers.has('X-Bench-Count') ? countRequest(request, env, execution) : service.fetch(request, env, execution);
  },
  queue: async (batch, env, execution) => {
    if (!countsQueues) return service.queue(batch, env, execution);
    const { env: own, counted } = counting(env);
    await service.queue(batch, own, execution);
    for (const [name, count] of Object.entries(counted())) queued[name as keyof Counted] += count;
  },
  scheduled: service.scheduled,
} satisfies ExportedHandler<Env>;
