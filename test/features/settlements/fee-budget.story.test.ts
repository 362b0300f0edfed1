import { evictDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { admissionIdOf } from '#core/ids.ts';
import { PLANS } from '#rules/plans.ts';
import { activate, newSpender, openTreasury } from '../../support/people/activation.ts';
import { feePayerOf, mayServe, newAgent, type Shop, sellToAgents, stall, withConfig } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** What strangers can make us pay the network has an end, whoever they are and however many accounts they open. */
const w = new World();
/** On a busy machine a payment takes a while to land, and how long a settlement waits for it is not what a budget is about. */
const ONE_EACH = { RATE_MULTIPLIER: '1', SETTLE_PATIENCE_MS: '10000' };
const stallOf = async (merchant: Merchant, usdc?: bigint) => stall(w, merchant, await sellToAgents(w, merchant), await newAgent(w, usdc));
const admissionOf = ({ userId }: Merchant) => testEnv.ADMISSION.getByName(`account:${admissionIdOf(userId)}`);
const feePayerHas = async () => (await w.chain.call<{ value: number }>('getBalance', feePayerOf(w))).value;

describe('free accounts together', () => {
  it('have one budget: with any number of accounts nobody makes us pay more, and paid plans go on', async () => {
    const env = withConfig(w, { ...ONE_EACH, FREE_FEES_PER_DAY: '2' });
    const free: Shop[] = [];
    for (let i = 0; i < 3; i++) free.push(await stallOf(await w.merchant('free')));
    for (const own of free.slice(0, 2)) expect(mayServe(await own.settle(await own.pay(), {}, { env }))).toBe(true);
    const [before, late] = [await feePayerHas(), await free[2]!.pay()];
    for (let i = 0; i < 2; i++) {
      const refused = await free[2]!.settle(late, {}, { env });
      expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
      expect(refused.body.meta).toEqual({ reason: 'fee_budget', limit: 2, left: 0, plan: 'free', shared: true });
      const leftOfDay = 86_400 - ((Date.now() / 1000) % 86_400);
      expect(Math.abs(Number(refused.headers.get('Retry-After')) - leftOfDay)).toBeLessThan(60);
    }
    expect(await feePayerHas()).toBe(before);
    const paid = await stallOf(await w.merchant('starter'));
    expect(mayServe(await paid.settle(await paid.pay(), {}, { env }))).toBe(true);
    // What was refused is still good where there is room.
    const roomy = withConfig(w, { ...ONE_EACH, FREE_FEES_PER_DAY: '3' });
    expect(mayServe(await free[2]!.settle(late, {}, { env: roomy }))).toBe(true);
    // A refusal of the shared budget took nothing of the account's own.
    const { left } = await admissionOf(free[2]!.merchant).spendFees({
      fees: 0,
      max: null,
      isKnownPayer: true,
      rateMultiplier: 1,
      now: Date.now(),
    });
    expect(left).toBe(PLANS.free.feesPerDay - 1);
  });
});

describe('a plan', () => {
  it('is bought although the budgets of its account and of all free accounts are used up, and with a budget of its own', async () => {
    const env = withConfig(w, { ...ONE_EACH, FREE_FEES_PER_DAY: '1' });
    const under = Object.assign(Object.create(w), { env }) as World;
    await openTreasury(w);
    const [first, second] = [await w.merchant('free'), await w.merchant('free')];
    for (const merchant of [first, second])
      for (let i = 0; i < PLANS.free.feesPerDay; i++)
        await admissionOf(merchant).spendFees({ fees: 1, max: null, isKnownPayer: true, rateMultiplier: 1, now: Date.now() });
    const pool = { fees: 1, max: 1, isKnownPayer: true, rateMultiplier: 1, now: Date.now() };
    await testEnv.ADMISSION.getByName('fees:free-accounts').spendFees(pool);
    const bought = await activate(under, await newSpender(w), 'starter', { key: first.key });
    expect([bought.status, bought.body.plan]).toEqual([200, 'starter']);
    const refused = await activate(under, await newSpender(w), 'starter', { key: second.key });
    expect([refused.status, refused.body.meta.reason, refused.body.meta.shared]).toEqual([429, 'fee_budget', true]);
  });
});

describe('payments of strangers that fail on the chain', () => {
  const TIMES = 10;
  const env = withConfig(w, { RATE_MULTIPLIER: String(TIMES) });
  const LIMIT = PLANS.free.feesPerDay * TIMES;

  it('use up half of a day’s budget at most: who paid this merchant before is served on, and strangers wait for the next day', async () => {
    const merchant = await w.merchant('free');
    const own = await stallOf(merchant);
    expect(mayServe(await own.settle(await own.pay(), {}, { env }))).toBe(true);
    const attacker = stall(w, merchant, own.product, await newAgent(w, 10_000n));
    for (let i = 0; i < LIMIT / 2 - 1; i++) await admissionOf(merchant).noteFailedFee(Date.now());
    // The same money twice at once: one of them lands in vain, and its fee is ours.
    const twice = [await attacker.pay(), await attacker.pay()];
    await w.chain.fault({ kind: 'delay', method: 'sendTransaction', ms: 500, times: 0 });
    const answers = await Promise.all(twice.map((payment) => attacker.settle(payment, {}, { env })));
    await w.chain.call('local_clearFaults');
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
    await evictDurableObject(admissionOf(merchant));
    const stranger = stall(w, merchant, own.product, await newAgent(w));
    const refused = await stranger.settle(await stranger.pay(), {}, { env });
    expect([refused.status, refused.body.meta.reason, refused.body.meta.left > LIMIT / 2]).toEqual([429, 'fee_budget', true]);
    expect(mayServe(await own.settle(await own.pay(), {}, { env }))).toBe(true);
    // Only this merchant's strangers wait.
    const elsewhere = await stallOf(await w.merchant('free'));
    expect(mayServe(await elsewhere.settle(await elsewhere.pay(), {}, { env }))).toBe(true);
  });

  it('count once each, however many calls bring one at the same moment', async () => {
    const merchant = await w.merchant('free');
    const own = await stallOf(merchant);
    const attacker = stall(w, merchant, own.product, await newAgent(w, 10_000n));
    for (let i = 0; i < LIMIT / 2 - 2; i++) await admissionOf(merchant).noteFailedFee(Date.now());
    const twice = [await attacker.pay(), await attacker.pay()];
    // Both are sent before either is seen, so that one of them fails; nobody sees which.
    await w.chain.fault({ kind: 'delay', method: 'sendTransaction', ms: 500, times: 0 });
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 0 });
    const sent = await Promise.all(twice.map((payment) => attacker.settle(payment, {}, { env })));
    expect(sent.map(({ status }) => status)).toEqual([202, 202]);
    await w.chain.call('local_clearFaults');
    const answers = await Promise.all([...twice, ...twice, ...twice].map((payment) => attacker.settle(payment, {}, { env })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 422, 422, 422]);
    // One failure short of where strangers are kept out.
    const stranger = stall(w, merchant, own.product, await newAgent(w));
    expect(mayServe(await stranger.settle(await stranger.pay(), {}, { env }))).toBe(true);
  });
});
