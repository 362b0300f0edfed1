import { declarePaymentIdentifierExtension, validatePaymentIdentifier } from '@x402/extensions';
import { beforeAll, describe, expect, it } from 'vitest';
import { base64, base64url, utf8 } from '#core/encoding.ts';
import { openTill } from '../../support/clients/facilitator-shop.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { buy, newSpender, openTreasury } from '../../support/people/activation.ts';
import { decoded, mayServe, newAgent, ONE, openShop, payAs, type Shop, sellToAgents, stall, write } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const newId = (): string => `order_${crypto.randomUUID()}`;
const conflicts = { status: 409, body: { code: 'idempotency_conflict', retryable: false, meta: { reason: 'payment_identifier' } } };

describe('payment identifier', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w, { usage_units: 3 });
  });
  const newStall = async (usdc?: bigint) =>
    stall(w, shop.merchant, await sellToAgents(w, shop.merchant, { usage_units: 3 }), await newAgent(w, usdc));
  const pay = async (at: Shop, id: string) => payAs(at.agent, await at.challenge(), id);
  const list = async (q: string, key = shop.merchant.key) =>
    (await w.call('GET', `/v1/payments?q=${encodeURIComponent(q)}`, { key })).body.items.map(
      ({ payment_id }: { payment_id: string }) => payment_id,
    );

  it('every challenge declares the extension as the public package does, and none requires it', async () => {
    const expected = declarePaymentIdentifierExtension(false);
    const declared = decoded(await shop.challenge()).extensions['payment-identifier'];
    expect(declared).toEqual(JSON.parse(JSON.stringify(expected)));
    expect(validatePaymentIdentifier(declared)).toEqual({ valid: true });
    const refused = await shop.settle('AAAA');
    expect(decoded(refused.headers.get('PAYMENT-REQUIRED')!).extensions['payment-identifier']).toEqual(declared);
    expect((await shop.settle(await shop.pay())).status).toBe(200);
  });

  it('twelve payments under one identifier at once: one is sent, and the others are refused without a challenge', async () => {
    const own = await newStall();
    const id = newId();
    const payments = await Promise.all(Array.from({ length: 12 }, () => pay(own, id)));
    expect(new Set(payments).size).toBe(12);
    await w.chain.call('local_resetCalls');
    const answers = await Promise.all(payments.map((payment) => own.settle(payment)));
    expect(answers.filter(mayServe)).toHaveLength(1);
    for (const refused of answers.filter((answer) => !mayServe(answer))) {
      expect(refused).toMatchObject(conflicts);
      expect(refused.headers.get('PAYMENT-REQUIRED')).toBeNull();
    }
    expect(await w.chain.call('local_calls')).toMatchObject({ sendTransaction: 1 });
    expect(await own.books()).toEqual(ONE);
    expect(await own.entitlement()).toMatchObject({ granted_units: 3, used_units: 1, remaining: 2 });
  });

  it('a second payment under the identifier of a pending or settled one is refused, even with a stale challenge', async () => {
    const own = await newStall();
    const id = newId();
    const [first, second, third] = [await pay(own, id), await pay(own, id), await pay(own, id)];
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await own.settle(first)).status).toBe(202);
    expect(await own.settle(second)).toMatchObject(conflicts);
    await w.env.DB.prepare('UPDATE settlements SET created_at = created_at - 10000 WHERE product_id = ?')
      .bind(own.product.product_id)
      .run();
    expect((await own.settle(first)).status).toBe(200);
    expect(await own.settle(second)).toMatchObject(conflicts);
    const rotated = { ...w.env, CHALLENGE_KEYS: base64url.encode(new Uint8Array(32).fill(9)) };
    expect(await own.settle(third, {}, { env: rotated })).toMatchObject(conflicts);
    expect(await own.books()).toEqual(ONE);
  });

  it('the same transaction under another identifier is the same payment, with its first identifier', async () => {
    const own = await newStall();
    const [id, other] = [newId(), newId()];
    const payment = await pay(own, id);
    const settled = await own.settle(payment);
    const payload = decoded(payment);
    payload.extensions['payment-identifier'].info.id = other;
    const again = await own.settle(base64.encode(utf8(JSON.stringify(payload))));
    expect(again).toMatchObject({ status: 200, body: { duplicate: true, payment_id: settled.body.payment_id } });
    const read = await w.call('GET', `/v1/payments/${settled.body.payment_id}`, { key: shop.merchant.key });
    expect(read.body.payment_identifier).toBe(id);
    const required = await own.challenge({ units: 100 });
    expect((await own.settle(await payAs(own.agent, required, other))).status).toBe(200);
  });

  it('a payment that failed on chain frees its identifier', async () => {
    const own = await newStall(10_000n);
    const id = newId();
    const payment = await pay(own, id);
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await own.settle(payment)).status).toBe(202);
    const elsewhere = (await w.chain.wallet(0n)).address;
    await w.chain.pay(own.agent.wallet, { recipient: elsewhere, memo: 'moved', price: { base_units: '10000' }, references: [] });
    await w.env.DB.prepare("UPDATE settlements SET next_check_at = 0 WHERE status = 'pending'").run();
    await w.sweepAlone('settlements');
    expect((await own.settle(payment)).status).toBe(422);
    await w.chain.call('local_fundUsdc', own.agent.wallet.address, '10000');
    const fresh = await own.settle(await pay(own, id));
    expect([fresh.status, mayServe(fresh)]).toEqual([200, true]);
  });

  it('one identifier is free in each product, of each merchant and in the sandbox', async () => {
    const id = newId();
    const [one, two] = [await newStall(), await newStall()];
    const other = await openShop(w);
    for (const at of [one, two, other]) expect((await at.settle(await pay(at, id))).status).toBe(200);
    const tester = { ...shop.merchant, key: shop.merchant.sandboxKey };
    const { product_id } = await w.product(tester, { price: { asset: 'USDC', amount: '0.01' } });
    const denied = await write(w, tester, 'entitlements/consume', { product_id, customer: { customer_ref: 'tester' } });
    const payInSandbox = (payment_identifier: string) =>
      w.call('POST', '/v1/testing/pay', {
        key: tester.key,
        body: { payment_required: denied.headers.get('PAYMENT-REQUIRED'), payment_identifier },
        headers: { 'Idempotency-Key': crypto.randomUUID() },
      });
    const settleInSandbox = (payment_signature: string) => write(w, tester, 'x402/settle', { product_id, payment_signature });
    expect((await settleInSandbox((await payInSandbox(id)).body.payment_signature)).status).toBe(200);
    expect(await settleInSandbox((await payInSandbox(id)).body.payment_signature)).toMatchObject(conflicts);
  });

  it.each([
    ['too short', 'a'.repeat(15)],
    ['too long', 'a'.repeat(129)],
    ['with a space', 'order 0123456789abcdef'],
    ['with a colon', 'order:0123456789abcdef'],
    ['not a text', 1_234_567_890_123_456],
    ['a list', ['a'.repeat(16)]],
    ['empty', ''],
  ])('an identifier that is %s is refused with a fresh challenge, and nothing is stored', async (_, id) => {
    const own = await newStall();
    const payload = decoded(await own.pay());
    payload.extensions = { 'payment-identifier': { info: { required: false, id } } };
    const refused = await own.settle(base64.encode(utf8(JSON.stringify(payload))));
    expect(refused).toMatchObject({ status: 422, body: { code: 'payment_mismatch', meta: { reason: 'invalid_payment_identifier' } } });
    expect(refused.headers.get('PAYMENT-REQUIRED')).toBeTruthy();
    expect(await own.books()).toEqual({ ...ONE, claims: 0, payments: 0, receipts: 0 });
  });

  it.each([
    ['null', null],
    ['a text', 'junk'],
    ['without info', {}],
    ['without an id', { info: { required: false } }],
  ])('an extension that is %s names no identifier', async (_, extension) => {
    const own = await newStall();
    const payload = decoded(await own.pay());
    payload.extensions = { 'payment-identifier': extension };
    const settled = await own.settle(base64.encode(utf8(JSON.stringify(payload))));
    expect(settled.status).toBe(200);
    expect((await w.call('GET', `/v1/payments/${settled.body.payment_id}`, { key: shop.merchant.key })).body).not.toHaveProperty(
      'payment_identifier',
    );
  });

  it('a search for a complete identifier lists its payment, for its own account only', async () => {
    const own = await newStall();
    const id = newId();
    const { body } = await own.settle(await pay(own, id));
    expect(await list(id)).toEqual([body.payment_id]);
    expect(await list(id.slice(0, -1))).toEqual([]);
    expect(await list(id, (await w.merchant()).key)).toEqual([]);
  });

  it('after a lost answer of the claim the next request continues the payment, and the identifier names no other', async () => {
    const own = await newStall();
    const id = newId();
    const [first, second] = [await pay(own, id), await pay(own, id)];
    let batches = 0;
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' && ++batches === 1 });
    await own.settle(first, {}, { env });
    expect(await own.settle(second)).toMatchObject(conflicts);
    expect((await own.settle(first)).body.tx_signature).toBeTruthy();
    expect(await own.books()).toEqual(ONE);
  });
});

describe('payment identifier of a plan and of a facilitated sale', () => {
  const w = new World();

  it('a second payment for a plan under one identifier is refused', async () => {
    await openTreasury(w);
    const merchant = await w.merchant('free');
    const agent = await newSpender(w);
    const id = newId();
    const required = async () => (await buy(w, 'starter', { key: merchant.key })).headers.get('PAYMENT-REQUIRED')!;
    const [first, second] = [await payAs(agent, await required(), id), await payAs(agent, await required(), id)];
    expect((await buy(w, 'starter', { key: merchant.key }, first)).status).toBe(200);
    const refused = await buy(w, 'starter', { key: merchant.key }, second);
    expect(refused).toMatchObject(conflicts);
    expect(refused.headers.get('PAYMENT-REQUIRED')).toBeNull();
  });

  it('the facilitator lists the extension and refuses a second payment under one identifier', async () => {
    const till = await openTill(w);
    const supported = await w.call('GET', '/v1/access/x402/facilitator/supported');
    expect(supported.body.extensions).toEqual(['bazaar', 'payment-identifier']);
    const named = async (id: string) => {
      const body = await till.bodyFor();
      body.paymentPayload.extensions = { 'payment-identifier': { info: { required: false, id } } };
      return body;
    };
    const id = newId();
    const [first, second] = [await named(id), await named(id)];
    expect((await till.ask('verify', first)).body).toMatchObject({ isValid: true });
    expect((await till.ask('settle', first)).body).toMatchObject({ success: true });
    expect((await till.ask('settle', first)).body).toMatchObject({ success: true });
    expect((await till.ask('verify', second)).body).toMatchObject({ isValid: false, invalidReason: 'payment_identifier_conflict' });
    expect((await till.ask('settle', second)).body).toMatchObject({ success: false, errorReason: 'payment_identifier_conflict' });
    expect((await till.ask('settle', await named('short'))).body).toMatchObject({ errorReason: 'invalid_payment_identifier' });
    const racing = await Promise.all(Array.from({ length: 6 }, () => named(`race_${id}`)));
    const answers = await Promise.all(racing.map((body) => till.ask('settle', body)));
    expect(answers.filter(({ body }) => body.success)).toHaveLength(1);
    expect(answers.filter(({ body }) => body.errorReason === 'payment_identifier_conflict')).toHaveLength(5);
  });
});
