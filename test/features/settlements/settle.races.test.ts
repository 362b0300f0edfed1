import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import {
  asDuplicate,
  decoded,
  letLeasesEnd,
  mayServe,
  newAgent,
  newKey,
  ONE,
  openShop,
  type Shop,
  sellToAgents,
  stall,
  withConfig,
} from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const withSlowCredit = (env: Env, ms: number): Env => {
  const slow = (name: string) => {
    const stub = env.ENTITLEMENT.getByName(name) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const credit = async (...args: unknown[]) => {
      const answer = await stub.credit!(...args);
      await new Promise((resolve) => setTimeout(resolve, ms));
      return answer;
    };
    return new Proxy({}, { get: (_, verb) => (verb === 'credit' ? credit : (...args: unknown[]) => stub[String(verb)]!(...args)) });
  };
  return { ...env, ENTITLEMENT: { getByName: slow } as unknown as Env['ENTITLEMENT'] };
};

describe('concurrent settles of one payment', REPEATED, () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  const newStall = async () => stall(w, shop.merchant, await sellToAgents(w, shop.merchant), shop.agent);
  const times = <T>(count: number, make: (index: number) => Promise<T>) => Promise.all(Array.from({ length: count }, (_, i) => make(i)));

  it('twenty keys: one payment, one receipt, one credit, equal bodies, and one caller may serve', async () => {
    const own = await newStall();
    const payment = await own.pay();
    await w.chain.call('local_resetCalls');
    // Production patience, so that a slow machine causes no 202.
    const env = withConfig(w, { SETTLE_PATIENCE_MS: '8000' });
    const answers = await times(20, () => own.settle(payment, {}, { env }));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    const [first] = answers.filter(mayServe);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body)))).toEqual(
      new Set([first!.body, asDuplicate(first!.body)].map((body) => JSON.stringify(body))),
    );
    expect(answers.filter(mayServe)).toHaveLength(1);
    expect(answers.filter(({ headers }) => headers.get('X-Svc-Duplicate-Settlement') === 'true')).toHaveLength(19);
    expect(await own.books()).toEqual(ONE);
    expect(await own.entitlement()).toMatchObject({ granted_units: 1, used_units: 1, remaining: 0 });
    expect(await w.eventTypes(answers[0]!.body.payment_id)).toEqual(['payment.confirmed', 'receipt.created']);
    expect(await w.chain.call('local_calls')).toMatchObject({ sendTransaction: 1 });
  });

  it('one key: callers get the first result, its byte-equal replay or idempotency_in_progress', async () => {
    const own = await newStall();
    const [payment, idempotencyKey] = [await own.pay(), newKey()];
    const answers = await times(20, () => own.settle(payment, {}, { idempotencyKey }));
    const settled = answers.filter(({ status }) => status === 200);
    const busy = answers.filter(({ status }) => status !== 200);
    expect(settled.filter(mayServe)).toHaveLength(1);
    expect(new Set(settled.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    for (const { body, headers } of busy) {
      expect([body.code, body.retryable]).toEqual(['idempotency_in_progress', true]);
      expect(headers.get('Retry-After')).toBe('1');
    }
    const replay = await own.settle(payment, {}, { idempotencyKey });
    expect(replay.headers.get('Idempotent-Replayed')).toBe('true');
    expect(JSON.stringify(replay.body)).toBe(JSON.stringify(settled[0]!.body));
    expect(await own.books()).toEqual(ONE);
  });

  it('a duplicate stays a duplicate under its own key', async () => {
    const own = await newStall();
    const [payment, idempotencyKey] = [await own.pay(), newKey()];
    const first = await own.settle(payment);
    for (let i = 0; i < 3; i++) {
      const duplicate = await own.settle(payment, {}, { idempotencyKey });
      expect([duplicate.status, duplicate.headers.get('X-Svc-Duplicate-Settlement')]).toEqual([200, 'true']);
      expect(duplicate.body).toEqual(asDuplicate(first.body));
    }
    expect(await own.entitlement()).toMatchObject({ granted_units: 1, used_units: 1 });
  });

  it('the same key with another body conflicts, also if it names another payment', async () => {
    const own = await newStall();
    const [payment, idempotencyKey] = [await own.pay(), newKey()];
    await own.settle(payment, {}, { idempotencyKey });
    for (const body of [{ consume_units: 0 }, { customer: own.customer }, { payment_signature: await own.pay() }]) {
      const answer = await own.settle(payment, body, { idempotencyKey });
      expect([answer.status, answer.body.code]).toEqual([409, 'idempotency_conflict']);
    }
    expect(await own.books()).toEqual(ONE);
  });

  it.each([
    ['sees the payment late', 'getTransaction', [200, 200]],
    ['sends it late', 'sendTransaction', [202, 202]],
  ])('a request that %s and loses its lease is overtaken, and exactly one of both may serve', async (_, method, statuses) => {
    const own = await newStall();
    const [payment, idempotencyKey] = [await own.pay(), newKey()];
    await w.chain.fault({ kind: 'delay', method, times: 1, ms: 1500 });
    const slow = own.settle(payment, {}, { idempotencyKey });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await letLeasesEnd(w);
    const answers = [await own.settle(payment, {}, { idempotencyKey }), await slow].reverse();
    expect(answers.map(({ status }) => status)).toEqual(statuses);
    answers.push(await own.settle(payment, {}, { idempotencyKey }), await own.settle(payment));
    expect(answers.filter(mayServe)).toHaveLength(1);
    expect(await own.books()).toEqual(ONE);
    expect(await own.entitlement()).toMatchObject({ granted_units: 1, used_units: 1 });
  });

  it('an overtaken request that cannot store its answer returns the other request’s answer without serving', async () => {
    const own = await newStall();
    const [payment, idempotencyKey] = [await own.pay(), newKey()];
    // Claim and payment are separate batches. From the third one, the answer, the database fails.
    let batches = 0;
    const { env } = withFaults(w.env, { before: ({ kind }) => kind === 'batch' && ++batches > 2 });
    const slow = own.settle(payment, {}, { idempotencyKey, env: withSlowCredit(env, 1500) });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await letLeasesEnd(w);
    const answers = [await own.settle(payment, {}, { idempotencyKey }), await slow];
    expect(answers.map(mayServe)).toEqual([true, false]);
    expect(batches).toBeGreaterThan(2);
    expect(answers[1]!.body).toEqual(answers[0]!.body);
  });

  it('concurrent settles for two customers credit one, and the other gets a conflict', async () => {
    for (let round = 0; round < 5; round++) {
      const own = await newStall();
      const payment = await own.pay();
      const answers = await Promise.all(['ada', 'bob'].map((customer_ref) => own.settle(payment, { customer: { customer_ref } })));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
      expect(answers.find(({ status }) => status === 409)!.body.code).toBe('duplicate_settlement');
      const won = answers[0]!.status === 200 ? 'ada' : 'bob';
      const lost = won === 'ada' ? 'bob' : 'ada';
      expect(await own.entitlement({ customer_ref: won })).toMatchObject({ granted_units: 1, used_units: 1 });
      expect((await own.entitlement({ customer_ref: lost })).code).toBe('not_found');
      expect(await own.books()).toEqual(ONE);
    }
  });

  it('two concurrent payments of one agent count twice', async () => {
    const own = await newStall();
    const payments = [await own.pay(), await own.pay()];
    const answers = await Promise.all(payments.map((payment) => own.settle(payment, { consume_units: 0 })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(await own.books()).toEqual({ settlements: 0, claims: 2, payments: 2, receipts: 2, memberships: 0 });
    expect(await own.entitlement()).toMatchObject({ granted_units: 2, used_units: 0, remaining: 2 });
  });

  it('one settle and twenty concurrent consumes serve exactly the paid units', async () => {
    const own = await newStall();
    const payment = await own.pay({ units: 5 });
    const [settled, ...consumed] = await Promise.all([
      own.settle(payment, { consume_units: 2 }),
      ...Array.from({ length: 20 }, () => own.consume()),
    ]);
    const late = await times(5, () => own.consume());
    const served = [...consumed, ...late].filter(({ status }) => status === 200).length;
    expect(settled.body).toMatchObject({ granted_units: 5, consumed_units: expect.any(Number) });
    expect(served + settled.body.consumed_units).toBe(5);
    expect(await own.entitlement()).toMatchObject({ granted_units: 5, used_units: 5, status: 'exhausted' });
  });

  it('two agents pay the same challenge, and both are served', async () => {
    const own = await newStall();
    const rival = stall(w, own.merchant, own.product, await newAgent(w));
    const header = await own.challenge();
    const payments = [await own.agent.pay(header), await rival.agent.pay(header)];
    expect(decoded(payments[0]!).accepted.extra.memo).toBe(decoded(payments[1]!).accepted.extra.memo);
    const answers = [await own.settle(payments[0]!), await rival.settle(payments[1]!)];
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers.every(mayServe)).toBe(true);
    expect(await own.books()).toEqual({ settlements: 0, claims: 2, payments: 2, receipts: 2, memberships: 0 });
  });
});
