// @module-tag volume
import { beforeAll, describe, expect, it } from 'vitest';
import type { MoveReport } from '#features/operator/partitions/move.ts';
import { seededRandom } from '../../support/faults/faults.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { dyingAt, operate, partitionHex, rowsOfPartition } from '../../support/fixtures/partitions.ts';
import { newAgent, newKey, type Shop, sellToAgents, stall } from '../../support/people/agent.ts';
import { type Consumer, consumer, received } from '../../support/people/consumer.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { SEED, testEnv } from '../../support/runner/env.ts';
import { type Answer, World } from '../../support/world.ts';

const MOVES = 20;
const random = seededRandom(SEED);
const dice = (below: number) => Math.floor(random() * below);
/** In order. A move begins where another one is done. */
const STATES = ['done', 'begun', 'clearing', 'copying', 'resting', 'fencing', 'published', 'purging', 'done'];
const SWEEPS_DUE = 'UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0';

describe('partition that moves back and forth while its merchant sells', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true', MOVES: 'on' });
  let shop: Shop;
  let mine: Consumer;
  let partition: string;
  const databases: Record<string, D1Database> = { DB: testEnv.DB, DB_2: testEnv.TEST_DB_2 };
  const sold = new Map<string, string>();
  const unconfirmed: { id: string; signature: string }[] = [];
  const unsettled: { signature: string; key: string }[] = [];
  const settled = new Set<string>();
  let refusals = 0;
  let isRefusing = false;
  beforeAll(async () => {
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB');
    const merchant = await w.merchant();
    shop = stall(w, merchant, await sellToAgents(w, merchant, { access_period_days: 30, usage_units: 1 }), await newAgent(w));
    mine = await consumer(w, merchant, 'ok');
    partition = partitionHex(merchant.userId);
  });

  /** Accepts a success, or a refusal while the partition is fenced. */
  function isStored({ status, body, headers }: Answer<{ code?: string }>): boolean {
    if (status < 300) return true;
    // The fence also refused the end of a lease, which then expires.
    if (body.code === 'idempotency_in_progress') return false;
    expect([status, body.code], JSON.stringify(body)).toEqual([503, 'temporarily_unavailable']);
    expect(Number(headers.get('Retry-After'))).toBeGreaterThan(0);
    refusals++;
    isRefusing = true;
    return false;
  }

  /** Attempts in the groups that the queue makes. */
  async function deliver(): Promise<void> {
    for (const all = w.attempts.splice(0); all.length > 0; ) await w.attempt(all.splice(0, 6));
  }
  const ACTIONS: (() => Promise<unknown>)[] = [
    async function connect() {
      const answer = await w.call('POST', `/v1/products/p/${shop.product.slug}/connect`, { body: {} });
      if (!isStored(answer)) return;
      const signature = await w.chain.pay((await newAgent(w)).wallet, answer.body);
      unconfirmed.push({ id: answer.body.payment_id, signature });
    },
    async function confirm() {
      for (const { id, signature } of unconfirmed.splice(0)) {
        const answer = await w.confirm(id, signature);
        if (isStored(answer)) sold.set(id, answer.body.receipt_id);
        else unconfirmed.push({ id, signature });
      }
    },
    async function pay() {
      unsettled.push({ signature: await shop.pay({ customer: { customer_ref: 'agent' } }), key: newKey() });
    },
    async function settle() {
      for (const one of unsettled.splice(0)) {
        const answer = await shop.settle(one.signature, { customer: { customer_ref: 'agent' } }, { idempotencyKey: one.key });
        // The time moved past its blockhash before anything was stored: the agent pays again.
        if (answer.status === 422 && answer.body.code === 'payment_mismatch') continue;
        if (isStored(answer)) settled.add(answer.body.payment_id ?? one.key);
        else unsettled.push(one);
      }
    },
    async function refund() {
      const [id] = [...sold.keys()].slice(-1);
      if (id === undefined) return;
      const { status, body } = await w.call('POST', `/v1/payments/${id}/refund-transaction`, { key: shop.merchant.key });
      if (status < 300)
        await w.chain.call('sendTransaction', await w.chain.sign(shop.merchant.wallet, body.transaction), { encoding: 'base64' });
    },
    () => w.deliver(),
    deliver,
    async function sweep() {
      await testEnv.TEST_DB_2.prepare(SWEEPS_DUE).run();
      await w.sweep();
    },
  ];

  /** State in the directory. A call that died may have passed several. */
  async function readState(): Promise<string> {
    const [known] = (await testEnv.TEST_DIRECTORY.prepare('SELECT state FROM moves WHERE partition = ?').bind(partition).all()).results;
    return String(known?.state ?? 'done');
  }

  async function step(to: string, env = w.env): Promise<MoveReport | null> {
    const act = async () => {
      for (let i = 0; i < 1 + dice(2); i++) await ACTIONS[dice(ACTIONS.length)]!();
    };
    isRefusing = false;
    const before = await readState();
    const [report] = await Promise.all([operate(w, 'move', { partition, to }, env).catch(() => null), act()]);
    if (isRefusing) {
      // The step met the refused time, although it may have begun before and ended after.
      expect(STATES.indexOf(before)).toBeLessThanOrEqual(STATES.indexOf('published'));
      expect(STATES.indexOf(await readState(), 1)).toBeGreaterThanOrEqual(STATES.indexOf('resting'));
    }
    return report;
  }

  async function moveTo(to: string): Promise<void> {
    // Two calls of each move die at any of their calls to a database.
    let deaths = 2;
    for (let calls = 0; calls < 100; calls++) {
      const env = deaths-- > 0 ? dyingAt(w.env, 1 + dice(250), dice(2) === 0) : w.env;
      const report = await step(to, env);
      if (report === null && env === w.env) throw new Error(`a call in state ${await readState()} failed`);
      // The lease of a call that died expires.
      if (report === null) await testEnv.TEST_DIRECTORY.prepare("UPDATE sweeps SET lease_until = 0 WHERE name = 'moves'").run();
      if (report?.state === 'done') {
        expect(report.refused_ms).toBeLessThan(30_000);
        return;
      }
      if (report?.state === 'resting' || report?.state === 'published') await skipTime(w.chain, 14);
    }
    throw new Error(`the move to ${to} does not end`);
  }

  it(`loses and doubles nothing in ${MOVES} moves`, async () => {
    for (let i = 0; i < MOVES; i++) {
      await ACTIONS[0]!();
      const [to, from] = i % 2 === 0 ? ['DB_2', 'DB'] : ['DB', 'DB_2'];
      await moveTo(to!);
      const { claims: _, ...left } = await rowsOfPartition(databases[from!]!, partition);
      expect(left).toEqual({});
    }
    await skipTime(w.chain, 60);
    await ACTIONS[1]!();
    await ACTIONS[3]!();
    expect([unconfirmed, unsettled]).toEqual([[], []]);
    for (const seconds of [60, 601, 60]) {
      await skipTime(w.chain, seconds);
      await testEnv.TEST_DB_2.prepare(SWEEPS_DUE).run();
      await w.sweep();
      for (let round = 0; round < 4; round++) {
        await w.deliver();
        await deliver();
      }
    }
    endSkips();
    const where = shop.merchant.userId;
    const rows = async <T>(text: string): Promise<T[]> => (await testEnv.DB.prepare(text).bind(where).all<T>()).results;
    // Every sale once, with one receipt, in one chain without gaps.
    const confirmed = await rows<{ id: string }>("SELECT id FROM payments WHERE status = 'CONFIRMED' AND merchant_id = ?");
    expect(confirmed.length).toBe(sold.size + settled.size);
    for (const id of sold.keys()) expect(confirmed.map((row) => row.id)).toContain(id);
    const receipts = await rows<{ seq: number; payment_id: string }>(
      'SELECT seq, payment_id FROM receipts WHERE merchant_id = ? ORDER BY seq',
    );
    expect(receipts.map(({ seq }) => seq)).toEqual(receipts.map((_, i) => i + 1));
    expect(new Set(receipts.map(({ payment_id: id }) => id)).size).toBe(confirmed.length);
    // Every event once: none of a payment is delivered under two ids.
    const events = (await received(mine)).map(({ body }) => JSON.parse(body));
    const confirmations = events.filter(({ type }) => type === 'payment.confirmed');
    const idsOf = Map.groupBy(confirmations, ({ data }) => data.object.payment_id as string);
    expect([...idsOf.keys()].sort()).toEqual(confirmed.map(({ id }) => id).sort());
    for (const group of idsOf.values()) expect(new Set(group.map(({ id }) => id)).size).toBe(1);
    // The analytics count each sale once, although two databases fold.
    const [total] = await rows<{ counts: string }>('SELECT counts FROM analytics_totals WHERE livemode = 1 AND merchant_id = ?');
    const days = await rows<{ quarters: string }>('SELECT quarters FROM analytics_days WHERE livemode = 1 AND merchant_id = ?');
    const counted = days.flatMap(({ quarters }) => Object.values(JSON.parse(quarters)) as Record<string, string>[]);
    expect(total).toBeDefined();
    expect(counted.reduce((sum, one) => sum + Number(one.confirmed ?? 0), 0)).toBe(sold.size);
    // Each settlement used the one unit that it bought.
    expect((await shop.entitlement({ customer_ref: 'agent' })).used_units).toBe(settled.size);
    const ids = await rows<{ id: number }>('SELECT id FROM webhook_deliveries WHERE merchant_id = ?');
    expect(new Set(ids.map(({ id }) => id)).size).toBe(ids.length);
    expect(refusals).toBeGreaterThan(0);
  }, 600_000);
});
