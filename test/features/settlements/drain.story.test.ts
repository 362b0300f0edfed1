import { evictDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { admissionIdOf } from '#core/ids.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { PLANS } from '#rules/plans.ts';
import {
  feePayerOf,
  mayServe,
  newAgent,
  newKey,
  restateSettlement,
  type Shop,
  sellToAgents,
  stall,
  sweepAll,
  withConfig,
} from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Limits on the fees that unknown payers cause, without effect on others. */
const w = new World();
const env = withConfig(w, { RATE_MULTIPLIER: '1' });
const feePayerHas = async () => (await w.chain.call<{ value: number }>('getBalance', feePayerOf(w))).value;
const newStall = async (merchant: Merchant, usdc?: bigint) => stall(w, merchant, await sellToAgents(w, merchant), await newAgent(w, usdc));
const admissionOf = ({ userId }: Merchant) => testEnv.ADMISSION.getByName(`account:${admissionIdOf(userId)}`);

describe('daily budget of network fees', () => {
  // Ten times the free plan, so that its calls per second are not the limit.
  const TIMES = 10;
  const env = withConfig(w, { RATE_MULTIPLIER: String(TIMES) });
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant('free');
  });
  const LIMIT = PLANS.free.feesPerDay * TIMES;
  const spend = (fees: number, now = Date.now()) =>
    admissionOf(merchant).spendFees({ fees, max: null, isKnownPayer: true, rateMultiplier: TIMES, now });

  it('a payment costs the budget once, and a used-up budget answers 429 until the day ends and sends nothing', async () => {
    const own = await newStall(merchant);
    await spend(LIMIT - 2);
    const first = await own.pay();
    const brought = await Promise.all(Array.from({ length: 2 }, () => own.settle(first, {}, { env })));
    expect(brought.map(({ status }) => status)).toEqual([200, 200]);
    expect((await own.settle(first, {}, { env })).status).toBe(200);
    expect((await own.settle(await own.pay(), {}, { env })).status).toBe(200);
    const before = await feePayerHas();
    const [late, idempotencyKey] = [await own.pay(), newKey()];
    const refused = await own.settle(late, {}, { env, idempotencyKey });
    expect([refused.status, refused.body.code, refused.body.retryable]).toEqual([429, 'rate_limited', true]);
    expect(refused.body.meta).toEqual({ reason: 'fee_budget', limit: LIMIT, left: 0, plan: 'free' });
    const leftOfDay = 86_400 - ((Date.now() / 1000) % 86_400);
    expect(Math.abs(Number(refused.headers.get('Retry-After')) - leftOfDay)).toBeLessThan(60);
    expect([await feePayerHas(), (await own.books()).claims]).toEqual([before, 2]);
    expect((await own.settle(first, {}, { env })).headers.get('X-Svc-Duplicate-Settlement')).toBe('true');
    // Another merchant is not affected, and the refused payment is valid under a higher budget.
    const other = await newStall(await w.merchant('free'));
    expect(mayServe(await other.settle(await other.pay(), {}, { env }))).toBe(true);
    expect(mayServe(await own.settle(late, {}, { env: withConfig(w, { RATE_MULTIPLIER: String(2 * TIMES) }), idempotencyKey }))).toBe(true);
  });

  it('the budget survives an eviction of the object and resets with the day', async () => {
    expect((await spend(1)).allowed).toBe(false);
    await evictDurableObject(admissionOf(merchant));
    expect((await spend(1)).allowed).toBe(false);
    const tomorrow = Date.now() + 86_400_000;
    expect((await spend(1, tomorrow)).allowed).toBe(true);
    // A lagging clock does not reopen a past day.
    await spend(LIMIT - 1, tomorrow);
    expect((await spend(1)).allowed).toBe(false);
  });
});

describe('limits per payer', () => {
  it('a payer who spends the same money concurrently has few settlements in flight over all merchants', async () => {
    const stalls: Shop[] = [];
    const agent = await newAgent(w, 10_000n);
    for (let i = 0; i < 2; i++) {
      const merchant = await w.merchant();
      stalls.push(stall(w, merchant, await sellToAgents(w, merchant), agent));
    }
    const payments = [];
    for (let i = 0; i < 12; i++) payments.push({ own: stalls[i % 2]!, payment: await stalls[i % 2]!.pay() });
    const before = await feePayerHas();
    // A slow node leaves the first settlements open until the last request has arrived.
    await w.chain.fault({ kind: 'delay', method: 'sendTransaction', ms: 1500, times: 0 });
    const answers = await Promise.all(payments.map(({ own, payment }) => own.settle(payment, {}, { env })));
    await w.chain.call('local_clearFaults');
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 429).length + statuses.filter((status) => status === 422).length).toBe(11);
    expect(Math.floor((before - (await feePayerHas())) / 10_000)).toBeLessThanOrEqual(7);
  });

  it('a payer at the limit of open settlements gets 429 with Retry-After, and the payment is valid afterwards', async () => {
    const own = await newStall(await w.merchant());
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 0 });
    const payments = [];
    for (let i = 0; i < 6; i++) payments.push(await own.pay());
    for (const payment of payments.slice(0, 5)) expect((await own.settle(payment, {}, { env })).status).toBe(202);
    const [sixth, idempotencyKey] = [payments[5]!, newKey()];
    const busy = await own.settle(sixth, {}, { env, idempotencyKey });
    expect([busy.status, busy.body.code, busy.headers.get('Retry-After')]).toEqual([429, 'rate_limited', '5']);
    expect(busy.body.meta).toMatchObject({ reason: 'payer_busy', left: { open: 0, failed: 10 } });
    expect((await own.books()).settlements).toBe(5);
    await w.chain.call('local_clearFaults');
    await sweepAll(w);
    expect((await own.books()).payments).toBe(5);
    expect(mayServe(await own.settle(sixth, {}, { env, idempotencyKey }))).toBe(true);
  });

  it('a payer with ten on-chain failures in ten minutes waits; expiries do not count, and other payers continue', async () => {
    const own = await newStall(await w.merchant());
    const wallet = own.agent.wallet.address;
    const failures = async (reason: string) => {
      for (let i = 0; i < 10; i++) {
        const { body } = await own.settle(await own.pay());
        const settlement = await restateSettlement(w, body.payment_id);
        await w.db.insert(settlements).values({ ...settlement, status: 'failed', failureReason: reason });
      }
    };
    await failures('blockhash_expired');
    expect((await own.settle(await own.pay(), {}, { env })).status).toBe(200);
    await failures('transaction_failed');
    const payment = await own.pay();
    const limits = { limit: { open: 5, failed: 10 }, left: { open: 5, failed: 0 } };
    expect((await own.settle(payment, {}, { env })).body.meta).toEqual({ reason: 'payer_busy', ...limits });
    const rival = stall(w, own.merchant, own.product, await newAgent(w));
    expect((await rival.settle(await rival.pay(), {}, { env })).status).toBe(200);
    await w.env.DB.prepare('UPDATE settlements SET created_at = created_at - 600000 WHERE payer_wallet = ?').bind(wallet).run();
    expect((await own.settle(payment, {}, { env })).status).toBe(200);
  });
});
