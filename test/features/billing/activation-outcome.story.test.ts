import { beforeAll, describe, expect, it } from 'vitest';
import type { PaymentId } from '#core/ids.ts';
import { finishSettlement } from '#features/settlements/finish.ts';
import { getSettlement } from '#features/settlements/store.ts';
import { newCtx } from '#platform/context.ts';
import { letTimePass, readOutcome, sweepUntilBelieved, watchOnce } from '../../support/faults/finality.ts';
import {
  activate,
  buy,
  newSetup,
  newSpender,
  openTreasury,
  payFor,
  readAccountPlan,
  readSettlements,
  setupRow,
} from '../../support/people/activation.ts';
import type { Agent } from '../../support/people/agent.ts';
import { REPEATED, testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;

describe('plan with a dropped payment', REPEATED, () => {
  const w = new World();
  let agent: Agent;
  beforeAll(async () => {
    await openTreasury(w);
    agent = await newSpender(w);
    await w.chain.call('local_fundUsdc', agent.wallet.address, '100000000000');
  });
  const strict = { ...w.env, RATE_MULTIPLIER: '1' };
  const readRateLimit = async ({ key }: Merchant) =>
    (await w.call('GET', '/v1/products', { key, env: strict })).headers.get('X-RateLimit-Limit');
  const bought = async (merchant: Merchant, plan: 'starter' | 'growth' | 'scale') => {
    const { status, body } = await activate(w, agent, plan, { key: merchant.key });
    expect(status).toBe(200);
    const settlement = (await readSettlements(merchant)).at(-1)!;
    return { id: settlement.payment_id, signature: settlement.tx_signature, receiptId: body.receipt_id as string };
  };
  const drop = async ({ signature }: { signature: string }) => {
    await w.chain.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
  };
  const bringBack = async ({ signature }: { signature: string }) => {
    await w.chain.call('local_landAgain', signature);
    await letTimePass(w, 601);
    await w.sweepAlone('finality');
  };
  const verified = async ({ receiptId }: { receiptId: string }) => (await w.call('GET', `/v1/receipt/${receiptId}/verify`)).body;
  const daysHeld = async (merchant: Merchant) => ((await readAccountPlan(merchant)).plan_through! - Date.now()) / DAY;

  it('a dropped payment revokes plan, limits and receipt, and its return restores them', async () => {
    const merchant = await w.merchant('free');
    const plan = await bought(merchant, 'growth');
    const before = await readAccountPlan(merchant);
    expect([await readRateLimit(merchant), (await verified(plan)).valid]).toEqual(['1000', true]);
    await drop(plan);
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'free', plan_through: null });
    expect([await readRateLimit(merchant), await verified(plan)]).toMatchObject(['60', { valid: false, reason: 'transaction_orphaned' }]);
    await bringBack(plan);
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'growth', plan_through: before.plan_through });
    expect([await readRateLimit(merchant), (await verified(plan)).valid]).toEqual(['1000', true]);
    expect(await readOutcome(plan.id)).toMatchObject({ kind: 'activation', final_at: expect.any(Number), dropped_at: null });
  });

  it('the plan stays if no node has the history of its payment', async () => {
    const merchant = await w.merchant('free');
    const plan = await bought(merchant, 'starter');
    await w.chain.fault({ kind: 'no_history', times: 0 });
    for (let i = 0; i < 4; i++) await sweepUntilBelieved(w);
    await w.chain.call('local_clearFaults');
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'starter' });
    expect((await verified(plan)).valid).toBe(true);
  });

  it.each([
    ['the first of three', 0, 'scale', 30 + (30 * 19) / 199],
    ['the middle one', 1, 'scale', 30 + (30 * 19) / 199],
    ['the highest, bought last', 2, 'starter', 60],
  ] as const)('a dropped payment leaves the other payments their worth: %s', async (_which, dropped, plan, days) => {
    const merchant = await w.merchant('free');
    const plans = [await bought(merchant, 'starter'), await bought(merchant, 'starter'), await bought(merchant, 'scale')];
    const all = await readAccountPlan(merchant);
    await drop(plans[dropped]!);
    expect((await readAccountPlan(merchant)).plan).toBe(plan);
    expect(await daysHeld(merchant)).toBeCloseTo(days, 2);
    await bringBack(plans[dropped]!);
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'scale', plan_through: all.plan_through });
  });

  it('a dropped upgrade restores the plan before it, with its end', async () => {
    const merchant = await w.merchant('free');
    await bought(merchant, 'starter');
    const before = await readAccountPlan(merchant);
    const next = await bought(merchant, 'growth');
    expect(await daysHeld(merchant)).toBeCloseTo(30 + (30 * 19) / 49, 2);
    await drop(next);
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'starter', plan_through: before.plan_through });
  });

  it('a plan without an end never changes', async () => {
    const merchant = await w.merchant('free');
    const plan = await bought(merchant, 'starter');
    await testEnv.DB.prepare("UPDATE accounts SET plan = 'scale', plan_through = NULL WHERE id = ?").bind(merchant.userId).run();
    await drop(plan);
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'scale', plan_through: null });
    await bringBack(plan);
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'scale', plan_through: null });
  });

  it('a drop lets the setup expire a day later, unless the payment returns', async () => {
    const { merchant, id, secret } = await newSetup(w);
    const plan = await activate(w, agent, 'starter', { secret });
    expect([plan.status, (await setupRow(id)).expires_at]).toEqual([200, null]);
    const { tx_signature: signature } = (await readSettlements(merchant))[0]!;
    await drop({ signature });
    const { expires_at } = await setupRow(id);
    expect((expires_at! - Date.now()) / DAY).toBeCloseTo(1, 2);
    await bringBack({ signature });
    expect((await setupRow(id)).expires_at).toBeNull();
    expect((await readAccountPlan(merchant)).plan).toBe('starter');
  });

  const PASSED = {
    drop: async () => {
      await letTimePass(w, 61);
      await watchOnce(w);
      await letTimePass(w, 31);
    },
    return: async (signature: string) => {
      await sweepUntilBelieved(w);
      await w.chain.call('local_landAgain', signature);
      await letTimePass(w, 601);
    },
  };

  it.each([
    ['before', 'drop'],
    ['after', 'drop'],
    ['before', 'return'],
    ['after', 'return'],
  ] as const)('a crash %s any trip of the sweep that finds its %s: the change and the limits are applied once', async (when, stage) => {
    let cut = 0;
    for (let isCut = true; isCut; ) {
      cut++;
      const merchant = await w.merchant('free');
      const plan = await bought(merchant, 'starter');
      const held = await readAccountPlan(merchant);
      await w.chain.fault({ kind: 'vanish', signature: plan.signature });
      await PASSED[stage](plan.signature);
      isCut = (await watchOnce(w, { [when]: ({ number }: { number: number }) => number === cut })) >= cut;
      await letTimePass(w, 3601);
      await watchOnce(w);
      const { plan: now, plan_through, version } = await readAccountPlan(merchant);
      expect([now, plan_through, version - held.version, await readRateLimit(merchant)], `cut ${cut}`).toEqual(
        stage === 'drop' ? ['free', null, 1, '60'] : ['starter', held.plan_through, 2, '300'],
      );
      await testEnv.DB.prepare('UPDATE tx_claims SET next_check_at = NULL').run();
    }
    expect(cut).toBeGreaterThan(5);
  });

  it('two concurrent sweeps revoke the plan once, in one version of the account', async () => {
    const merchant = await w.merchant('free');
    const plan = await bought(merchant, 'starter');
    const { version } = await readAccountPlan(merchant);
    await w.chain.fault({ kind: 'vanish', signature: plan.signature });
    await letTimePass(w, 61);
    await w.sweepAlone('finality');
    await letTimePass(w, 31);
    await Promise.all([w.sweepAlone('finality'), w.sweepAlone('finality')]);
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'free', version: version + 1 });
  });
});

describe('plan settlement', REPEATED, () => {
  const w = new World();
  let agent: Agent;
  beforeAll(async () => {
    await openTreasury(w);
    agent = await newSpender(w);
  });

  it('a payment that a race let through shows no end date on a plan without an end', async () => {
    const merchant = await w.merchant('free');
    const payment = await payFor(w, agent, 'starter', { key: merchant.key });
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 100 });
    expect((await buy(w, 'starter', { key: merchant.key }, payment)).status).toBe(202);
    await w.chain.call('local_clearFaults');
    await testEnv.DB.prepare("UPDATE accounts SET plan = 'growth', plan_through = NULL, version = version + 1 WHERE id = ?")
      .bind(merchant.userId)
      .run();
    const { status, body } = await buy(w, 'starter', { key: merchant.key }, payment);
    expect([status, body.plan, body.paid_through]).toEqual([200, 'growth', null]);
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'growth', plan_through: null });
  });

  it('a settlement that is already stored changes neither limits nor plan', async () => {
    const merchant = await w.merchant('free');
    await activate(w, agent, 'starter', { key: merchant.key });
    const { payment_id, tx_signature } = (await readSettlements(merchant))[0]!;
    const ctx = newCtx(w.env, { requestId: 'req_late', defer: () => {} });
    const settlement = await getSettlement(ctx.db, payment_id as PaymentId);
    const sighting = await ctx.chain.findTransaction(tx_signature);
    if (sighting.kind !== 'found') throw new Error(sighting.kind);
    // A call that read the settlement while it was pending, with another plan. Nothing of it may be stored.
    const late = { ...settlement, status: 'pending' as const, terms: { ...settlement.terms, plan: 'scale' as const } };
    expect(await finishSettlement(ctx, late, sighting.transaction)).toMatchObject({ status: 'settled' });
    const { headers } = await w.call('GET', '/v1/products', { key: merchant.key, env: { ...w.env, RATE_MULTIPLIER: '1' } });
    expect(headers.get('X-RateLimit-Limit')).toBe('300');
    expect((await readAccountPlan(merchant)).plan).toBe('starter');
  });
});
