/**
 * Peer service for comparison, in its own process: Hono on Node with PostgreSQL. Requests, answers, key check and rate headers equal those
 * of the service. Validation, logging and usage counts of keys are omitted. The argument is the directory of the database socket.
 * @module
 */

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { serve } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import pg from 'pg';

/** 4 to 32 connections gave equal results on two cores. */
const POOL_MAX = 16;
const RATE_LIMIT = 1_000_000_000;
const RATE_WINDOW_MS = 1000;
const ACCOUNT = 'bench';
const UNIQUE_VIOLATION = '23505';

interface ConsumeBody {
  product_id: string;
  customer: { customer_ref: string };
  units: number;
}
type Row = { answer: string; rate_hits: number | null; is_replayed: boolean };

const pool = new pg.Pool({ host: process.argv[2]!, user: 'postgres', database: 'postgres', max: POOL_MAX, idleTimeoutMillis: 0 });
const pepper = randomBytes(32);
const rawKey = `svc_live_${randomBytes(19).toString('hex')}`;
const keyHashOf = (key: string): string => createHmac('sha256', pepper).update(`api-key\0${key}`).digest('hex');
const fingerprintOf = (text: string): string => createHash('sha256').update(text).digest('hex');
const counterOf = (productId: string, customerRef: string): string => `${ACCOUNT}:${productId}:${customerRef}`;

/** In-process rate counter: the fastest possible one, and correct only if the service runs as a single process. */
const windowOf = { openedAt: 0, hits: 0 };
function hitInMemory(now: number): number {
  if (now >= windowOf.openedAt + RATE_WINDOW_MS) Object.assign(windowOf, { openedAt: now, hits: 0 });
  windowOf.hits++;
  return windowOf.hits;
}

async function consume(values: unknown[]): Promise<Row> {
  const query = { name: 'consume', text: 'SELECT answer, rate_hits, is_replayed FROM consume($1, $2, $3, $4, $5, $6, $7)', values };
  try {
    return (await pool.query<Row>(query)).rows[0]!;
  } catch (error) {
    if ((error as { code?: string }).code !== UNIQUE_VIOLATION) throw error;
    return (await pool.query<Row>(query)).rows[0]!;
  }
}

async function handleConsume(c: Context, countsInDatabase: boolean): Promise<Response> {
  const now = Date.now();
  const key = c.req.header('X-Svc-Key') ?? '';
  const idempotencyKey = c.req.header('Idempotency-Key') ?? '';
  const text = await c.req.text();
  const { product_id: productId, customer, units } = JSON.parse(text) as ConsumeBody;
  const counter = counterOf(productId, customer.customer_ref);
  const limit = countsInDatabase ? RATE_LIMIT : null;
  const hits = countsInDatabase ? null : hitInMemory(now);
  const row = await consume([keyHashOf(key), counter, idempotencyKey, fingerprintOf(text), units, limit, now]);
  c.header('X-RateLimit-Limit', String(RATE_LIMIT));
  c.header('X-RateLimit-Remaining', String(RATE_LIMIT - (hits ?? row.rate_hits ?? 0)));
  if (row.answer.length === 3) return c.json({ code: row.answer }, Number(row.answer) as 403);
  if (row.is_replayed) c.header('Idempotent-Replayed', 'true');
  return c.body(row.answer, 200, { 'content-type': 'application/json' });
}

const app = new Hono();
app.get('/bench/empty', (c) => c.text('ok'));
app.post('/v1/access/entitlements/consume', (c) => handleConsume(c, true));
app.post('/memory/v1/access/entitlements/consume', (c) => handleConsume(c, false));
app.post('/bench/account', async (c) => {
  await pool.query('INSERT INTO keys VALUES ($1, $2) ON CONFLICT DO NOTHING', [keyHashOf(rawKey), ACCOUNT]);
  await pool.query('INSERT INTO rates VALUES ($1, 0, 0) ON CONFLICT DO NOTHING', [ACCOUNT]);
  return c.json({ rawKey, productId: 'product' });
});
app.post('/bench/grant', async (c) => {
  const { customerRefs } = await c.req.json<{ customerRefs: string[] }>();
  const ids = customerRefs.map((ref) => counterOf('product', ref));
  await pool.query('INSERT INTO counters SELECT id, 1000000000, 0, 1 FROM unnest($1::text[]) AS id', [ids]);
  return c.json({});
});
app.post('/bench/used', async (c) => {
  const { customerRefs } = await c.req.json<{ customerRefs: string[] }>();
  const ids = customerRefs.map((ref) => counterOf('product', ref));
  const { rows } = await pool.query('SELECT sum(used)::int AS used FROM counters WHERE id = ANY($1)', [ids]);
  return c.json({ used: rows[0].used });
});

serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => process.send?.({ port }));
process.on('disconnect', () => process.exit(0));
