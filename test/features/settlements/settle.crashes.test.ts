import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import {
  asDuplicate,
  letLeasesEnd,
  mayServe,
  newKey,
  ONE,
  openShop,
  type Shop,
  sellToAgents,
  stall,
  withObjectFaults,
} from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

async function expectOnce(shop: Shop, payment: string, key: string, earlier: boolean): Promise<void> {
  await letLeasesEnd(shop.w);
  // A claim of a dead request is not sent. Seconds later another request sends it.
  await shop.w.env.DB.prepare('UPDATE settlements SET created_at = created_at - 10000').run();
  const again = await shop.settle(payment, {}, { idempotencyKey: key });
  expect(again, JSON.stringify(again.body)).toMatchObject({ status: 200, body: { success: true, granted_units: 1, consumed_units: 1 } });
  await letLeasesEnd(shop.w);
  const third = await shop.settle(payment, {}, { idempotencyKey: key });
  const other = await shop.settle(payment);
  expect([third.body, other.body]).toEqual([again.body, asDuplicate(again.body)]);
  const served = [mayServe(again), mayServe(third), mayServe(other)].filter(Boolean).length + (earlier ? 1 : 0);
  expect(served).toBeLessThanOrEqual(1);
  // A caller without an answer learns from a replay that the payment is used.
  if (served === 0) expect(again.headers.get('Idempotent-Replayed')).toBe('true');
  expect(await shop.books()).toEqual(ONE);
  expect(await shop.entitlement()).toMatchObject({ granted_units: 1, used_units: 1, remaining: 0 });
  expect(await shop.w.eventTypes(again.body.payment_id)).toEqual(['payment.confirmed', 'receipt.created']);
}

async function newStall(shop: Shop): Promise<Shop> {
  return stall(shop.w, shop.merchant, await sellToAgents(shop.w, shop.merchant), shop.agent);
}

/** Trips up to the claim: lease, product, payment lookup, anchor, claim. The payment is sent afterwards. */
const CLAIM_TRIP = 5;

describe('settle with a failing database', REPEATED, () => {
  const w = new World();
  let shop: Shop;
  let trips = 0;
  beforeAll(async () => {
    shop = await openShop(w);
    const counted = withFaults(w.env);
    const payment = await shop.pay();
    expect((await shop.settle(payment, {}, { env: counted.env })).status).toBe(200);
    trips = counted.trips.length;
  });

  it('settle makes a handful of round trips, each of which can be cut', () => {
    expect(trips).toBeGreaterThanOrEqual(5);
    expect(trips).toBeLessThanOrEqual(10);
  });

  it.each(['before', 'after'] as const)('a cut %s the work of any single trip ends in one payment, credit and use', async (when) => {
    for (let cut = 1; cut <= trips; cut++) {
      const own = await newStall(shop);
      const [payment, key] = [await own.pay(), newKey()];
      const { env, trips: made } = withFaults(w.env, { [when]: ({ number }: { number: number }) => number === cut });
      const first = await own.settle(payment, {}, { idempotencyKey: key, env });
      expect(made.length, `cut ${cut} was reached`).toBeGreaterThanOrEqual(cut);
      // A failure before sending is retryable. Afterwards the outcome is unknown.
      expect([200, 202, 503]).toContain(first.status);
      await expectOnce(own, payment, key, mayServe(first));
    }
  });

  it.each(['before', 'after'] as const)('a cut %s the work of one trip and all later ones is recovered by the next call', async (when) => {
    for (let cut = 1; cut <= trips; cut++) {
      const own = await newStall(shop);
      const [payment, key] = [await own.pay(), newKey()];
      const { env } = withFaults(w.env, { [when]: ({ number }: { number: number }) => number >= cut });
      const first = await own.settle(payment, {}, { idempotencyKey: key, env });
      const isSent = cut > CLAIM_TRIP;
      expect(first, `cut from ${cut}`).toMatchObject(
        isSent
          ? { status: 202, body: { error_reason: 'settlement_pending' } }
          : { status: 503, body: { code: 'temporarily_unavailable', retryable: true } },
      );
      await expectOnce(own, payment, key, false);
    }
  });
});

describe('settle with a dying worker', REPEATED, () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  /** Database of a dying worker: no write arrives from this one on. */
  const diesAt = (write: number): Env => {
    let writes = 0;
    return withFaults(w.env, { before: ({ kind }) => kind !== 'read' && ++writes >= write }).env;
  };

  it('a death between claim and broadcast: the sweep sends it, and the same payment gets the result', async () => {
    const own = await newStall(shop);
    const payment = await own.pay();
    await w.chain.fault({ kind: 'http_503', method: 'sendTransaction', times: 2 });
    expect((await own.settle(payment)).status).toBe(202);
    expect(await own.books()).toEqual({ ...ONE, settlements: 1, payments: 0, receipts: 0 });
    await w.env.DB.prepare('UPDATE settlements SET next_check_at = 0').run();
    await w.sweep();
    await w.sweep();
    expect(await own.books()).toEqual(ONE);
    expect(await own.entitlement()).toMatchObject({ granted_units: 1, used_units: 0 });
    const settled = await own.settle(payment);
    expect([mayServe(settled), settled.body.remaining]).toEqual([true, 0]);
  });

  it('a death before the outcome is stored: two concurrent sweeps store and credit it once', async () => {
    const own = await newStall(shop);
    const payment = await own.pay();
    expect((await own.settle(payment, {}, { env: diesAt(3) })).status).toBe(202);
    expect(await own.books()).toEqual({ ...ONE, settlements: 1, payments: 0, receipts: 0 });
    await w.env.DB.prepare('UPDATE settlements SET next_check_at = 0').run();
    await Promise.all([w.sweep(), w.sweep()]);
    expect(await own.books()).toEqual(ONE);
    expect(await own.entitlement()).toMatchObject({ granted_units: 1, used_units: 0 });
    expect(mayServe(await own.settle(payment))).toBe(true);
    expect(mayServe(await own.settle(payment))).toBe(false);
  });

  it('a death between storing and credit: the event job credits it once, also if doubled', async () => {
    const own = await newStall(shop);
    const payment = await own.pay();
    const { env } = withObjectFaults(w.env, { before: ({ verb }) => verb === 'credit' });
    w.queue.sent.splice(0);
    expect(await own.settle(payment, {}, { env })).toMatchObject({ status: 503, body: { code: 'temporarily_unavailable' } });
    expect((await own.entitlement()).code).toBe('not_found');
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    await w.deliver([...jobs, ...jobs]);
    await w.deliver(jobs);
    expect(await own.entitlement()).toMatchObject({ granted_units: 1, used_units: 0 });
    expect(mayServe(await own.settle(payment))).toBe(true);
  });
});

describe('settle with a failing object call', REPEATED, () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });

  it.each(['before', 'after'] as const)('a cut %s the object runs answers 503, and the same request completes it once', async (when) => {
    const own = await newStall(shop);
    const [payment, key] = [await own.pay(), newKey()];
    const { env, calls } = withObjectFaults(w.env, { [when]: ({ verb }: { verb: string }) => verb === 'credit' });
    const first = await own.settle(payment, {}, { idempotencyKey: key, env });
    expect(first).toMatchObject({ status: 503, body: { code: 'temporarily_unavailable', retryable: true } });
    expect(calls.map(({ verb }) => verb)).toContain('credit');
    const again = await own.settle(payment, {}, { idempotencyKey: key });
    expect([again.status, mayServe(again)]).toEqual([200, true]);
    await expectOnce(own, payment, key, true);
  });

  it.each(['consume', 'grant', 'refund'] as const)(
    'a failed object call during %s answers 503 and repeats safely under its key',
    async (verb) => {
      const own = await newStall(shop);
      await own.grant({ units: 3 });
      const { body: used } = await own.consume();
      const call = {
        consume: own.consume,
        grant: own.grant,
        refund: (_: object, options: object) => own.refund(used.consumption_id, options),
      }[verb];
      for (const when of ['before', 'after'] as const) {
        const key = newKey();
        const body = verb === 'grant' ? { units: 2 } : {};
        const { env } = withObjectFaults(w.env, { [when]: (one: { verb: string }) => one.verb === verb });
        expect(await call(body, { idempotencyKey: key, env })).toMatchObject({ status: 503, body: { code: 'temporarily_unavailable' } });
        if (verb === 'refund' && when === 'before') continue;
        const again = await call(body, { idempotencyKey: key });
        expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, when === 'after' ? 'true' : null]);
      }
      const expected = { consume: [3, 3], grant: [7, 1], refund: [3, 0] }[verb];
      const { granted_units, used_units } = await own.entitlement();
      expect([granted_units, used_units]).toEqual(expected);
    },
  );
});
