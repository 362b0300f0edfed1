import { beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { callTesting } from '../../support/clients/sandbox.ts';
import {
  activate,
  buy,
  newSetup,
  newSpender,
  openTreasury,
  payFor,
  paymentResponse,
  readAccountPlan,
  setupRow,
} from '../../support/people/activation.ts';
import { type Answer, type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('plan activation in the sandbox', () => {
  const w = new World();
  beforeAll(() => openTreasury(w));

  const test = (plan: string, key: string, payment?: string) => buy(w, plan, { key }, payment);
  async function payInTest(merchant: Merchant, plan: string): Promise<string> {
    const { status, headers } = await test(plan, merchant.sandboxKey);
    expect(status).toBe(402);
    const paid = await callTesting(w, merchant, 'POST', 'pay', { payment_required: headers.get('PAYMENT-REQUIRED') });
    return paid.body.payment_signature;
  }
  const activateInTest = async (merchant: Merchant, plan: string): Promise<Answer<Body>> =>
    test(plan, merchant.sandboxKey, await payInTest(merchant, plan));

  it('a test wallet pays for a plan with the answer of a real one, without changing the account or calling a node', async () => {
    const ada = await w.merchant('free');
    const before = await readAccountPlan(ada);
    await w.chain.call('local_resetCalls');
    const payment = await payInTest(ada, 'starter');
    const bought = await test('starter', ada.sandboxKey, payment);
    expect([bought.status, bought.body.plan, bought.body.account_id]).toEqual([200, 'starter', ada.userId]);
    expect(Date.parse(bought.body.paid_through)).toBeGreaterThan(Date.now() + 29 * DAY);
    expect(paymentResponse(bought)).toMatchObject({ success: true, amount: '19000000' });
    expect(await w.chain.call('local_calls')).toEqual({});
    expect(await readAccountPlan(ada)).toEqual(before);
    const receipt = await w.call('GET', `/v1/receipt/${bought.body.receipt_id}/public`);
    expect(receipt.body.document.livemode).toBe(false);
    expect((await test('starter', ada.sandboxKey, payment)).body).toEqual(bought.body);
  });

  it('test purchases extend and raise only the test plan and never count for a real purchase', async () => {
    const bob = await w.merchant('free');
    const first = await activateInTest(bob, 'starter');
    const second = await activateInTest(bob, 'starter');
    expect(Date.parse(second.body.paid_through) - Date.parse(first.body.paid_through)).toBe(30 * DAY);
    expect((await activateInTest(bob, 'growth')).body.plan).toBe('growth');
    expect((await test('starter', bob.sandboxKey)).body.meta.reason).toBe('plan_lower');
    const real = await activate(w, await newSpender(w), 'starter', { key: bob.key });
    expect([real.status, real.body.plan]).toEqual([200, 'starter']);
    expect(Date.parse(real.body.paid_through)).toBeLessThan(Date.now() + 31 * DAY);
    expect((await readAccountPlan(bob)).plan).toBe('starter');
    // The account's real plan does not affect a test purchase.
    expect((await test('scale', bob.sandboxKey)).status).toBe(402);
  });

  it('a payment signed for one mode does not pay in the other mode', async () => {
    const eve = await w.merchant('free');
    const [tested, real] = [await payInTest(eve, 'starter'), await payFor(w, await newSpender(w), 'starter', { key: eve.key })];
    expect((await test('starter', eve.key, tested)).status).toBe(402);
    expect((await test('starter', eve.sandboxKey, real)).status).toBe(402);
    expect((await test('starter', eve.sandboxKey, tested)).status).toBe(200);
    expect((await readAccountPlan(eve)).plan).toBe('free');
    expect((await test('starter', eve.key, tested)).status).toBe(402);
  });

  it('a test purchase changes no setup limits, does not extend the setup and yields no live key', async () => {
    const { merchant, secret, id } = await newSetup(w, { perDay: 20_000_000n });
    const before = await setupRow(id);
    const path = '/v1/access/x402/activate/growth?mode=sandbox';
    const headers = { 'X-Svc-Setup-Secret': secret };
    const asked = await w.call('POST', path, { headers });
    expect(asked.status).toBe(402);
    const paid = await callTesting(w, merchant, 'POST', 'pay', { payment_required: asked.headers.get('PAYMENT-REQUIRED') });
    const bought = await w.call('POST', path, { headers: { ...headers, 'PAYMENT-SIGNATURE': paid.body.payment_signature } });
    expect([bought.status, bought.body.plan]).toEqual([200, 'growth']);
    expect(await setupRow(id)).toEqual(before);
    expect((await readAccountPlan(merchant)).plan).toBe('free');
    expect((await buy(w, 'starter', { secret })).status).toBe(402);
  });
});
