import { evictDurableObject } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { admissionIdOf } from '#core/ids.ts';
import { PLANS } from '#rules/plans.ts';
import { activate, newSpender, openTreasury } from '../../support/people/activation.ts';
import { feePayerOf, mayServe, newAgent, type Shop, sellToAgents, stall, withConfig } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Limits on the network fees that unknown payers cause with any number of accounts. */
const w = new World();
/** The patience of a settlement is long, because landing is slow on a busy machine. */
const ONE_EACH = { RATE_MULTIPLIER: '1', SETTLE_PATIENCE_MS: '10000' };
const openStall = async (merchant: Merchant, usdc?: bigint) => stall(w, merchant, await sellToAgents(w, merchant), await newAgent(w, usdc));
const admissionOf = ({ userId }: Merchant) => testEnv.ADMISSION.getByName(`account:${admissionIdOf(userId)}`);
const feePayerHas = async () => (await w.chain.call<{ value: number }>('getBalance', feePayerOf(w))).value;

describe('shared budget of free accounts', () => {
  it('free accounts share one daily fee budget, and paid plans continue', async () => {
    const env = withConfig(w, { ...ONE_EACH, FREE_FEES_PER_DAY: '2' });
    const free: Shop[] = [];
    for (let i = 0; i < 3; i++) free.push(await openStall(await w.merchant('free')));
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
    const paid = await openStall(await w.merchant('starter'));
    expect(mayServe(await paid.settle(await paid.pay(), {}, { env }))).toBe(true);
    const roomy = withConfig(w, { ...ONE_EACH, FREE_FEES_PER_DAY: '3' });
    expect(mayServe(await free[2]!.settle(late, {}, { env: roomy }))).toBe(true);
    // A refusal by the shared budget leaves the account's own budget unchanged.
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

describe('plan purchase', () => {
  it('a plan purchase succeeds although account and shared budgets are used up, and has a budget of its own', async () => {
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
    expect([bought.status, bought.body.plan, bought.body.meta?.reason]).toEqual([200, 'starter', undefined]);
    const refused = await activate(under, await newSpender(w), 'starter', { key: second.key });
    expect([refused.status, refused.body.meta.reason, refused.body.meta.shared]).toEqual([429, 'fee_budget', true]);
  });
});

describe('failed payments of unknown payers', () => {
  const TIMES = 10;
  const env = withConfig(w, { RATE_MULTIPLIER: String(TIMES) });
  const LIMIT = PLANS.free.feesPerDay * TIMES;

  it('failures use at most half of the daily budget: known payers continue, unknown ones get 429', async () => {
    const merchant = await w.merchant('free');
    const own = await openStall(merchant);
    expect(mayServe(await own.settle(await own.pay(), {}, { env }))).toBe(true);
    const attacker = stall(w, merchant, own.product, await newAgent(w, 10_000n));
    for (let i = 0; i < LIMIT / 2 - 1; i++) await admissionOf(merchant).noteFailedFee(Date.now());
    // Two concurrent payments of the same money: one fails on chain at our expense.
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
    const elsewhere = await openStall(await w.merchant('free'));
    expect(mayServe(await elsewhere.settle(await elsewhere.pay(), {}, { env }))).toBe(true);
  });

  it('each failed payment counts once, also if concurrent calls bring it', async () => {
    const merchant = await w.merchant('free');
    const own = await openStall(merchant);
    const attacker = stall(w, merchant, own.product, await newAgent(w, 10_000n));
    for (let i = 0; i < LIMIT / 2 - 2; i++) await admissionOf(merchant).noteFailedFee(Date.now());
    const twice = [await attacker.pay(), await attacker.pay()];
    // Both are sent before either is seen, so one fails on chain unseen.
    await w.chain.fault({ kind: 'delay', method: 'sendTransaction', ms: 500, times: 0 });
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 0 });
    const sent = await Promise.all(twice.map((payment) => attacker.settle(payment, {}, { env })));
    expect(sent.map(({ status }) => status)).toEqual([202, 202]);
    await w.chain.call('local_clearFaults');
    const answers = await Promise.all([...twice, ...twice, ...twice].map((payment) => attacker.settle(payment, {}, { env })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 422, 422, 422]);
    // The count is now one failure below the limit for unknown payers.
    const stranger = stall(w, merchant, own.product, await newAgent(w));
    expect(mayServe(await stranger.settle(await stranger.pay(), {}, { env }))).toBe(true);
  });
});
