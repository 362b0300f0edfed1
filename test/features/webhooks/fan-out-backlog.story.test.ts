import { afterEach, describe, expect, it } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import { HOUR, MINUTE, SECOND } from '#core/time.ts';
import { listDueActs } from '#features/webhooks/deliveries/store.ts';
import type { Env } from '#platform/context.ts';
import { eventNumberOf, isLedBy, prepareOnEvents } from '../../support/fixtures/acts.ts';
import { newAgent, type Shop, stall, withObjectFaults } from '../../support/people/agent.ts';
import { consumer, deliveries, emit } from '../../support/people/consumer.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

// Removes leftovers, which the next test's sweeps would take.
afterEach(async () => {
  letTimeRun();
  await testEnv.DB.prepare('UPDATE acts SET fanned_out_at = 1 WHERE fanned_out_at IS NULL').run();
});

describe('events blocked by a failing object', REPEATED, () => {
  const w = new World();

  /** Creates a confirmed payment with a lost credit and lost messages. */
  async function confirmed(): Promise<{ own: Shop; id: string; object: string }> {
    const merchant = await w.merchant();
    const own = stall(w, merchant, await w.product(merchant, { usage_units: 2 }), await newAgent(w));
    const payment = await w.connect(own.product);
    const { env } = withObjectFaults(w.env, { before: ({ verb }) => verb === 'credit' });
    await w.confirm(payment.payment_id, await w.chain.pay(own.agent.wallet, payment), { env });
    w.queue.sent.length = 0;
    const entitlementId = entitlementIdOf(merchant.userId, true, own.product.product_id, { walletAddress: own.agent.wallet.address });
    return { own, id: payment.payment_id, object: `${merchant.userId}:live:${entitlementId}` };
  }

  const multiply = (paymentId: string, count: number) =>
    w.env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
       INSERT INTO acts (id, merchant_id, livemode, payment_id, types, body, is_personal, request_id, created_at)
       SELECT substr(id, 1, 14) || printf('%015d', i), merchant_id, livemode, payment_id, types, body, is_personal, request_id, created_at - 1000
       FROM n, acts WHERE types LIKE '%${eventNumberOf('payment.confirmed')}%' AND ${isLedBy(paymentId)}`,
    )
      .bind(count)
      .run();

  function without(object: string): { env: Env; calls: () => number } {
    let calls = 0;
    const refuse = () => {
      calls++;
      throw new Error('out of order');
    };
    const getByName = (name: string) => (name === object ? new Proxy({}, { get: () => refuse }) : w.env.ENTITLEMENT.getByName(name));
    return { env: { ...w.env, ENTITLEMENT: { getByName } } as unknown as Env, calls: () => calls };
  }

  const isFollowed = async (paymentId: string): Promise<boolean> => {
    const left = prepareOnEvents(w.env.DB, 'SELECT count(*) AS n FROM events WHERE payment_id = ? AND fanned_out_at IS NULL').bind(
      paymentId,
    );
    return (await left.first<number>('n')) === 0;
  };
  async function rowsRead(): Promise<number> {
    const { sql, params } = listDueActs({ db: w.db, sandbox: null, cause: '' }, Date.now() - 10 * SECOND, 50).toSQL();
    const { meta } = await w.env.DB.prepare(sql)
      .bind(...params)
      .all();
    return meta.rows_read;
  }

  it('a thousand older blocked events do not delay other events', async () => {
    const [broken, other] = [await confirmed(), await confirmed()];
    await multiply(broken.id, 1200);
    const { env } = without(broken.object);
    const start = Date.now();
    setTime(start + 11 * SECOND);
    await w.sweepAlone('fanOut', env);
    setTime(start + 71 * SECOND);
    await w.sweepAlone('fanOut', env);
    expect(await isFollowed(other.id)).toBe(true);
    expect(await other.own.entitlement()).toMatchObject({ granted_units: 2 });
    expect(await isFollowed(broken.id)).toBe(false);
    await w.sweepAlone('fanOut', env);
    expect(await rowsRead()).toBeLessThan(5);
  });

  it('blocked events are retried at growing intervals up to one hour, and processed after recovery', async () => {
    const broken = await confirmed();
    const { env, calls } = without(broken.object);
    // The backoff counts from the event itself.
    const start = (await prepareOnEvents(
      w.env.DB,
      'SELECT min(created_at) AS at FROM events WHERE payment_id = ? AND fanned_out_at IS NULL',
    )
      .bind(broken.id)
      .first<number>('at'))!;
    // Each wait doubles, with one sweep a minute.
    for (const minute of [1, 3, 7, 15, 31, 63, 124, 185]) {
      for (const [at, isTried] of [
        [minute - 1, false],
        [minute, true],
      ] as const) {
        setTime(start + at * MINUTE);
        const before = calls();
        await w.sweepAlone('fanOut', env);
        expect([at, calls() > before]).toEqual([at, isTried]);
      }
    }
    expect(await isFollowed(broken.id)).toBe(false);
    setTime(start + 190 * MINUTE + HOUR);
    await w.sweepAlone('fanOut');
    expect(await isFollowed(broken.id)).toBe(true);
    expect(await broken.own.entitlement()).toMatchObject({ granted_units: 2 });
  });
});

it('one sweep fans out a backlog of 500 events to 20 endpoints, which exceeds one statement', async () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const merchant = await w.merchant();
  const [first] = await Promise.all(Array.from({ length: 20 }, () => consumer(w, merchant, 'ok', { event_types: ['payout.*'] })));
  await w.env.DB.prepare('UPDATE webhook_endpoints SET created_at = 0 WHERE merchant_id = ?').bind(merchant.userId).run();
  await emit(w, merchant, 500);
  w.queue.sent.length = 0;
  w.attempts.length = 0;
  await w.env.DB.prepare('UPDATE acts SET created_at = created_at - 60000 WHERE merchant_id = ?').bind(merchant.userId).run();
  await w.sweepAlone('fanOut');
  expect(await deliveries(first!)).toHaveLength(500);
  expect(new Set(w.attempts.map(({ deliveryId }) => deliveryId)).size).toBe(500 * 20);
});
