import { beforeAll, describe, expect, it } from 'vitest';
import type { PaidPlan } from '#rules/plans.ts';
import { withFaults } from '../../support/faults/faults.ts';
import {
  activate,
  buy,
  newSpender,
  openTreasury,
  payFor,
  readAccountPlan,
  readActivations,
  readSettlements,
  treasuryUnits,
} from '../../support/people/activation.ts';
import { type Agent, letDoubtsAge, newAgent, sellToAgents, write } from '../../support/people/agent.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;

describe('concurrent plan payments', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let agent: Agent;
  let key: string;
  beforeAll(async () => {
    await openTreasury(w);
    agent = await newSpender(w);
  });
  const fresh = async () => {
    merchant = await w.merchant('free');
    ({ key } = merchant);
  };
  /** Waits as long as a deployment does, for slow machines. */
  const buyPatiently = (plan: string, payment: string) => buy(w, plan, { key }, payment, { env: { ...w.env, SETTLE_PATIENCE_MS: '8000' } });
  const daysHeld = async () => ((await readAccountPlan(merchant)).plan_through! - Date.now()) / DAY;

  it('one payload sent eight times makes one activation and gets one answer', async () => {
    await fresh();
    const payment = await payFor(w, agent, 'starter', { key });
    const before = await treasuryUnits(w);
    const answers = await Promise.all(Array.from({ length: 8 }, () => buyPatiently('starter', payment)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const [first] = answers;
    for (const answer of answers) {
      expect(JSON.stringify(answer.body)).toBe(JSON.stringify(first!.body));
      expect(answer.headers.get('PAYMENT-RESPONSE')).toBe(first!.headers.get('PAYMENT-RESPONSE'));
    }
    expect(await daysHeld()).toBeCloseTo(30, 2);
    expect([await readActivations(merchant), await readSettlements(merchant)].map(({ length }) => length)).toEqual([1, 1]);
    expect((await treasuryUnits(w)) - before).toBe(19_000_000n);
    const later = await buy(w, 'starter', { key: merchant.token }, payment);
    expect(JSON.stringify(later.body)).toBe(JSON.stringify(first!.body));
  });

  it('two payloads of one wallet both count', async () => {
    await fresh();
    const payments = [await payFor(w, agent, 'starter', { key }), await payFor(w, agent, 'starter', { key })];
    const answers = await Promise.all(payments.map((payment) => buyPatiently('starter', payment)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    const ends = answers.map(({ body }) => Date.parse(body.paid_through)).sort((a, b) => a - b);
    expect(ends[1]! - ends[0]!).toBe(30 * DAY);
    expect(await daysHeld()).toBeCloseTo(60, 2);
  });

  it('two wallets that extend a running plan at once add 60 days', async () => {
    await fresh();
    await activate(w, agent, 'starter', { key });
    const wallets = await Promise.all([newSpender(w), newSpender(w)]);
    const payments = await Promise.all(wallets.map((wallet) => payFor(w, wallet, 'starter', { key })));
    const answers = await Promise.all(payments.map((payment) => buyPatiently('starter', payment)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    expect(new Set(answers.map(({ body }) => body.paid_through)).size).toBe(2);
    expect(await daysHeld()).toBeCloseTo(90, 2);
    expect(await readActivations(merchant)).toHaveLength(3);
  });

  it('six concurrent payments all count, also those that get 202 first', async () => {
    await fresh();
    const wallets = await Promise.all(Array.from({ length: 6 }, () => newSpender(w)));
    const payments = await Promise.all(wallets.map((wallet) => payFor(w, wallet, 'growth', { key })));
    const answers = await Promise.all(payments.map((payment) => buy(w, 'growth', { key }, payment)));
    for (const { status } of answers) expect([200, 202]).toContain(status);
    for (const [i, payment] of payments.entries()) {
      const again = await buy(w, 'growth', { key }, payment);
      expect(again.status).toBe(200);
      if (answers[i]!.status === 200) expect(again.body).toEqual(answers[i]!.body);
    }
    expect(await daysHeld()).toBeCloseTo(180, 2);
    expect(await readActivations(merchant)).toHaveLength(6);
  });

  it('a payment for a plan that is lower meanwhile extends the higher plan by its value', async () => {
    await fresh();
    const [low, high] = [await payFor(w, agent, 'starter', { key }), await payFor(w, agent, 'growth', { key })];
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 100 });
    const waiting = await buy(w, 'starter', { key }, low);
    await w.chain.call('local_clearFaults');
    expect(waiting.status).toBe(202);
    const { body } = await buy(w, 'growth', { key }, high);
    const extended = await buy(w, 'starter', { key }, low);
    expect([extended.status, extended.body.plan]).toEqual([200, 'growth']);
    const more = Math.floor((30 * DAY * 19) / 49);
    expect(Date.parse(extended.body.paid_through) - Date.parse(body.paid_through)).toBe(more);
    expect((await readActivations(merchant)).map(({ plan, resulting_plan }) => [plan, resulting_plan])).toEqual([
      ['growth', 'growth'],
      ['starter', 'growth'],
    ]);
  });

  it('an unknown outcome answers 202, and the sweep completes the activation', async () => {
    await fresh();
    const payment = await payFor(w, agent, 'starter', { key });
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    const waiting = await buy(w, 'starter', { key }, payment);
    expect([waiting.status, waiting.body.error_reason, waiting.headers.get('Retry-After')]).toEqual([202, 'settlement_pending', '2']);
    await testEnv.DB.prepare('UPDATE settlements SET next_check_at = 0 WHERE merchant_id = ?').bind(merchant.userId).run();
    await w.sweep();
    const done = await buy(w, 'starter', { key }, payment);
    expect([done.status, done.body.plan]).toEqual([200, 'starter']);
    expect((await readAccountPlan(merchant)).plan).toBe('starter');
  });

  it('a payment that crashed before it was sent is sent by the next call', async () => {
    await fresh();
    const payment = await payFor(w, agent, 'starter', { key });
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await buy(w, 'starter', { key }, payment)).status).toBe(202);
    await w.env.DB.prepare("UPDATE settlements SET created_at = created_at - 6000 WHERE status = 'pending'").run();
    expect((await buy(w, 'starter', { key }, payment)).status).toBe(200);
    expect(await daysHeld()).toBeCloseTo(30, 1);
  });

  it('a payment that never lands fails for good and can be paid again', async () => {
    await fresh();
    const payment = await payFor(w, agent, 'starter', { key });
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    await buy(w, 'starter', { key }, payment);
    await w.chain.call('local_warp', 600);
    // A first absence is a doubt. Only a later second one counts as proof.
    expect((await buy(w, 'starter', { key }, payment)).status).toBe(202);
    await letDoubtsAge(w);
    const failed = await buy(w, 'starter', { key }, payment);
    expect([failed.status, failed.body.meta.reason]).toEqual([402, 'invalid_exact_svm_transaction_failed']);
    expect(JSON.parse(atob(failed.headers.get('PAYMENT-RESPONSE')!))).toMatchObject({ success: false });
    expect((await activate(w, agent, 'starter', { key })).status).toBe(200);
    expect(await daysHeld()).toBeCloseTo(30, 1);
  });
});

describe('crash in an activation', () => {
  const w = new World();
  let agent: Agent;
  beforeAll(async () => {
    await openTreasury(w);
    agent = await newSpender(w);
  });
  const plan: PaidPlan = 'starter';

  for (const when of ['before', 'after'] as const)
    it(`a crash ${when} each trip to the database leaves exactly one activation`, async () => {
      let broken = 0;
      for (let isBroken = true; isBroken; ) {
        broken++;
        const merchant = await w.merchant('free');
        const payment = await payFor(w, agent, plan, { key: merchant.key });
        const faulty = withFaults(w.env, { [when]: ({ number }: { number: number }) => number === broken });
        const first = await buy(w, plan, { key: merchant.key }, payment, { env: faulty.env });
        isBroken = faulty.trips.length >= broken;
        expect([200, 202, 503], `${when} ${broken}: ${JSON.stringify(first.body)}`).toContain(first.status);
        const again = await buy(w, plan, { key: merchant.key }, payment);
        expect(again.status, `${when} ${broken}: ${JSON.stringify(again.body)}`).toBe(200);
        if (first.status === 200) expect(again.body).toEqual(first.body);
        expect(await readActivations(merchant)).toHaveLength(1);
        const { plan_through } = await readAccountPlan(merchant);
        expect(Date.parse(again.body.paid_through)).toBe(plan_through);
        expect(plan_through! - Date.now()).toBeLessThan(30 * DAY);
        const [settlement] = await readSettlements(merchant);
        expect(await w.eventTypes(settlement!.payment_id)).toEqual(['receipt.created']);
        expect((await w.call('GET', '/v1/account/me', { key: merchant.key })).body.tier).toBe(plan);
      }
      expect(broken).toBeGreaterThan(5);
    });

  for (const lost of ['stage', 'load'] as const)
    it(`a lost ${lost} call to the account’s object leaves payment and limits counted`, async () => {
      const merchant = await w.merchant('free');
      const payment = await payFor(w, agent, plan, { key: merchant.key });
      const { ADMISSION } = w.env;
      const broken = (name: string) =>
        new Proxy(ADMISSION.getByName(name), {
          get: (stub, method) =>
            method === lost
              ? () => Promise.reject(new Error('Network connection lost.'))
              : (...args: unknown[]) => (stub as unknown as Record<string, (...all: unknown[]) => unknown>)[String(method)]!(...args),
        });
      const env = { ...w.env, ADMISSION: { getByName: broken } as unknown as typeof ADMISSION };
      const first = await buy(w, plan, { key: merchant.key }, payment, { env });
      expect(first.status).toBe(lost === 'stage' ? 202 : 200);
      expect((await buy(w, plan, { key: merchant.key }, payment)).status).toBe(200);
      expect(await readActivations(merchant)).toHaveLength(1);
      const strict = { ...w.env, RATE_MULTIPLIER: '1' };
      const { headers } = await w.call('GET', '/v1/products', { key: merchant.key, env: strict });
      expect(headers.get('X-RateLimit-Limit')).toBe('300');
    });
});

describe('concurrent product settlements', REPEATED, () => {
  it('concurrent settlements of one payment all get its success', async () => {
    const w = new World();
    const merchant = await w.merchant();
    const product = await sellToAgents(w, merchant);
    const agent = await newAgent(w);
    const customer = { wallet_address: agent.wallet.address };
    for (let round = 0; round < 5; round++) {
      const denied = await write(w, merchant, 'entitlements/consume', { product_id: product.product_id, customer, units: 1 + round });
      const payment_signature = await agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
      const settle = () => write(w, merchant, 'x402/settle', { product_id: product.product_id, payment_signature });
      const answers = await Promise.all(Array.from({ length: 8 }, settle));
      expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
      expect(new Set(answers.map(({ body }) => body.payment_id)).size).toBe(1);
    }
  });
});
