// @module-tag volume
import { beforeAll, describe, expect, it } from 'vitest';
import { sweepFinality } from '#features/finality/watch.ts';
import { newCtx } from '#platform/context.ts';
import { distantDatabase } from '../support/faults/faults.ts';
import { claimKeyOfSql, multiply } from '../support/fixtures/multiply.ts';
import { consumer, deliveries, emit, type Habit, received } from '../support/people/consumer.ts';
import { SOAK } from '../support/runner/env.ts';
import { AttemptQueues, JOBS_BATCH, pause } from '../support/runner/queues.ts';
import { type Merchant, World } from '../support/world.ts';

const isSoak = SOAK > 1;
/** A database in the same region, and a distant node. */
const TRIP_MS = isSoak ? 20 : 0;
const NODE_MS = isSoak ? 300 : 0;
const MINUTE_SECONDS = 60;

const figure = (what: string, measured: string, required: string) => `${what}: ${measured} (required: ${required})`;

describe('finality of payments', () => {
  const RATE = 100;
  const COUNT = isSoak ? RATE * MINUTE_SECONDS : 1024;
  const PAGE = 256;
  const w = new World();

  it(`one sweep finalizes ${COUNT} confirmed payments with few sequential round trips`, { timeout: 240_000 }, async ({ annotate }) => {
    const product = await w.product(await w.merchant(), { access_period_days: 30 });
    const buyer = await w.chain.wallet();
    const { payment } = await w.purchase(product, buyer);
    const { payment_id: id } = payment;
    await w.deliver();
    const signatures = await landMany(w, buyer, COUNT);
    const like = { signature: "json_extract((SELECT value FROM land), '$[' || (i - 1) || ']')" };
    await w.env.DB.prepare('CREATE TABLE land (value TEXT)').run();
    await w.env.DB.prepare('INSERT INTO land VALUES (?)').bind(JSON.stringify(signatures)).run();
    const many = "printf('01900000-0000-7000-8000-%012d', i)";
    await multiply(w.env.DB, 'payments', 'id', id, COUNT, {
      id: many,
      nonce: "'many-' || i",
      tx_signature: like.signature,
      membership_id: 'NULL',
    });
    await multiply(w.env.DB, 'tx_claims', 'subject_id', id, COUNT, {
      subject_id: many,
      tx_signature: like.signature,
      tx_key: claimKeyOfSql(like.signature),
    });
    await w.env.DB.prepare('DROP TABLE land').run();
    await w.env.DB.prepare('UPDATE tx_claims SET next_check_at = 1, confirmed_at = confirmed_at - 61000 WHERE next_check_at > 0').run();
    await w.chain.call('local_warp', 14);
    if (NODE_MS > 0) await w.chain.fault({ kind: 'delay', ms: NODE_MS, times: 0 });
    const { database, traffic } = distantDatabase(w.env.DB, TRIP_MS);
    const startedAt = Date.now();
    const ctx = newCtx({ ...w.env, DB: database }, { requestId: 'req_rate', defer: () => {} });
    await sweepFinality(ctx);
    const seconds = (Date.now() - startedAt) / 1000;
    const isFinal = w.env.DB.prepare('SELECT count(finalized_at) AS n FROM payments WHERE product_id = ?').bind(product.product_id);
    expect(await isFinal.first<number>('n')).toBe(COUNT + 1);
    const pages = Math.ceil((COUNT + 1) / PAGE);
    await annotate(
      figure(
        'payments made final',
        `${COUNT + 1} in one sweep of ${seconds.toFixed(1)} s`,
        `${RATE}/s, so ${RATE * MINUTE_SECONDS} in a sweep a minute`,
      ),
    );
    await annotate(figure('trips it waits for, a page', (traffic.waits / pages).toFixed(1), 'at most 5'));
    expect(traffic.waits).toBeLessThanOrEqual(5 * pages + 4);
    expect(traffic.trips).toBeLessThanOrEqual(23 * pages + 4);
    if (isSoak) expect(seconds).toBeLessThan(MINUTE_SECONDS / 2);
  });
});

async function landMany(w: World, buyer: Awaited<ReturnType<World['chain']['wallet']>>, count: number): Promise<string[]> {
  const signatures: string[] = [];
  for (let from = 0; from < count; from += 500) {
    const memos = Array.from({ length: Math.min(500, count - from) }, () => crypto.randomUUID());
    signatures.push(...(await w.chain.landMany(buyer, memos)));
  }
  return signatures;
}

describe('webhooks with one dead endpoint among ten', () => {
  const RATE = 60;
  const ENDPOINTS = 10;
  const SECONDS = isSoak ? MINUTE_SECONDS : 5;
  const ON_TIME_MS = 2000;
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });

  it(`${RATE} new deliveries a second arrive at the nine others on time, in two round trips each`, { timeout: 240_000 }, async ({
    annotate,
  }) => {
    // In a soak the dead endpoint hangs for the full 15 s of an attempt.
    const habits: Habit[] = [isSoak ? 'hang' : 'fail', ...Array<Habit>(ENDPOINTS - 1).fill('ok')];
    const [dead, ...alive] = await Promise.all(habits.map((habit) => consumer(w, merchant, habit, { event_types: ['payout.*'] })));
    const { database, traffic } = distantDatabase(w.env.DB, TRIP_MS);
    const env = { ...w.env, DB: database };
    const queues = new AttemptQueues(w, env);
    const jobs = [];
    const startedAt = Date.now();
    for (let second = 0; second < SECONDS; second++) {
      jobs.push(...(await emit(w, merchant, RATE / ENDPOINTS)));
      w.queue.sent.length = 0;
      await w.deliver(jobs.splice(0, JOBS_BATCH), env);
      // A quick run counts trips and ignores the pace.
      if (isSoak) await pause(Math.max(0, startedAt + (second + 1) * 1000 - Date.now()));
    }
    await queues.end();
    const waits: number[] = [];
    for (const one of alive) {
      const rows = new Map((await deliveries(one)).map((row) => [String(row.id), row]));
      const got = await received(one);
      expect(got).toHaveLength((SECONDS * RATE) / ENDPOINTS);
      for (const { headers, at } of got) waits.push(at - rows.get(headers['x-svc-delivery-id']!)!.created_at);
    }
    waits.sort((a, b) => a - b);
    const p99 = waits[Math.ceil(waits.length * 0.99) - 1]!;
    const ofDead = (await deliveries(dead!)).reduce((sum, { attempt }) => sum + attempt, 0);
    await annotate(figure('deliveries to the nine, p99 from fan-out to arrival', `${p99} ms`, `${ON_TIME_MS} ms at ${RATE} a second`));
    // Two trips per attempt, four more per failure, two per event.
    const trips = 2 * waits.length + 6 * (ofDead + SECONDS * 6) + 2 * SECONDS * 6;
    await annotate(figure('trips to the database', `${traffic.trips}`, `at most ${trips}`));
    expect(traffic.trips).toBeLessThanOrEqual(trips);
    if (isSoak) expect(p99).toBeLessThanOrEqual(ON_TIME_MS);
  });
});
