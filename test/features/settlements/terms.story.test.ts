import { beforeAll, describe, expect, it } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { decoded, mayServe, newKey, openShop, type Shop, sellToAgents, stall, withConfig } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const seed = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));

describe('live challenge', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  const newStall = async (terms: Record<string, unknown> = {}) =>
    stall(w, shop.merchant, await sellToAgents(w, shop.merchant, terms), shop.agent);
  const patch = (own: Shop, body: object) => w.call('PATCH', `/v1/products/${own.product.product_id}`, { key: own.merchant.key, body });
  const refusedNow = async (own: Shop) => {
    const { body } = await own.consume({ customer: { customer_ref: 'new-here' } });
    return [body.code, body.meta.missing ?? body.meta.payment_required.accepts[0].amount];
  };

  it.each([
    ['its price changed', (own: Shop) => patch(own, { price: { asset: 'USDC', amount: '0.5' } }), '500000'],
    [
      'its product was archived',
      (own: Shop) => w.call('POST', `/v1/products/${own.product.product_id}/archive`, { key: own.merchant.key }),
      'product_active',
    ],
    ['live_mode_confirmed was withdrawn', (own: Shop) => patch(own, { live_mode_confirmed: false }), 'live_mode_confirmed'],
    ['its product left the rail', (own: Shop) => patch(own, { allowed_rails: ['solana_usdc'] }), 'rail_enabled'],
    ['its units changed', (own: Shop) => patch(own, { usage_units: 9 }), '10000'],
  ])('the challenge settles at its own price although %s', async (_, change, nowAsked) => {
    const own = await newStall();
    const payment = await own.pay();
    expect((await change(own)).status).toBe(200);
    expect(await refusedNow(own)).toEqual(['entitlement_missing', nowAsked]);
    const settled = await own.settle(payment);
    expect([settled.status, settled.body.amount.base_units, mayServe(settled)]).toEqual([200, '10000', true]);
    // The grant follows the challenge, not the current product.
    expect(settled.body.granted_units).toBe(1);
  });

  it.each([
    [10, 1000, '1'],
    [10, 1, '0.001'],
  ])('a challenge for %d units grants those although the product now gives %d for %s USDC', async (units, nowUnits, nowAmount) => {
    const own = await newStall({ usage_units: units });
    const payment = await own.pay();
    await patch(own, { usage_units: nowUnits, price: { asset: 'USDC', amount: nowAmount } });
    const settled = await own.settle(payment);
    expect(settled.body).toMatchObject({ amount: { amount: '0.01' }, granted_units: units, remaining: units - 1 });
  });

  it('no challenge is made for more units than one payment can grant', async () => {
    const own = await newStall({ usage_units: 1, access_period_days: 3660 });
    const { body } = await own.consume({ units: 30_000 });
    expect(body.meta).toMatchObject({ payment_required: null, missing: 'units_too_many' });
  });

  it('a challenge survives a rotation of challenge keys while both keys are live, and not longer', async () => {
    const own = await newStall();
    const [payment, second] = [await own.pay(), await own.pay()];
    const rotated = withConfig(w, { CHALLENGE_KEYS: `${seed(9)},${seed(7)}` });
    const over = withConfig(w, { CHALLENGE_KEYS: seed(9) });
    expect((await own.settle(payment, {}, { env: rotated })).status).toBe(200);
    const refused = await own.settle(second, {}, { env: over });
    expect([refused.status, refused.body.meta.reason]).toEqual([422, 'invalid_payment_requirements']);
    const renewed = await own.settle(await own.agent.pay(refused.headers.get('PAYMENT-REQUIRED')!), {}, { env: rotated });
    expect(renewed.status).toBe(200);
    // A settled payment stays valid without its challenge key.
    expect((await own.settle(payment, {}, { env: over })).headers.get('X-Svc-Duplicate-Settlement')).toBe('true');
  });

  it('a challenge survives a rotation of the fee payer: the old key signs old challenges, the new key new ones', async () => {
    const own = await newStall();
    const payment = await own.pay();
    const rotated = withConfig(w, { FEE_PAYER_KEYS: `${seed(10)},${seed(6)}` });
    expect((await own.settle(payment, {}, { env: rotated })).status).toBe(200);
    const dry = await own.consume({}, { env: rotated });
    expect(dry.body.meta).toMatchObject({ payment_required: null, missing: 'rail_unavailable' });
    const third = withConfig(w, { FEE_PAYER_KEYS: `${seed(11)},${seed(6)}` });
    const { keyRing } = await import('#core/crypto.ts');
    const { base58 } = await import('#core/encoding.ts');
    const current = base58.encode(keyRing(seed(11))[0]!.publicKey);
    await w.chain.call('local_fundSol', current, '1000000000');
    const denied = await own.consume({}, { env: third });
    const header = denied.headers.get('PAYMENT-REQUIRED')!;
    expect(decoded(header).accepts[0].extra.feePayer).toBe(current);
    expect((await own.settle(await own.agent.pay(header), {}, { env: third })).status).toBe(200);
  });

  it('a challenge covers all units of the request in one payment and grants them', async () => {
    const own = await newStall();
    const header = await own.challenge({ units: 5 });
    expect(decoded(header).accepts[0]).toMatchObject({ amount: '50000', extra: { quantity: 5 } });
    const settled = await own.settle(await own.agent.pay(header), { consume_units: 5 });
    expect(settled.body).toMatchObject({ amount: { amount: '0.05' }, granted_units: 5, consumed_units: 5, remaining: 0 });
    const packs = await newStall({ usage_units: 2 });
    await packs.grant({ units: 1 });
    // Six units are needed and one is left: three packs of two.
    const more = await packs.settle(await packs.pay({ units: 6 }), { consume_units: 6 });
    expect(more.body).toMatchObject({ amount: { amount: '0.03' }, granted_units: 6, consumed_units: 6, remaining: 1 });
  });

  it('a time product does not count use until its period ends', async () => {
    const own = await newStall({ usage_units: null, access_period_days: 30 });
    const settled = await own.settle(await own.pay({ units: 7 }));
    expect(settled.body).toMatchObject({ amount: { amount: '0.01' }, granted_units: null, consumed_units: 1, remaining: null });
    const used = await own.consume({ units: 100 });
    expect([used.status, used.body.remaining]).toEqual([200, null]);
    expect(Date.parse(used.body.paid_through) - Date.now()).toBeGreaterThan(29 * 86_400_000);
  });
});

describe('access from a settled payment', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  const newStall = async () => stall(w, shop.merchant, await sellToAgents(w, shop.merchant), shop.agent);

  it('an unused purchase waits for its first consume', async () => {
    const own = await newStall();
    const payment = await own.pay();
    const settled = await own.settle(payment, { consume_units: 0 });
    expect(settled.body).toMatchObject({ granted_units: 1, consumed_units: 0, remaining: 1 });
    expect(settled.body.consumption_id).toBeUndefined();
    const used = await own.consume();
    expect([used.status, used.body.remaining]).toEqual([200, 0]);
    const late = await own.settle(payment);
    expect(late.body).toMatchObject({ success: true, consumed_units: 0 });
  });

  it('a settle that requests more units than the payment buys gets 422 and settles nothing', async () => {
    const own = await newStall();
    const payment = await own.pay();
    const refused = await own.settle(payment, { consume_units: 2 });
    expect([refused.status, refused.body.meta]).toEqual([422, { buys_units: 1 }]);
    expect((await own.settle(payment)).body).toMatchObject({ granted_units: 1, consumed_units: 1, remaining: 0 });
  });

  it('access belongs to the named customer, not to the paying wallet', async () => {
    const own = await newStall();
    const customer = { customer_ref: 'user-4711' };
    const settled = await own.settle(await own.pay({ customer }), { customer, consume_units: 0 });
    expect(settled.body.payer).toBe(own.agent.wallet.address);
    expect(await own.entitlement(customer)).toMatchObject({ entitlement_id: settled.body.entitlement_id, customer, remaining: 1 });
    expect((await own.entitlement()).code).toBe('not_found');
    expect((await own.consume({ customer })).status).toBe(200);
    const { body } = await w.call('GET', `/v1/payments/${settled.body.payment_id}`, { key: own.merchant.key });
    expect(body).toMatchObject({ status: 'CONFIRMED', customer_ref: 'user-4711', references: [], receipt_id: settled.body.receipt_id });
    expect(body.membership_id).toBeUndefined();
    const verified = await w.call('GET', `/v1/receipt/${settled.body.receipt_id}/verify`);
    expect(verified.body).toMatchObject({ valid: true });
  });

  it('a refunded request is never served again, and another request may consume the freed unit once', async () => {
    const own = await newStall();
    const [payment, idempotencyKey] = [await own.pay(), newKey()];
    const settled = await own.settle(payment, {}, { idempotencyKey });
    expect((await own.refund(settled.body.consumption_id)).status).toBe(200);
    expect(await own.entitlement()).toMatchObject({ used_units: 0, remaining: 1 });
    for (let i = 0; i < 2; i++) {
      const again = await own.settle(payment, {}, { idempotencyKey });
      expect([again.status, again.body.code, again.body.meta.reason]).toEqual([409, 'state_conflict', 'refunded']);
    }
    const answers = await Promise.all(Array.from({ length: 5 }, () => own.settle(payment)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers.filter(mayServe)).toHaveLength(1);
    expect(await own.entitlement()).toMatchObject({ granted_units: 1, used_units: 1, remaining: 0 });
    const still = await own.settle(payment, {}, { idempotencyKey });
    expect([still.status, still.body.meta.reason]).toEqual([409, 'refunded']);
  });

  it('a duplicate replays as a duplicate under its key, also after the first consumption was refunded', async () => {
    const own = await newStall();
    const [payment, idempotencyKey] = [await own.pay(), newKey()];
    const first = await own.settle(payment);
    expect(mayServe(await own.settle(payment, {}, { idempotencyKey }))).toBe(false);
    await own.refund(first.body.consumption_id);
    const afterwards = await own.settle(payment, {}, { idempotencyKey });
    expect([afterwards.headers.get('Idempotent-Replayed'), mayServe(afterwards)]).toEqual(['true', false]);
    expect(await own.entitlement()).toMatchObject({ used_units: 0, remaining: 1 });
  });
});
