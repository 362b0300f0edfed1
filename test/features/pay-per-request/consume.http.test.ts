// @module-tag quick
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { entitlementIdOf, type ProductId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { consumeUnits } from '#features/pay-per-request/consume.ts';
import { newCtx, scopeIn } from '#platform/context.ts';
import { builtRoutes, fill, nameOf } from '../../contract/spec-routes.ts';
import { newKey, openShop, type Shop, stall, write } from '../../support/people/agent.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { type Merchant, World } from '../../support/world.ts';

afterEach(letTimeRun);

let customers = 0;
const newCustomer = () => ({ customer_ref: `customer-${++customers}` });
const ELSEWHERE = '01900000-0000-7000-8000-000000000000';

describe('POST /v1/access/entitlements/consume', () => {
  const w = new World();
  let shop: Shop;
  let stranger: Merchant;
  beforeAll(async () => {
    shop = await openShop(w, { external_product_id: 'weather-1' });
    stranger = await w.merchant();
  });
  const granted = async (units: number) => {
    const customer = newCustomer();
    expect((await shop.grant({ customer, units })).status).toBe(200);
    return customer;
  };

  it('consume answers used and remaining units, and repeats that answer byte for byte under the same key', async () => {
    const customer = await granted(3);
    const idempotencyKey = newKey();
    const first = await shop.consume({ customer, units: 2 }, { idempotencyKey });
    expect(first.body).toEqual({
      consumed: true,
      consumption_id: expect.stringMatching(/^con_/),
      entitlement_id: entitlementIdOf(shop.merchant.userId, true, shop.product.product_id, { customerRef: customer.customer_ref }),
      units: 2,
      remaining: 1,
      paid_through: null,
    });
    expect(first.headers.has('Idempotent-Replayed')).toBe(false);
    await shop.consume({ customer });
    const again = await shop.consume({ customer, units: 2 }, { idempotencyKey });
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([200, 'true']);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
    expect(await shop.entitlement(customer)).toMatchObject({ used_units: 3, remaining: 0 });
  });

  it('consume with another body under the same key is 409 idempotency_conflict and uses nothing', async () => {
    const customer = await granted(3);
    const idempotencyKey = newKey();
    await shop.consume({ customer }, { idempotencyKey });
    for (const body of [
      { customer, units: 2 },
      { customer, resource: { url: 'https://api.example.com/x' } },
    ]) {
      const answer = await shop.consume(body, { idempotencyKey });
      expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([409, 'idempotency_conflict', false]);
    }
    expect(await shop.entitlement(customer)).toMatchObject({ used_units: 1 });
    // Each customer has its own object, so the key is free there.
    expect((await shop.consume({ customer: await granted(1) }, { idempotencyKey })).status).toBe(200);
  });

  it('the idempotency fingerprint covers the body as sent: an omitted default differs from an explicit one', async () => {
    const customer = await granted(3);
    const idempotencyKey = newKey();
    expect((await shop.consume({ customer }, { idempotencyKey })).status).toBe(200);
    expect((await shop.consume({ customer, units: 1 }, { idempotencyKey })).body.code).toBe('idempotency_conflict');
    expect(await shop.entitlement(customer)).toMatchObject({ used_units: 1 });
  });

  it('a denied consume is not stored: its key passes once the customer has units', async () => {
    const customer = newCustomer();
    const idempotencyKey = newKey();
    expect((await shop.consume({ customer }, { idempotencyKey })).body.code).toBe('entitlement_missing');
    await shop.grant({ customer, units: 1 });
    const passed = await shop.consume({ customer }, { idempotencyKey });
    expect([passed.status, passed.headers.has('Idempotent-Replayed')]).toEqual([200, false]);
  });

  it('consume of more units than remain uses none', async () => {
    const customer = await granted(2);
    const denied = await shop.consume({ customer, units: 3 });
    expect([denied.status, denied.body.code, denied.body.meta.remaining]).toEqual([403, 'entitlement_missing', 2]);
    expect(await shop.entitlement(customer)).toMatchObject({ used_units: 0, remaining: 2 });
  });

  it('consume finds the product by external_product_id', async () => {
    const customer = await granted(1);
    const body = { external_product_id: 'weather-1', customer };
    const used = await write(w, shop.merchant, 'entitlements/consume', body);
    expect([used.status, used.body.remaining]).toEqual([200, 0]);
    const unknown = await write(w, shop.merchant, 'entitlements/consume', { external_product_id: 'weather-2', customer });
    expect([unknown.status, unknown.body.code]).toEqual([404, 'not_found']);
    const foreign = await write(w, stranger, 'entitlements/consume', body);
    expect([foreign.status, foreign.body.code]).toEqual([404, 'not_found']);
  });

  it.each([
    ['both ids', { external_product_id: 'weather-1' }],
    ['no id', { product_id: undefined }],
    ['no customer', { customer: undefined }],
    ['an empty customer', { customer: {} }],
    ['two customers', { customer: { customer_ref: 'a', wallet_address: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ' } }],
    ['a bad wallet', { customer: { wallet_address: 'not-a-wallet' } }],
    ['a space at the end of the reference', { customer: { customer_ref: 'a ' } }],
    ['an empty reference', { customer: { customer_ref: '' } }],
    ['a reference too long', { customer: { customer_ref: 'x'.repeat(181) } }],
    ['no units', { units: 0 }],
    ['half a unit', { units: 1.5 }],
    ['too many units', { units: 1_000_000_001 }],
    ['units in words', { units: '1' }],
    ['a resource that is no URL', { resource: { url: 'nowhere' } }],
  ])('consume with %s is 422', async (_, body) => {
    const answer = await shop.consume(body);
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_error']);
  });

  it('consume and grant of a product of another tenant, another mode or no tenant are 404 and change nothing', async () => {
    const customer = await granted(1);
    const tries = [
      await shop.consume({ customer }, { key: stranger.key }),
      await shop.consume({ customer }, { key: shop.merchant.sandboxKey }),
      await shop.consume({ customer, product_id: ELSEWHERE }),
    ];
    for (const { status, body } of tries) expect([status, body.code]).toEqual([404, 'not_found']);
    const grants = [
      await shop.grant({ customer, units: 1 }, { key: stranger.key }),
      await shop.grant({ customer, units: 1 }, { key: shop.merchant.sandboxKey }),
    ];
    for (const { status, body } of grants) expect([status, body.code]).toEqual([404, 'not_found']);
    expect(await shop.entitlement(customer)).toMatchObject({ granted_units: 1, used_units: 0 });
  });

  it('the requested resource appears in the challenge', async () => {
    const resource = { url: 'https://api.example.com/weather?city=Bern', description: 'Weather of a city', mime_type: 'application/json' };
    const { body } = await shop.consume({ customer: newCustomer(), resource });
    expect(body.meta.payment_required.resource).toEqual({
      url: resource.url,
      description: resource.description,
      mimeType: resource.mime_type,
    });
  });

  it('consume answers subscription_expired with a challenge once the period is over', async () => {
    const timed = stall(
      w,
      shop.merchant,
      await w.product(shop.merchant, {
        price: { asset: 'USDC', amount: '0.01' },
        usage_units: null,
        access_period_days: 30,
        live_mode_confirmed: true,
      }),
      shop.agent,
    );
    const customer = newCustomer();
    const start = Date.now();
    setTime(start);
    await timed.grant({ customer, days: 2 });
    expect((await timed.consume({ customer })).status).toBe(200);
    const seller = { merchantId: shop.merchant.userId, livemode: true };
    const identity = entitlementKeyOf(seller, timed.product.product_id as ProductId, { customerRef: customer.customer_ref });
    // A server clock that is days ahead ends no period.
    const ahead = scopeIn(newCtx(w.env, { requestId: 'req_ahead', defer: () => {}, now: start + 3 * DAY }), seller);
    const request = { scope: 's', key: newKey(), text: '{}' };
    expect(await consumeUnits(ahead, identity, request, { units: 1 })).toMatchObject({ ok: true, remaining: null });
    setTime(start + 2 * DAY - 60_000);
    expect((await timed.consume({ customer })).body).toMatchObject({ consumed: true, remaining: null });
    setTime(start + 2 * DAY);
    const denied = await timed.consume({ customer });
    expect([denied.status, denied.body.code, denied.body.retryable]).toEqual([403, 'subscription_expired', false]);
    expect(Date.parse(denied.body.meta.paid_through)).toBe(start + 2 * DAY);
    expect(denied.headers.get('PAYMENT-REQUIRED')).toBeTruthy();
    expect(await timed.entitlement(customer)).toMatchObject({ status: 'expired' });
  });
});

describe('POST /v1/access/entitlements/grant', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });
  const selling = async (usage_units: number | null, access_period_days: number | null) =>
    stall(w, shop.merchant, await w.product(shop.merchant, { usage_units, access_period_days }), shop.agent);
  const refusedOf = ({ status, body }: Awaited<ReturnType<Shop['grant']>>) => [status, body.code, body.detail[0].loc];

  it('grant of days is refused for a product that sells units alone, and of units for one that sells time alone', async () => {
    const [units, time] = [await selling(5, null), await selling(null, 30)];
    expect(refusedOf(await units.grant({ days: 3 }))).toEqual([422, 'validation_error', ['body', 'days']]);
    expect(refusedOf(await units.grant({ units: 2, days: 3 }))).toEqual([422, 'validation_error', ['body', 'days']]);
    expect(refusedOf(await time.grant({ units: 2 }))).toEqual([422, 'validation_error', ['body', 'units']]);
    expect(refusedOf(await units.grant({}))).toEqual([422, 'validation_error', ['body', 'units']]);
    expect(refusedOf(await time.grant({}))).toEqual([422, 'validation_error', ['body', 'days']]);
  });

  it.each([
    ['units, then days', [{ units: 2 }, { days: 3 }]],
    ['days, then units', [{ days: 3 }, { units: 2 }]],
    ['both at once', [{ units: 2, days: 3 }]],
  ])('grants on a product that sells units and time add up to two units until the end of three days: %s', async (_, grants) => {
    const both = await selling(100, 30);
    const customer = newCustomer();
    setTime(Date.now());
    const paid_through = new Date(Date.now() + 3 * DAY).toISOString();
    let last!: Awaited<ReturnType<Shop['grant']>>;
    for (const grant of grants) last = await both.grant({ customer, ...grant });
    expect(last.body).toMatchObject({ status: 'active', granted_units: 2, remaining: 2, paid_through, unlimited: false });
    const more = await both.grant({ customer, days: 1 });
    expect(more.body).toMatchObject({ remaining: 2, paid_through: new Date(Date.now() + 4 * DAY).toISOString() });
  });

  it('grant on a product sold for ever refuses units and days and answers unlimited', async () => {
    const forEver = await selling(null, null);
    const customer = newCustomer();
    expect((await forEver.grant({ customer })).body).toMatchObject({ status: 'active', unlimited: true, paid_through: null });
    for (const [field, given] of Object.entries({ days: { days: 1 }, units: { units: 1 } })) {
      const refused = await forEver.grant({ customer, ...given });
      expect(refusedOf(refused)).toEqual([422, 'validation_error', ['body', field]]);
      expect(refused.body.detail[0].msg).toBe('The product has neither units nor an end. Omit units and days.');
    }
    const timed = await selling(null, 30);
    expect((await timed.grant({ customer, days: 1 })).body).toMatchObject({ unlimited: false });
  });

  it('grant is replayed under its key after the product’s terms have changed', async () => {
    const own = await selling(5, null);
    const body = { customer: newCustomer(), units: 2 };
    const idempotencyKey = newKey();
    const first = await own.grant(body, { idempotencyKey });
    const patched = { key: shop.merchant.key, body: { usage_units: null, access_period_days: 30 } };
    expect((await w.call('PATCH', `/v1/products/${own.product.product_id}`, patched)).status).toBe(200);
    const again = await own.grant(body, { idempotencyKey });
    expect([again.status, again.body, again.headers.get('Idempotent-Replayed')]).toEqual([200, first.body, 'true']);
    expect((await own.grant(body)).status).toBe(422);
  });
});

describe('POST /v1/access/entitlements/refund', () => {
  const w = new World();
  let shop: Shop;
  let stranger: Merchant;
  beforeAll(async () => {
    shop = await openShop(w);
    stranger = await w.merchant();
  });

  it('refund frees the units once, and a second refund is refused', async () => {
    const customer = newCustomer();
    await shop.grant({ customer, units: 2 });
    const idempotencyKey = newKey();
    const used = await shop.consume({ customer, units: 2 }, { idempotencyKey });
    const refundKey = newKey();
    const freed = await shop.refund(used.body.consumption_id, { idempotencyKey: refundKey });
    expect(freed.body).toEqual({
      refunded: true,
      consumption_id: used.body.consumption_id,
      entitlement_id: used.body.entitlement_id,
      units: 2,
      remaining: 2,
      paid_through: null,
    });
    const again = await shop.refund(used.body.consumption_id, { idempotencyKey: refundKey });
    expect([again.headers.get('Idempotent-Replayed'), JSON.stringify(again.body)]).toEqual(['true', JSON.stringify(freed.body)]);
    const twice = await shop.refund(used.body.consumption_id);
    expect([twice.status, twice.body.code]).toEqual([409, 'state_conflict']);
    const replayed = await shop.consume({ customer, units: 2 }, { idempotencyKey });
    expect([replayed.status, replayed.body.code, replayed.body.meta.reason]).toEqual([409, 'state_conflict', 'refunded']);
    expect((await shop.consume({ customer, units: 2 })).status).toBe(200);
    expect(await shop.entitlement(customer)).toMatchObject({ granted_units: 2, used_units: 2 });
  });

  it('ten concurrent refunds free the units once', async () => {
    const customer = newCustomer();
    await shop.grant({ customer, units: 5 });
    const { body } = await shop.consume({ customer, units: 4 });
    const answers = await Promise.all(Array.from({ length: 10 }, () => shop.refund(body.consumption_id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
    expect(await shop.entitlement(customer)).toMatchObject({ used_units: 0, remaining: 5 });
  });

  it('refund of a foreign, unknown or malformed consumption is 404 and changes nothing', async () => {
    const customer = newCustomer();
    await shop.grant({ customer, units: 1 });
    const { body } = await shop.consume({ customer });
    const id: string = body.consumption_id;
    const tries = [
      await shop.refund(id, { key: stranger.key }),
      await shop.refund(id, { key: shop.merchant.sandboxKey }),
      await shop.refund(`${id.slice(0, 13)}${id[13] === 'Z' ? 'Y' : 'Z'}${id.slice(14)}`),
      await shop.refund('con_01KAJ3V5Y7H2Q8M4N6P9R1S3T5'),
      await shop.refund('nonsense'),
    ];
    for (const { status, body: answer } of tries) expect([status, answer.code]).toEqual([404, 'not_found']);
    expect(await shop.entitlement(customer)).toMatchObject({ used_units: 1, remaining: 0 });
  });
});

describe('routes that require an Idempotency-Key', () => {
  const w = new World();
  const routes = builtRoutes.filter(({ idempotent }) => idempotent);
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });

  it('consume and settle require an Idempotency-Key', () => {
    expect(routes.map(nameOf)).toEqual(expect.arrayContaining(['POST /v1/access/entitlements/consume', 'POST /v1/access/x402/settle']));
  });

  it.each(routes.map((route) => [nameOf(route), route] as const))(
    '%s refuses a key that is missing, too long or invalid, in this order',
    async (_, route) => {
      const path = fill(route.path, { rail_id: 'x402_solana_usdc' });
      const readCode = async (key?: string) => {
        const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
        const { status, body } = await w.call(route.method, path, { key: merchant.key, headers, body: {} });
        return [status, String(body.code)];
      };
      const required = [400, 'idempotency_key_required'];
      expect([await readCode(), await readCode('short-1'), await readCode('a b'), await readCode('é'.repeat(7))]).toEqual([
        required,
        required,
        required,
        required,
      ]);
      const tooLong = [400, 'idempotency_key_too_long'];
      expect([await readCode('x'.repeat(256)), await readCode('x y'.repeat(100))]).toEqual([tooLong, tooLong]);
      const invalid = [400, 'idempotency_key_invalid'];
      expect([await readCode('with a space'), await readCode('schlüssel-1')]).toEqual([invalid, invalid]);
      expect((await readCode('x'.repeat(255)))[1]).not.toMatch(/^idempotency/);
      expect((await readCode('12345678'))[1]).not.toMatch(/^idempotency/);
    },
  );
});
