import { beforeAll, describe, expect, it } from 'vitest';
import { withFaults } from '../../support/faults/faults.ts';
import { readOutcome } from '../../support/faults/finality.ts';
import { asDuplicate, mayServe, newKey, openShop, type Shop, sellToAgents, stall, withObjectFaults } from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

describe('ownership of a payment’s success', REPEATED, () => {
  const w = new World();
  let shop: Shop;
  let own: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  const newStall = async () => {
    own = stall(w, shop.merchant, await sellToAgents(w, shop.merchant, { usage_units: 5 }), shop.agent);
    return own.pay();
  };
  const forgetAnswers = () => w.env.DB.prepare('DELETE FROM claims').run();

  it.each([1, 0])('a month later the owning key gets a replay and any other key a duplicate (%d units at once)', async (units) => {
    const payment = await newStall();
    const idempotencyKey = newKey();
    const settle = (key?: string) => own.settle(payment, { consume_units: units }, key === undefined ? {} : { idempotencyKey: key });
    const first = await settle(idempotencyKey);
    expect([mayServe(first), first.body.duplicate]).toEqual([true, undefined]);
    for (let month = 0; month < 3; month++) {
      await forgetAnswers();
      const [again, other] = [await settle(idempotencyKey), await settle()];
      expect([again.headers.get('Idempotent-Replayed'), again.body]).toEqual(['true', first.body]);
      expect([other.headers.get('X-Svc-Duplicate-Settlement'), other.body]).toEqual(['true', asDuplicate(first.body)]);
    }
    expect(await own.entitlement()).toMatchObject({ granted_units: 5, used_units: units });
  });

  it('an owning key that asks for more units a month later consumes nothing', async () => {
    const payment = await newStall();
    const idempotencyKey = newKey();
    await own.settle(payment, { consume_units: 0 }, { idempotencyKey });
    await forgetAnswers();
    const again = await own.settle(payment, { consume_units: 3 }, { idempotencyKey });
    expect([again.headers.get('Idempotent-Replayed'), again.body.consumed_units]).toEqual(['true', 0]);
    expect(await own.entitlement()).toMatchObject({ used_units: 0 });
  });

  it('a duplicate consumes and grants nothing and returns the current balance', async () => {
    const payment = await newStall();
    const first = await own.settle(payment, { consume_units: 2 });
    await own.consume({ units: 1 });
    const duplicate = await own.settle(payment, { consume_units: 2 });
    expect(duplicate.body).toEqual(asDuplicate(first.body, 2));
    expect(await own.entitlement()).toMatchObject({ granted_units: 5, used_units: 3, remaining: 2 });
  });

  it('concurrent settles without consumption: one gets the success, all others a duplicate', async () => {
    const payment = await newStall();
    const env = { ...w.env, SETTLE_PATIENCE_MS: '8000' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => own.settle(payment, { consume_units: 0 }, { env })));
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(200));
    expect(answers.filter(mayServe)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.duplicate)).toHaveLength(11);
  });

  it('a refunded first consumption allows one more request, and the first is never served again', async () => {
    const payment = await newStall();
    const [idempotencyKey, next] = [newKey(), newKey()];
    const first = await own.settle(payment, {}, { idempotencyKey });
    await own.refund(first.body.consumption_id);
    const answers = await Promise.all(Array.from({ length: 4 }, () => own.settle(payment)));
    expect(answers.filter(mayServe)).toHaveLength(1);
    await forgetAnswers();
    const refunded = await own.settle(payment, {}, { idempotencyKey });
    expect([refunded.status, refunded.body.meta.reason]).toEqual([409, 'refunded']);
    expect((await own.settle(payment, {}, { idempotencyKey: next })).body.duplicate).toBe(true);
    expect(await own.entitlement()).toMatchObject({ used_units: 1 });
  });

  it('a caller that dies between consumption and answer gets the success on return, and no other caller does', async () => {
    const payment = await newStall();
    const idempotencyKey = newKey();
    const { env } = withObjectFaults(w.env, { after: ({ verb }) => verb === 'credit' });
    expect((await own.settle(payment, {}, { idempotencyKey, env })).status).toBe(503);
    expect(mayServe(await own.settle(payment))).toBe(false);
    const returned = await own.settle(payment, {}, { idempotencyKey });
    expect(mayServe(returned)).toBe(true);
    expect((await readOutcome(returned.body.payment_id)).answered_by).toMatch(/^[0-9a-f]{64}$/);
    expect(await own.entitlement()).toMatchObject({ used_units: 1 });
  });

  it('success owner and answer are stored together or not at all if the batch is cut before or after', async () => {
    for (const when of ['before', 'after'] as const) {
      const payment = await newStall();
      const idempotencyKey = newKey();
      let batches = 0;
      const { env } = withFaults(w.env, { [when]: ({ kind }: { kind: string }) => kind === 'batch' && ++batches === 3 });
      const first = await own.settle(payment, {}, { idempotencyKey, env });
      expect(batches).toBe(3);
      const again = await own.settle(payment, {}, { idempotencyKey });
      expect([mayServe(first), mayServe(again)].filter(Boolean)).toHaveLength(1);
      expect((await own.settle(payment)).body.duplicate).toBe(true);
    }
  });
});
