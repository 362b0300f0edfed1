// @module-tag quick
import { wrapFetchWithPayment } from '@x402/fetch';
import { beforeAll, describe, expect, it } from 'vitest';
import { PLANS, planPrice } from '#rules/plans.ts';
import { CAPS, priced } from '../../support/chain/priced.ts';
import {
  activate,
  buy,
  newSpender,
  openTreasury,
  payFor,
  paymentResponse,
  readAccountPlan,
  readActivations,
  readSettlements,
} from '../../support/people/activation.ts';
import { type Agent, decoded, newAgent } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;

describe('POST /v1/access/x402/activate/{plan}', () => {
  const w = new World();
  let agent: Agent;
  beforeAll(async () => {
    await openTreasury(w);
    agent = await newSpender(w);
  });

  it('a 402 states the price, the challenge and the client setting', async () => {
    const { key } = await w.merchant('free');
    for (const plan of ['starter', 'growth', 'scale'] as const) {
      const { status, body, headers } = await buy(w, plan, { key });
      expect([status, body.code, headers.get('Cache-Control')]).toEqual([402, 'payment_required', 'no-store']);
      const required = decoded(headers.get('PAYMENT-REQUIRED')!);
      expect(body.meta.payment_required).toEqual(required);
      const setting = `setSpendControls({ maxAmountPerPayment: '$${PLANS[plan].priceUsdc}' })`;
      expect(body.meta.client_setting).toBe(setting);
      expect(body.detail).toContain(setting);
      expect(required).toMatchObject({
        x402Version: 2,
        resource: { url: `https://svc.test/v1/access/x402/activate/${plan}` },
        accepts: [{ scheme: 'exact', amount: planPrice(plan).toString(), payTo: w.env.TREASURY_WALLET }],
      });
      expect(required.error).toBeUndefined();
    }
  });

  it('an unmodified client needs the stated spend setting, and then activates the plan', async () => {
    const merchant = await w.merchant('free');
    const through = async (request: Request) => {
      const sent = { headers: Object.fromEntries(request.headers), env: w.env };
      const answer = await w.call(request.method, new URL(request.url).pathname, sent);
      return new Response(JSON.stringify(answer.body), { status: answer.status, headers: answer.headers });
    };
    const url = 'https://svc.test/v1/access/x402/activate/starter';
    const init = { method: 'POST', headers: { 'X-Svc-Key': merchant.key } };
    const cautious = await newAgent(w);
    const before = cautious.client;
    await expect(wrapFetchWithPayment(through as typeof fetch, before)(url, init)).rejects.toThrow(/maxAmountPerPayment/);
    expect(await readSettlements(merchant)).toEqual([]);
    cautious.client.setSpendControls({ maxAmountPerPayment: '$19' });
    const at = Date.now();
    const response = await wrapFetchWithPayment(through as typeof fetch, cautious.client)(url, init);
    expect(response.status).toBe(200);
    const body = (await response.json()) as Record<string, string>;
    expect(body).toMatchObject({ plan: 'starter', account_id: merchant.userId });
    expect(Date.parse(body.paid_through!) - at).toBeGreaterThanOrEqual(30 * DAY);
    expect(Date.parse(body.paid_through!) - at).toBeLessThan(30 * DAY + 60_000);
    const paid = decoded(response.headers.get('PAYMENT-RESPONSE')!);
    expect(paid).toMatchObject({ success: true, payer: cautious.wallet.address, amount: '19000000' });
    const [settlement] = await readSettlements(merchant);
    expect([paid.transaction, settlement!.status]).toEqual([settlement!.tx_signature, 'settled']);
  });

  it('the service issues a signed receipt that verifies', async () => {
    const merchant = await w.merchant('free');
    const { body } = await activate(w, agent, 'growth', { key: merchant.key });
    const { body: receipt } = await w.call('GET', `/v1/receipt/${body.receipt_id}`, { key: merchant.key });
    expect(receipt.document).toMatchObject({
      product_name: 'Growth plan, 30 days',
      payer: agent.wallet.address,
      recipient: w.env.TREASURY_WALLET,
      amount: { asset: 'USDC', amount: '49' },
      merchant: { account_id: '00000000-0000-8000-8000-000000000000', display_name: 'svc' },
    });
    const { body: verified } = await w.call('GET', `/v1/receipt/${body.receipt_id}/verify`);
    expect(verified.valid).toBe(true);
    const { body: list } = await w.call('GET', '/v1/receipts?direction=paid', { key: merchant.key });
    expect(list.items.map((item: { receipt_id: string }) => item.receipt_id)).toEqual([body.receipt_id]);
    const [settlement] = await readSettlements(merchant);
    expect(await w.eventTypes(settlement!.payment_id)).toEqual(['receipt.created']);
    // The receipt belongs to a payment that the account made, not to one that it received.
    expect((await w.call('POST', '/v1/receipt', { key: merchant.key, body: { tx_sig: settlement!.tx_signature } })).status).toBe(404);
    const other = await activate(w, agent, 'growth', { key: merchant.key });
    const again = await w.call('GET', `/v1/receipt/${other.body.receipt_id}`, { key: merchant.key });
    expect(again.body.document.product_id).toBe(receipt.document.product_id);
  });

  it('the new limits apply from the next request on: rates, keys, tier', async () => {
    const merchant = await w.merchant('free');
    const env = { ...w.env, RATE_MULTIPLIER: '1' };
    const limit = async () => (await w.call('GET', '/v1/products', { key: merchant.key, env })).headers.get('X-RateLimit-Limit');
    const newKey = () => w.call('POST', '/v1/keys', { key: merchant.token, body: { name: 'more' } });
    expect((await newKey()).status).toBe(201);
    expect([await limit(), (await newKey()).status]).toEqual(['60', 429]);
    expect((await activate(w, agent, 'starter', { key: merchant.key })).status).toBe(200);
    expect([await limit(), (await newKey()).status]).toEqual(['300', 201]);
    expect((await w.call('GET', '/v1/account/me', { key: merchant.key })).body.tier).toBe('starter');
  });

  it('a second payment adds its days, and a higher plan starts at once and lasts as long as the 402 stated', async () => {
    const merchant = await w.merchant('free');
    const first = await activate(w, agent, 'starter', { key: merchant.token });
    const second = await activate(w, agent, 'starter', { key: merchant.key });
    expect(Date.parse(second.body.paid_through) - Date.parse(first.body.paid_through)).toBe(30 * DAY);
    const asked = (await buy(w, 'scale', { key: merchant.key })).body.meta;
    const third = await activate(w, agent, 'scale', { key: merchant.key });
    expect([asked.plan, third.body.plan]).toEqual(['scale', 'scale']);
    const days = (Date.parse(third.body.paid_through) - Date.now()) / DAY;
    expect(days).toBeCloseTo(30 + (60 * 19) / 199, 3);
    // Seconds pass between quote and payment, and the lower plan shrinks meanwhile.
    expect(Math.abs(Date.parse(asked.paid_through) - Date.parse(third.body.paid_through))).toBeLessThan(60_000);
  });

  it('three Starter months and one Scale month last as long as their total value', async () => {
    const merchant = await w.merchant('free');
    for (const plan of ['starter', 'starter', 'starter'] as const) await activate(w, agent, plan, { key: merchant.key });
    const { body } = await activate(w, agent, 'scale', { key: merchant.key });
    expect((Date.parse(body.paid_through) - Date.now()) / DAY).toBeCloseTo(38.593, 2);
  });

  it('a lower plan is refused while a higher one runs, before a challenge and before a claim', async () => {
    const merchant = await w.merchant('free');
    const early = await payFor(w, agent, 'starter', { key: merchant.key });
    await activate(w, agent, 'growth', { key: merchant.key });
    for (const payment of [undefined, early]) {
      const { status, body } = await buy(w, 'starter', { key: merchant.key }, payment);
      expect([status, body.code, body.meta.reason, body.meta.plan]).toEqual([409, 'state_conflict', 'plan_lower', 'growth']);
    }
    expect(await readSettlements(merchant)).toHaveLength(1);
  });

  it('a purchase over a plan without an end is refused with 409 plan_endless', async () => {
    for (const [held, bought] of [
      ['scale', 'scale'],
      ['growth', 'scale'],
      ['growth', 'starter'],
    ] as const) {
      const endless = await w.merchant(held);
      const { status, body } = await buy(w, bought, { key: endless.key });
      expect([status, body.code, body.meta.reason, body.meta.plan]).toEqual([409, 'state_conflict', 'plan_endless', held]);
      expect(await readAccountPlan(endless)).toMatchObject({ plan: held, plan_through: null });
    }
  });

  it('a plan ends at its instant, before any sweep, and the sweep stores the end', async () => {
    const merchant = await w.merchant('free');
    await activate(w, agent, 'growth', { key: merchant.key });
    const env = { ...w.env, RATE_MULTIPLIER: '1' };
    const end = async (at: number) => {
      // Moves the end in the row and in the account's admission object.
      await testEnv.DB.prepare('UPDATE accounts SET plan_through = ?, version = version + 1 WHERE id = ?').bind(at, merchant.userId).run();
      const { admission_id, ...row } = (await testEnv.DB.prepare('SELECT * FROM accounts WHERE id = ?').bind(merchant.userId).first<{
        admission_id: string;
        version: number;
      }>())!;
      const account = {
        accountId: merchant.userId,
        plan: 'growth',
        planThrough: at,
        status: 'active',
        tokenVersion: 1,
        isStaff: false,
        ownerId: merchant.userId,
        roles: {},
      } as const;
      await w.env.ADMISSION.getByName(`account:${admission_id}`).load({ ...account, version: row.version }, []);
    };
    const readTier = async () => {
      const me = await w.call('GET', '/v1/account/me', { key: merchant.key, env });
      return [me.body.tier, me.headers.get('X-RateLimit-Limit')];
    };
    await end(Date.now() + 60_000);
    expect(await readTier()).toEqual(['growth', '1000']);
    await w.sweepAlone('plans');
    expect((await readAccountPlan(merchant)).plan).toBe('growth');
    await end(Date.now() - 1);
    expect(await readTier()).toEqual(['free', '60']);
    const login = await w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password: 'correct horse battery' } });
    expect(login.body.tier).toBe('free');
    await w.sweepAlone('plans');
    expect(await readAccountPlan(merchant)).toMatchObject({ plan: 'free', plan_through: null });
    expect(await readTier()).toEqual(['free', '60']);
    const { body } = await activate(w, agent, 'starter', { key: merchant.key });
    expect(Date.parse(body.paid_through)).toBeLessThan(Date.now() + 30 * DAY + 1);
  });

  it('a refused payment gets a new 402 with the reason', async () => {
    const merchant = await w.merchant('free');
    const refused = await buy(w, 'starter', { key: merchant.key }, 'bm90IGEgcGF5bWVudA==');
    expect([refused.status, refused.body.meta.reason]).toEqual([402, 'invalid_payload']);
    expect(decoded(refused.headers.get('PAYMENT-REQUIRED')!).error).toBe('invalid_payload');
    expect(refused.headers.get('PAYMENT-RESPONSE')).toBeNull();
    const poor = await newAgent(w, 1_000_000n);
    poor.client.setSpendControls(false);
    const broke = await buy(w, 'starter', { key: merchant.key }, await payFor(w, poor, 'starter', { key: merchant.key }));
    expect([broke.status, broke.body.meta.reason]).toEqual([402, 'invalid_exact_svm_transaction_simulation_failed']);
    const payment = await payFor(w, agent, 'starter', { key: merchant.key });
    const costly = await priced(payment, agent.wallet, { units: 400_000, microLamports: 50_001n });
    const refusedByCap = await buy(w, 'starter', { key: merchant.key }, costly);
    expect(refusedByCap.body.meta.limits).toEqual(CAPS);
    expect(refusedByCap.body.meta.payment_required.accepts[0].extra).toMatchObject(CAPS);
    expect(await readActivations(merchant)).toEqual([]);
  });

  it('a payment for another account, plan, mode or network is refused', async () => {
    const [ada, bob] = (await Promise.all([w.merchant('free'), w.merchant('free')])) as [Merchant, Merchant];
    const payment = await payFor(w, agent, 'starter', { key: ada.key });
    for (const [plan, key] of [
      ['growth', ada.key],
      ['starter', bob.key],
    ] as const)
      expect((await buy(w, plan, { key }, payment)).body.meta.reason).toBe('invalid_payment_requirements');
    const sandbox = await buy(w, 'starter', { key: ada.sandboxKey }, payment);
    expect([sandbox.status, sandbox.body.meta.reason]).toEqual([402, expect.stringMatching(/fee_payer/)]);
    expect(await buy(w, 'starter', { key: ada.token }, payment, {})).toMatchObject({ status: 200 });
    const used = await Promise.all([buy(w, 'growth', { key: ada.key }, payment), buy(w, 'starter', { key: bob.key }, payment)]);
    expect(used.map(({ status, body }) => [status, body.code])).toEqual(Array(2).fill([409, 'duplicate_settlement']));
    const forged = JSON.parse(atob(await payFor(w, agent, 'starter', { key: bob.key })));
    forged.accepted.network = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';
    expect((await buy(w, 'starter', { key: bob.key }, btoa(JSON.stringify(forged)))).body.meta.reason).toMatch(/network_mismatch/);
    expect(await readSettlements(bob)).toEqual([]);
  });

  it('plans are not sold if the treasury cannot be paid', async () => {
    const { key } = await w.merchant('free');
    const without = { ...w.env, TREASURY_WALLET: '' };
    const bare = { ...w.env, FEE_PAYER_KEYS: '' };
    for (const env of [without, bare]) {
      const { status, body } = await buy(w, 'starter', { key }, undefined, { env });
      expect([status, body.code, body.meta.reason]).toEqual([409, 'setup_not_ready', 'treasury_wallet_set']);
    }
    const elsewhere = { ...w.env, TREASURY_WALLET: (await w.chain.wallet(0n)).address };
    expect((await buy(w, 'starter', { key }, undefined, { env: elsewhere })).body.meta.reason).toBe('treasury_ata_exists');
    expect(paymentResponse(await activate(w, agent, 'starter', { key })).success).toBe(true);
  });
});
