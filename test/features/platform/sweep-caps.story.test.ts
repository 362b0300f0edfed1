// @module-tag volume
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { CALLS_MAX, currentBudget, withBudget } from '#core/isolate/budget.ts';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { sweepAnalytics } from '#features/analytics/fold.ts';
import { sweepFinality } from '#features/finality/watch.ts';
import { sweepCandidates } from '#features/payments/watch/recheck.ts';
import { sweepReference } from '#features/payments/watch/reference-scan.ts';
import { sweepArchive } from '#features/retention/archive.ts';
import { sweepDeliveries } from '#features/webhooks/deliveries/fan-out.ts';
import { type Env, newCtx, type Shard } from '#platform/context.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import { distantDatabase } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { putRow } from '../../support/fixtures/put-row.ts';
import { consumer, emit } from '../../support/people/consumer.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Sales of one database in a minute. */
const SALES = 15_000;
/** Assumed times of a call, ms. */
const TRIP_MS = { database: 30, node: 200, bucket: 50, queue: 30 };
const ROUNDS_A_MINUTE = 20;
const LANES = 6;

interface Cost {
  taken: number;
  rounds: number;
  /** Database trips: those that wait for each other, and all of them. */
  waits: number;
  trips: number;
  nodeCalls: number;
  /** Calls to bindings and nodes in the largest round. */
  calls: number;
}

describe('rows that a sweep takes in a minute', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let merchant: Merchant;
  let product: { product_id: string; slug: string };
  let sale: { payment_id: string; signature: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant, { access_period_days: 30 });
    const { payment, signature } = await w.purchase(product, await w.chain.wallet());
    sale = { payment_id: payment.payment_id, signature };
    await w.sweepAll();
  });
  afterEach(() => {
    w.queue.sent.length = 0;
    w.attempts.length = 0;
  });

  const signature = () => base58.encode(crypto.getRandomValues(new Uint8Array(64)));

  /** Runs a sweep by rounds on a moved clock, with a node that answers for any transaction. */
  async function rounds(
    sweep: (ctx: Shard, last?: unknown) => Promise<Swept>,
    { now = Date.now(), chain = {}, roundsMax = ROUNDS_A_MINUTE }: { now?: number; chain?: object; roundsMax?: number } = {},
  ): Promise<Cost> {
    const { database, traffic } = distantDatabase(w.env.DB, 0);
    const cost = { taken: 0, rounds: 0, nodeCalls: 0, calls: 0 };
    const counted = Object.fromEntries(
      Object.entries(chain).map(([name, answer]) => [
        name,
        async (...args: unknown[]) => {
          cost.nodeCalls++;
          return (answer as (...args: unknown[]) => unknown)(...args);
        },
      ]),
    );
    let swept: Swept = { taken: 0, end: 'bound' };
    while (swept.end === 'bound' && cost.rounds < roundsMax) {
      const { last } = swept;
      const spent = await withBudget(async () => {
        const ctx = newCtx({ ...w.env, DB: database } as Env, { requestId: 'req_caps', wallNow: now, now, defer: () => {} });
        swept = await sweep({ ...ctx, chain: Object.assign(Object.create(ctx.chain), counted) }, last);
        return currentBudget().spent;
      });
      cost.taken += swept.taken;
      cost.calls = Math.max(cost.calls, spent);
      cost.rounds++;
    }
    expect(swept.end).not.toBe('paused');
    return { ...cost, ...traffic };
  }
  /** Trips of parallel lanes overlap, so they count by the lanes. */
  const perMinute = ({ taken, waits, trips, nodeCalls }: Cost, otherMs = 0) =>
    (taken * MINUTE) / (Math.max(waits, trips / LANES) * TRIP_MS.database + nodeCalls * TRIP_MS.node + otherMs);

  it('finality: 256 transactions take one node call and a few batches', async () => {
    const times = 1024;
    await multiply(w.env.DB, 'payments', 'id', sale.payment_id, times, {
      id: "printf('01900000-0000-7000-8000-%012d', i)",
      nonce: "'final-' || i",
      reference: "'final-' || i",
      tx_signature: "'final-' || i",
      finalized_at: 'NULL',
      version: '3',
    });
    await multiply(w.env.DB, 'tx_claims', 'tx_signature', sale.signature, times, {
      tx_signature: "'final-' || i",
      tx_key: "'final-' || i",
      subject_id: "printf('01900000-0000-7000-8000-%012d', i)",
      final_at: 'NULL',
      next_check_at: '1',
    });
    const finalityOf = (due: unknown[]) => ({ kind: 'finality', finality: due.map(() => ({ kind: 'finalized', slot: 1 })) });
    const cost = await rounds(sweepFinality, { chain: { finalityOf } });
    expect([cost.taken, cost.nodeCalls]).toEqual([times, times / 256]);
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM payments WHERE finalized_at IS NOT NULL').first('n')).toBe(times);
    expect(perMinute(cost)).toBeGreaterThan(SALES);
  });

  it('candidates: each cron sends a backlog of 15,000 to the queue once, while the rounds go on', async () => {
    const times = 16_000;
    for (let from = 0; from < times; from += 4_000)
      await w.env.DB.prepare(
        `INSERT INTO payment_candidates (payment_id, tx_signature, origin, attempt, next_check_at, created_at, merchant_id)
         SELECT ?1, value, 'found', 0, 1, ?2, ?3 FROM json_each(?4)`,
      )
        .bind(sale.payment_id, Date.now() - HOUR, merchant.userId, JSON.stringify(Array.from({ length: 4_000 }, signature)))
        .run();
    const findTransactions = (asked: string[]) => ({
      kind: 'sightings',
      finalHeight: null,
      sightings: asked.map(() => ({ kind: 'not_found' })),
    });
    const first = await rounds(sweepCandidates('found'), { chain: { findTransactions }, roundsMax: 1 });
    const queued = w.queue.sent.flatMap(({ job }) => (job.kind === 'recheckCandidates' ? [job.candidates] : []));
    expect(new Set(queued.flat().map(({ txSignature }) => txSignature)).size).toBe(SALES);
    expect(Math.max(...queued.map(({ length }) => length))).toBe(10);
    expect(first.calls).toBeLessThan(CALLS_MAX);
    const sent = w.queue.sent.length;
    const next = await rounds((ctx) => sweepCandidates('found')(ctx, true), { chain: { findTransactions } });
    expect(w.queue.sent.slice(sent).filter(({ job }) => job.kind === 'recheckCandidates')).toEqual([]);
    expect(first.taken + next.taken).toBe(times);
    await w.env.DB.prepare('DELETE FROM payment_candidates').run();
  });

  it('candidates: the job of a group confirms its payments, and a repeated job changes nothing', async () => {
    const payment = await w.connect(product);
    const paid = await w.chain.pay(await w.chain.wallet(), payment);
    const found = [...Array.from({ length: 150 }, () => [sale.payment_id, signature()]), [payment.payment_id, paid]];
    for (const [payment_id, tx_signature] of found)
      await putRow(w.env.DB, 'payment_candidates', {
        payment_id,
        tx_signature,
        origin: 'found',
        attempt: 9,
        next_check_at: 1,
        created_at: 1,
        merchant_id: merchant.userId,
      });
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = 2 WHERE tx_signature = ?').bind(paid).run();
    // Ends after the first group and its messages.
    const spent = () => ({ kind: 'unavailable', reason: 'a test' });
    let asked = 0;
    const findTransactions = (signatures: string[]) =>
      asked++ === 0 ? { kind: 'sightings', finalHeight: null, sightings: signatures.map(() => ({ kind: 'not_found' })) } : spent();
    const ctx = newCtx(w.env, { requestId: 'req_group', defer: () => {} });
    await sweepCandidates('found')({ ...ctx, chain: Object.assign(Object.create(ctx.chain), { findTransactions }) });
    const jobs = w.queue.sent.splice(0).flatMap(({ job }) => (job.kind === 'recheckCandidates' ? [job] : []));
    expect(jobs.flatMap(({ candidates }) => candidates)).toHaveLength(131);
    await w.deliver(jobs);
    const { body } = await w.call('GET', `/v1/payments/${payment.payment_id}`);
    expect([body.status, body.tx_signature]).toEqual(['CONFIRMED', paid]);
    const attempts = () => w.env.DB.prepare('SELECT sum(attempt) AS n FROM payment_candidates').first('n');
    const before = await attempts();
    await w.deliver(jobs);
    expect(await attempts()).toBe(before);
    await w.env.DB.prepare('DELETE FROM payment_candidates').run();
  });

  it('deliveries: each due attempt is sent once, by rounds that continue after the last one', async () => {
    const times = 25_000;
    const { id } = await consumer(w, merchant, 'ok');
    await putRow(w.env.DB, 'webhook_deliveries', {
      id: 1_000_000,
      status: 'retrying',
      merchant_id: merchant.userId,
      livemode: 1,
      endpoint_id: id,
      next_attempt_at: 1,
    });
    await multiply(w.env.DB, 'webhook_deliveries', 'id', '1000000', times - 1, { id: '1000000 + i', event_id: "'event-' || i" });
    const cost = await rounds(sweepDeliveries);
    expect(cost).toMatchObject({ taken: times, rounds: 3 });
    expect(new Set(w.attempts.map(({ deliveryId }) => deliveryId)).size).toBe(times);
    expect(w.attempts).toHaveLength(times);
    // The next crons send none of them again until the queue has had a quarter of an hour.
    expect((await rounds(sweepDeliveries, { now: Date.now() + 14 * MINUTE })).taken).toBe(0);
    expect((await rounds(sweepDeliveries, { now: Date.now() + 16 * MINUTE, roundsMax: 1 })).taken).toBe(10_000);
    // Four events a sale, all of an endpoint that is down.
    expect(Math.min(perMinute(cost, (cost.taken / 100) * TRIP_MS.queue), 10_000 * ROUNDS_A_MINUTE)).toBeGreaterThan(4 * SALES);
    await w.env.DB.prepare('DELETE FROM webhook_deliveries').run();
  });

  it('reference: a page of a thousand transactions takes one node call and four trips', async () => {
    await w.sweepAlone('reference');
    const pages = 12;
    let page = 0;
    const listSignatures = () => {
      const blockTime = Math.floor(Date.now() / 1000);
      const items =
        page++ < pages
          ? Array.from({ length: 1000 }, () => ({ signature: signature(), memo: `[50] svc:${signature().slice(0, 22)}`, blockTime }))
          : [];
      return { kind: 'page', items, nodeSeconds: blockTime, knowsUntil: true };
    };
    const cost = await rounds((ctx) => sweepReference(ctx), { chain: { listSignatures } });
    expect(cost.taken).toBe(pages * 1000);
    // A walk reads the last five minutes again.
    expect(perMinute(cost)).toBeGreaterThan(6 * SALES);
  });

  it('archive: six owners at once, and few calls for an object', async () => {
    await w.env.DB.prepare('DELETE FROM acts').run();
    const owners = 90;
    await emit(w, merchant, 5);
    await w.env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${owners})
       INSERT INTO acts (id, merchant_id, livemode, types, is_personal, body, request_id, created_at, fanned_out_at)
       SELECT substr(a.id, 1, 14) || printf('%015d', i * 100 + a.rowid % 100), printf('01900000-0000-7000-8000-%012d', i), 1, types, is_personal, body, request_id, created_at, 1
       FROM n, acts a`,
    ).run();
    await w.env.DB.prepare('DELETE FROM acts WHERE merchant_id = ?').bind(merchant.userId).run();
    const cost = await rounds(sweepArchive, { now: Date.now() + 99 * DAY });
    const bucketMs = (cost.taken * 2 * TRIP_MS.bucket) / LANES;
    expect(cost.taken).toBe(owners);
    expect(cost.calls / (owners / cost.rounds)).toBeLessThan(13);
    // A merchant with a sale a day has an object a week, and the sweep is asked every ten minutes: a million merchants are 100 a minute.
    expect(perMinute(cost, bucketMs)).toBeGreaterThan(SALES / 50);
  });

  it('analytics: 250 events take four trips', async () => {
    const { payment } = await w.purchase(product, await w.chain.wallet());
    await w.sweepAlone('analytics');
    const [act] = (
      await prepareOnEvents(w.env.DB, "SELECT substr(id, 1, 29) AS id FROM events WHERE type = 'payment.confirmed' AND payment_id = ?")
        .bind(payment.payment_id)
        .all<{ id: string }>()
    ).results;
    await multiply(w.env.DB, 'acts', 'id', act!.id, 3_000, {
      id: "substr(acts.id, 1, 14) || printf('%015d', i)",
      seq: '(SELECT max(seq) FROM acts) + i',
    });
    const cost = await rounds(sweepAnalytics);
    expect(cost.taken).toBeGreaterThan(3_000);
    // Two events a sale have a metric.
    expect(perMinute(cost)).toBeGreaterThan(2 * SALES);
  });
});
