import { beforeAll, describe, expect, it } from 'vitest';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World();
let ada: Merchant;
beforeAll(async () => {
  ada = await w.merchant();
});
const OFFER = { name: 'Weather', price: { asset: 'USDC', amount: '5' } };
const usdc = (amount: string) => ({ asset: 'USDC', amount });
const create = (group: string, terms: object) => {
  const headers = { 'Idempotency-Key': crypto.randomUUID() };
  return w.call('POST', `/v1/${group}`, { key: ada.key, headers, body: { ...OFFER, ...terms } });
};
const patch = (productId: string, body: object, key = ada.key) => w.call('PATCH', `/v1/products/${productId}`, { key, body });

describe.each(['products', 'access/products'])('POST /v1/%s', (group) => {
  it('an unsupported type of any length is 400 invalid_product_type', async () => {
    for (const product_type of ['book', '', 'x'.repeat(41), 'y'.repeat(5000)]) {
      const { status, body } = await create(group, { product_type });
      expect([status, body.code]).toEqual([400, 'invalid_product_type']);
    }
  });

  it('automatic renewal of a one-off product is 422', async () => {
    for (const renewal_mode of ['AUTOMATIC', 'solana_native_subscription']) {
      const { status, body } = await create(group, { billing_model: 'one_off', renewal_mode });
      expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['body', 'renewal_mode']]);
    }
  });

  it('max_per_payer_per_day is null by default, at least the price, and shown as money', async () => {
    expect((await create(group, {})).body.max_per_payer_per_day).toBeNull();
    expect((await create(group, { max_per_payer_per_day: null })).body.max_per_payer_per_day).toBeNull();
    const { status, body } = await create(group, { max_per_payer_per_day: usdc('5.00') });
    expect([status, body.max_per_payer_per_day]).toEqual([201, { asset: 'USDC', amount: '5', base_units: '5000000' }]);
    const read = await w.call('GET', `/v1/products/${body.product_id}`, { key: ada.key });
    expect(read.body.max_per_payer_per_day).toEqual(body.max_per_payer_per_day);
  });

  it.each([
    [{ max_per_payer_per_day: usdc('4.999999') }, ['max_per_payer_per_day', 'amount']],
    [{ max_per_payer_per_day: usdc('0') }, ['max_per_payer_per_day', 'amount']],
    [{ max_per_payer_per_day: usdc('5.0000001') }, ['max_per_payer_per_day', 'amount']],
    [{ max_per_payer_per_day: { asset: 'SOL', amount: '9' } }, ['max_per_payer_per_day', 'asset']],
    [{ price: { asset: 'SOL', amount: '1' }, max_per_payer_per_day: usdc('5') }, ['max_per_payer_per_day']],
  ])('the terms %j are 422', async (terms, path) => {
    const { status, body } = await create(group, terms);
    expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['body', ...path]]);
  });
});

describe('PATCH /v1/products/{product_id}', () => {
  it('payout_wallet null removes the product’s wallet and emits payout.changed', async () => {
    const product = await w.product(ada);
    expect(product.payout_wallet).toBe(ada.wallet.address);
    const { status, body } = await patch(product.product_id, { payout_wallet: null });
    expect([status, 'payout_wallet' in body]).toEqual([200, false]);
    const events = (await w.call('GET', '/v1/webhooks/events?event_type=payout.changed&per_page=100', { key: ada.key })).body.items;
    expect(events.at(-1).data.object).toEqual({
      payout_wallet: null,
      previous: ada.wallet.address,
      product_id: product.product_id,
      by: 'key',
    });
    const refused = await w.call('POST', `/v1/products/p/${product.slug}/connect`);
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'setup_not_ready', 'payout_wallet_set']);
  });

  it.each([
    ['price above the limit', { price: usdc('10.01') }, ['price', 'amount']],
    ['price in another asset', { price: { asset: 'SOL', amount: '1' } }, ['price', 'asset']],
    ['limit below the price', { max_per_payer_per_day: usdc('4') }, ['max_per_payer_per_day', 'amount']],
    ['limit below the new price', { price: usdc('8'), max_per_payer_per_day: usdc('7') }, ['max_per_payer_per_day', 'amount']],
  ])('a %s is 422 and changes nothing', async (_, change, path) => {
    const made = (await create('products', { max_per_payer_per_day: usdc('10') })).body;
    const read = async () => (await w.call('GET', `/v1/products/${made.product_id}`, { key: ada.key })).body;
    const before = await read();
    const { status, body } = await patch(made.product_id, change);
    expect([status, body.detail[0].loc]).toEqual([422, ['body', ...path]]);
    expect(await read()).toEqual(before);
  });

  it('max_per_payer_per_day changes with the price, and null clears it', async () => {
    const made = (await create('products', { max_per_payer_per_day: usdc('10') })).body;
    const raised = await patch(made.product_id, { price: usdc('20'), max_per_payer_per_day: usdc('20') });
    expect([raised.status, raised.body.max_per_payer_per_day.amount, raised.body.price.amount]).toEqual([200, '20', '20']);
    const same = await patch(made.product_id, { max_per_payer_per_day: usdc('20.0') });
    expect(same.body.updated_at).toBe(raised.body.updated_at);
    const cleared = await patch(made.product_id, { max_per_payer_per_day: null, price: usdc('30') });
    expect([cleared.status, cleared.body.max_per_payer_per_day, cleared.body.price.amount]).toEqual([200, null, '30']);
  });

  it('a product that names a retired rail can still change its other fields', async () => {
    const product = await w.product(ada, { accepted_assets: ['USDC', 'SOL'], allowed_rails: ['solana_usdc', 'solana_sol'] });
    const gone = JSON.stringify(['solana_usdc', 'rail_of_yesterday']);
    await testEnv.DB.prepare('UPDATE products SET allowed_rails = ? WHERE id = ?').bind(gone, product.product_id).run();
    for (const change of [{ name: 'Renamed' }, { description: 'New words' }, { price: { asset: 'USDC', amount: '6' } }]) {
      const { status, body } = await patch(product.product_id, change);
      expect([status, body.allowed_rails]).toEqual([200, ['solana_usdc', 'rail_of_yesterday']]);
    }
    const rails = await patch(product.product_id, { default_rail: 'solana_sol' });
    expect([rails.status, rails.body.detail[0].type]).toEqual([422, 'rail_unavailable']);
    expect((await patch(product.product_id, { allowed_rails: ['solana_usdc'] })).status).toBe(200);
  });
});

describe('PATCH /v1/webhooks/endpoints/{endpoint_id}', () => {
  it('null clears the description', async () => {
    const url = 'https://shop.example.com/hooks';
    const made = (await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url, description: 'Shop' } })).body;
    const { status, body } = await w.call('PATCH', `/v1/webhooks/endpoints/${made.endpoint_id}`, {
      key: ada.key,
      body: { description: null },
    });
    expect([status, made.description, 'description' in body]).toEqual([200, 'Shop', false]);
  });
});

describe('buyer locale', () => {
  it.each([
    ['PT-br', 'pt-BR'],
    ['en_US', 'en-US'],
    ['en_US.UTF-8', 'en-US'],
  ])('%j is stored with the payment in its canonical form', async (locale, canonical) => {
    const { payment_id } = await w.connect(await w.product(ada), { locale });
    const row = await testEnv.DB.prepare('SELECT terms FROM payments WHERE id = ?').bind(payment_id).first<{ terms: string }>();
    expect(JSON.parse(row!.terms).locale).toBe(canonical);
  });
});

describe('GET /v1/access/entitlements', () => {
  it('a customer is named by wallet or reference, and both together are 422', async () => {
    const at = (query: string) => w.call('GET', `/v1/access/entitlements${query}`, { key: ada.key });
    const wallet = `wallet_address=${ada.wallet.address}`;
    for (const query of ['', `?${wallet}`, '?customer_ref=user-1']) expect((await at(query)).status).toBe(200);
    const { status, body } = await at(`?${wallet}&customer_ref=user-1`);
    expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['query', 'customer_ref']]);
  });
});
