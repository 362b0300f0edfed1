import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { DAY, SECOND } from '#core/time.ts';
import {
  letDoubtsAge,
  mayServe,
  newAgent,
  newKey,
  openShop,
  type Shop,
  sellToAgents,
  stall,
  sweepAll,
} from '../../support/people/agent.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { type Answer, World } from '../../support/world.ts';

const usdc = (amount: string) => ({ asset: 'USDC', amount });
const LIMIT = { asset: 'USDC', amount: '0.05', base_units: '50000' };
const LIMITED = { max_per_payer_per_day: usdc('0.05') };
const LOOP = 50;
const ALLOWED = 5;
const dayNow = () => new Date(Date.now()).toISOString().slice(0, 10);

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Refused = Answer<any>;

describe('max_per_payer_per_day', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w, LIMITED);
  });
  afterEach(async () => {
    endSkips();
    await w.chain.call('local_clearFaults');
  });
  const newStall = async (terms: object = LIMITED) =>
    stall(w, shop.merchant, await sellToAgents(w, shop.merchant, { ...terms }), await newAgent(w));
  const buy = async (at: Shop, body: object = {}) => at.settle(await at.agent.pay(await at.challenge(challengeOf(body))), body);
  const challengeOf = (body: { consume_units?: number }) => (body.consume_units === undefined ? {} : { units: body.consume_units });
  const broadcasts = async () => (await w.chain.call<{ sendTransaction?: number }>('local_calls')).sendTransaction ?? 0;
  const noticed = async ({ product, merchant }: Shop) => {
    const { body } = await w.call('GET', '/v1/webhooks/events?event_type=payer.limit_reached&per_page=100', { key: merchant.key });
    return body.items.filter(({ subject }: { subject: { id: string } }) => subject.id === product.product_id);
  };
  /** Payments on the way or on the chain of the shop's product. */
  const payments = async ({ product }: Shop): Promise<number> =>
    (await w.env.DB.prepare(
      "SELECT (SELECT count(*) FROM payments WHERE product_id = ?1) + (SELECT count(*) FROM settlements WHERE product_id = ?1 AND status = 'pending') AS n",
    )
      .bind(product.product_id)
      .first<number>('n'))!;
  /** Leaves a payment pending: the node acknowledges and drops it. */
  const leavePending = async (own: Shop) => {
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    const payment = await own.pay();
    expect((await own.settle(payment)).status).toBe(202);
    return payment;
  };
  const expectRefused = (refused: Refused, paid = LIMIT) => {
    expect(refused).toMatchObject({ status: 429, body: { code: 'payer_limit_reached', retryable: false } });
    const midnight = Math.ceil((Date.now() + 1) / DAY) * DAY;
    expect(refused.body.meta).toEqual({ limit: LIMIT, paid, resets_at: new Date(midnight).toISOString() });
    expect(Math.abs(Number(refused.headers.get('Retry-After')) - (midnight - Date.now()) / SECOND)).toBeLessThan(30);
    expect(refused.headers.get('PAYMENT-REQUIRED')).toBeNull();
  };

  it(`a loop of ${LOOP} in turn pays ${ALLOWED} times, sends nothing after, and goes on at the next UTC day`, async () => {
    const own = await newStall();
    await w.chain.call('local_resetCalls');
    const answers: Refused[] = [];
    for (let round = 0; round < LOOP; round++) answers.push(await buy(own));
    expect(answers.slice(0, ALLOWED).every(mayServe)).toBe(true);
    for (const refused of answers.slice(ALLOWED)) expectRefused(refused);
    // A payer at the limit is refused before the chain is asked.
    expect(await w.chain.call('local_calls')).toMatchObject({ sendTransaction: ALLOWED, simulateTransaction: ALLOWED });
    expect(await payments(own)).toBe(ALLOWED);
    const [event, ...more] = await noticed(own);
    expect(more).toEqual([]);
    expect(event.data.object).toEqual({
      product_id: own.product.product_id,
      payer_wallet: own.agent.wallet.address,
      limit: LIMIT,
      paid: LIMIT,
      day: dayNow(),
    });
    await skipTime(w.chain, DAY / SECOND);
    for (let round = 0; round < ALLOWED; round++) expect(mayServe(await buy(own))).toBe(true);
    expectRefused(await buy(own));
    expect((await noticed(own)).map(({ data }: { data: { object: { day: string } } }) => data.object.day)).toEqual([
      event.data.object.day,
      dayNow(),
    ]);
    expect(await payments(own)).toBe(2 * ALLOWED);
  });

  it(`a loop of ${LOOP} at once pays ${ALLOWED} times, sends nothing more and causes one event`, async () => {
    const own = await newStall();
    const signed = await Promise.all(Array.from({ length: LOOP }, () => own.pay()));
    await w.chain.call('local_resetCalls');
    const answers = await Promise.all(signed.map((payment) => own.settle(payment)));
    expect(answers.filter(mayServe)).toHaveLength(ALLOWED);
    for (const refused of answers.filter((answer) => !mayServe(answer))) expectRefused(refused);
    expect([await broadcasts(), await payments(own)]).toEqual([ALLOWED, ALLOWED]);
    expect(await noticed(own)).toHaveLength(1);
    // Known payments are answered, whatever was paid since.
    const settled = signed[answers.findIndex(mayServe)]!;
    expect((await own.settle(settled)).body).toMatchObject({ duplicate: true });
  });

  it('the same payment brought twenty times at once at the limit is one payment and never refused', async () => {
    const own = await newStall();
    for (let round = 1; round < ALLOWED; round++) await buy(own);
    const payment = await own.pay();
    const answers = await Promise.all(Array.from({ length: 20 }, () => own.settle(payment)));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    expect(answers.filter(mayServe)).toHaveLength(1);
    expect(await payments(own)).toBe(ALLOWED);
  });

  it('units beyond the limit are refused before any payment, without an event', async () => {
    const own = await newStall();
    const none = { asset: 'USDC', amount: '0', base_units: '0' };
    expectRefused(await buy(own, { consume_units: 6 }), none);
    expect(await noticed(own)).toEqual([]);
    expect(mayServe(await buy(own, { consume_units: 4 }))).toBe(true);
    expectRefused(await buy(own, { consume_units: 2 }), { asset: 'USDC', amount: '0.04', base_units: '40000' });
    expect([(await noticed(own)).length, mayServe(await buy(own))]).toEqual([0, true]);
    expect(await payments(own)).toBe(2);
  });

  it('a pending payment counts, and a failed one gives its amount back', async () => {
    const own = await newStall({ max_per_payer_per_day: usdc('0.01') });
    const payment = await leavePending(own);
    const refused = await buy(own);
    expect([refused.status, refused.body.meta.paid.base_units]).toEqual([429, '10000']);
    expect((await own.settle(payment)).status).toBe(202);
    await w.chain.call('local_warp', 400);
    await sweepAll(w);
    await letDoubtsAge(w);
    await sweepAll(w);
    expect((await own.settle(payment)).body.meta.reason).toBe('invalid_exact_svm_transaction_failed');
    expect(mayServe(await buy(own))).toBe(true);
    expect((await buy(own)).status).toBe(429);
  });

  it('a payer at the limit gets 429 even if its event cannot be stored, and the next refusal stores it', async () => {
    const own = await newStall({ max_per_payer_per_day: usdc('0.01') });
    expect(mayServe(await buy(own))).toBe(true);
    const payment = await own.pay();
    await w.env.DB.prepare("CREATE TRIGGER full BEFORE INSERT ON acts BEGIN SELECT RAISE(ABORT, 'full'); END").run();
    try {
      expect(await own.settle(payment)).toMatchObject({ status: 429, body: { code: 'payer_limit_reached' } });
    } finally {
      await w.env.DB.prepare('DROP TRIGGER full').run();
    }
    expect(await noticed(own)).toEqual([]);
    expect((await buy(own)).status).toBe(429);
    expect(await noticed(own)).toHaveLength(1);
  });

  it('a dropped payment gives its amount back', async () => {
    const own = await newStall({ max_per_payer_per_day: usdc('0.01') });
    expect(mayServe(await buy(own))).toBe(true);
    expect((await buy(own)).status).toBe(429);
    await w.env.DB.prepare('UPDATE payments SET orphaned_at = ? WHERE product_id = ?').bind(Date.now(), own.product.product_id).run();
    expect(mayServe(await buy(own))).toBe(true);
  });

  it('another payer, another product and a product without a limit are free', async () => {
    const own = await newStall();
    for (let round = 0; round < ALLOWED; round++) await buy(own);
    expect((await buy(own)).status).toBe(429);
    expect(mayServe(await buy(stall(w, shop.merchant, own.product, await newAgent(w))))).toBe(true);
    const other = stall(w, shop.merchant, await sellToAgents(w, shop.merchant, LIMITED), own.agent);
    expect(mayServe(await buy(other))).toBe(true);
    const open = stall(w, shop.merchant, await sellToAgents(w, shop.merchant), own.agent);
    for (let round = 0; round <= ALLOWED; round++) expect(mayServe(await buy(open))).toBe(true);
    expect(await noticed(open)).toEqual([]);
  });

  it('payments at the checkout are not counted', async () => {
    const own = await newStall({ max_per_payer_per_day: usdc('0.01') });
    const { payment } = await w.purchase(own.product as { slug: string }, own.agent.wallet);
    expect(payment.payment_id).toBeDefined();
    const bought = await own.settle(await own.agent.pay(await own.challenge({ customer: { customer_ref: 'other' } })), {
      customer: { customer_ref: 'other' },
    });
    expect(mayServe(bought)).toBe(true);
  });

  it('a customer without a wallet of its own counts by the paying wallet', async () => {
    const own = await newStall({ max_per_payer_per_day: usdc('0.01') });
    const buyFor = async (customer_ref: string) =>
      own.settle(await own.agent.pay(await own.challenge({ customer: { customer_ref } })), { customer: { customer_ref } });
    expect(mayServe(await buyFor('one'))).toBe(true);
    expect((await buyFor('two')).status).toBe(429);
  });

  it('what was paid is consumed at the limit, under the key of the refused request too', async () => {
    const own = await newStall({ usage_units: 3, max_per_payer_per_day: usdc('0.01') });
    const payment = await own.pay({ units: 3 });
    expect((await own.settle(payment, { consume_units: 1 })).status).toBe(200);
    const idempotencyKey = newKey();
    const refused = await own.settle(await own.agent.pay(await own.challenge({ units: 3 })), {}, { idempotencyKey });
    expect(refused.status).toBe(429);
    const uses = [await own.consume({}, { idempotencyKey }), await own.consume()];
    expect(uses.map(({ status, body }) => [status, body.remaining])).toEqual([
      [200, 1],
      [200, 0],
    ]);
    const denied = await own.consume();
    expect([denied.status, denied.body.code]).toEqual([403, 'entitlement_missing']);
  });

  it('payments from before the limit was set count, and a raised limit applies at once', async () => {
    const own = await newStall({});
    for (let round = 0; round < 3; round++) await buy(own);
    const limit = (max_per_payer_per_day: object | null) =>
      w.call('PATCH', `/v1/products/${own.product.product_id}`, { key: own.merchant.key, body: { max_per_payer_per_day } });
    expect((await limit(usdc('0.02'))).status).toBe(200);
    expect((await buy(own)).body.meta).toMatchObject({ limit: { amount: '0.02' }, paid: { amount: '0.03' } });
    await limit(usdc('0.04'));
    expect([mayServe(await buy(own)), (await buy(own)).status]).toEqual([true, 429]);
    await limit(null);
    expect(mayServe(await buy(own))).toBe(true);
  });

  it('the sandbox limits alike, and neither mode counts the payments of the other', async () => {
    const { merchant } = shop;
    const product = (
      await w.call('POST', '/v1/products', {
        key: merchant.sandboxKey,
        body: { name: 'API', price: usdc('0.01'), max_per_payer_per_day: usdc('0.02') },
      })
    ).body;
    const send = (path: string, body: object) =>
      w.call('POST', `/v1/${path}`, { key: merchant.sandboxKey, body, headers: { 'Idempotency-Key': newKey() } });
    const sold = { product_id: product.product_id, customer: { customer_ref: 'agent' } };
    const once = async () => {
      const denied = await send('access/entitlements/consume', sold);
      const paid = await send('testing/pay', { payment_required: denied.headers.get('PAYMENT-REQUIRED'), wallet: 'loop' });
      return send('access/x402/settle', { ...sold, payment_signature: paid.body.payment_signature, consume_units: 1 });
    };
    const answers = [await once(), await once(), await once(), await once()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
    expect(answers[3]!.body).toMatchObject({ code: 'payer_limit_reached', meta: { paid: { amount: '0.02' } } });
    const events = (key: string) => w.call('GET', '/v1/webhooks/events?event_type=payer.limit_reached&per_page=100', { key });
    const of = ({ subject }: { subject: { id: string } }) => subject.id === product.product_id;
    expect((await events(merchant.sandboxKey)).body.items.filter(of)).toHaveLength(1);
    expect((await events(merchant.key)).body.items.filter(of)).toEqual([]);
  });
});
