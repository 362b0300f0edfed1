import { beforeAll, describe, expect, it } from 'vitest';
import { newKey } from '../../support/people/agent.ts';
import { subscriptionWorld } from '../../support/people/subscription-shop.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = subscriptionWorld();
const without = new World();
let ada: Merchant;
beforeAll(async () => {
  ada = await w.merchant();
});
const OFFER = { name: 'Weather, always', price: { asset: 'USDC', amount: '5' }, renewal_mode: 'AUTOMATIC' };

describe.each(['products', 'access/products'])('POST /v1/%s with automatic renewal', (group) => {
  const create = (terms: object, { key = ada.key, by = w } = {}) =>
    by.call('POST', `/v1/${group}`, { key, headers: { 'Idempotency-Key': newKey() }, body: { ...OFFER, ...terms } });

  it('both spellings create a thirty-day product without units that is sold over the subscription rail alone', async () => {
    for (const renewal_mode of ['AUTOMATIC', 'solana_native_subscription'])
      for (const product_type of ['api', 'link']) {
        const { status, body } = await create({ renewal_mode, product_type });
        expect([status, body]).toMatchObject([201, { renewal_mode: 'AUTOMATIC', billing_model: 'recurring' }]);
        expect(body).toMatchObject({ usage_units: null, access_period_days: 30, accepted_assets: ['USDC'] });
        expect([body.default_rail, body.allowed_rails]).toEqual(['solana_usdc_subscription', ['solana_usdc_subscription']]);
      }
    const { body } = await create({ access_period_days: 365, usage_units: 1000, billing_model: 'recurring' });
    expect(body).toMatchObject({ usage_units: 1000, access_period_days: 365 });
  });

  it.each([
    [{ price: { asset: 'SOL', amount: '1' } }, 'price.asset'],
    [{ access_period_days: null }, 'access_period_days'],
    [{ access_period_days: 366 }, 'access_period_days'],
    [{ billing_model: 'one_off' }, 'renewal_mode'],
    [{ accepted_assets: ['USDC', 'SOL'] }, 'accepted_assets'],
    [{ allowed_rails: ['solana_usdc'] }, 'allowed_rails'],
    [{ default_rail: 'x402_solana_usdc' }, 'default_rail'],
  ])('terms that the subscription program cannot express are 422: %j', async (terms, field) => {
    const { status, body } = await create(terms);
    expect([status, body.detail[0].loc]).toEqual([422, ['body', ...field.split('.')]]);
  });

  it('automatic renewal is 409 not_available without SUBSCRIPTION_KEYS, and always available in the sandbox', async () => {
    const refused = await create({}, { by: without });
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'setup_not_ready', 'not_available']);
    for (const by of [w, without]) expect((await create({}, { key: ada.sandboxKey, by })).status).toBe(201);
  });
});

describe('PATCH /v1/products with automatic renewal', () => {
  const patch = (id: string, body: object, by = w) => by.call('PATCH', `/v1/products/${id}`, { key: ada.key, body });

  it('price and period change within the same bounds, and renewal can be switched off and on', async () => {
    const { product_id: id } = await w.product(ada, { renewal_mode: 'AUTOMATIC' });
    expect((await patch(id, { price: { asset: 'USDC', amount: '6' }, access_period_days: 7 })).body).toMatchObject({
      access_period_days: 7,
    });
    for (const terms of [{ access_period_days: 366 }, { access_period_days: null }, { price: { asset: 'SOL', amount: '1' } }])
      expect((await patch(id, terms)).status).toBe(422);
    expect((await patch(id, { renewal_mode: null })).body).toMatchObject({ renewal_mode: 'ONE_OFF', billing_model: 'recurring' });
    expect((await patch(id, { renewal_mode: 'AUTOMATIC' })).body.allowed_rails).toEqual(['solana_usdc_subscription']);
  });

  it('automatic renewal is refused while the product names other rails', async () => {
    const { product_id: id } = await w.product(ada, { billing_model: 'recurring', access_period_days: 30, allowed_rails: ['solana_usdc'] });
    const { status, body } = await patch(id, { renewal_mode: 'AUTOMATIC' });
    expect([status, body.detail[0].loc]).toEqual([422, ['body', 'allowed_rails']]);
  });

  it('other fields can change although the service has no subscription key', async () => {
    const { product_id: id } = await w.product(ada, { renewal_mode: 'AUTOMATIC' });
    expect((await patch(id, { name: 'Weather, as ever' }, without)).status).toBe(200);
  });
});
