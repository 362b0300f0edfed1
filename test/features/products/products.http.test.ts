// @module-tag quick
import { beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { openApi } from '../../support/clients/call.ts';
import { type Merchant, World } from '../../support/world.ts';

const OFFER = { name: 'Weather API', price: { asset: 'USDC', amount: '5' } };

describe('example of POST /v1/products', () => {
  it('the published example creates a product that can be bought', async () => {
    // The example's wallet belongs to a merchant, so the treasury must be another one.
    const w = new World({ TREASURY_WALLET: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ' });
    const ada = await w.merchant();
    const exampleOf = (path: string) => openApi.paths[path]!.post!.requestBody!.content['application/json']!.example as object;
    for (const path of ['/v1/products', '/v1/access/products']) {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const made = await w.call('POST', path, { key: ada.key, body: exampleOf(path), headers });
      expect(made.status).toBe(201);
      const asked = await w.call('POST', `/v1/products/p/${made.body.slug}/connect`, { body: {} });
      expect([path, asked.status, asked.body.recipient]).toEqual([path, 200, made.body.payout_wallet]);
    }
  });
});

describe('POST /v1/products', () => {
  const w = new World();
  let ada: Merchant;

  const create = (terms: Record<string, unknown> = {}, credential = ada.key) =>
    w.call('POST', '/v1/products', { key: credential, body: { ...OFFER, ...terms } });
  const list = (query = '', credential = ada.key) => w.call('GET', `/v1/products${query}`, { key: credential });

  beforeAll(async () => {
    ada = await w.merchant();
  });

  it.each([
    ['1.1234567', 'Expected an amount of USDC with at most 6 decimals'],
    ['5,00', 'Expected an amount of USDC: a decimal with a point and without spaces, such as "5.00"'],
    ['99999999999999999999', 'Expected a smaller amount of USDC'],
  ])('the price %s is 422 with the reason', async (amount, msg) => {
    const { status, body } = await create({ price: { asset: 'USDC', amount } });
    expect([status, body.detail[0].loc, body.detail[0].msg]).toEqual([422, ['body', 'price', 'amount'], msg]);
  });

  it('name and price suffice, and other fields have defaults', async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    expect(body).toEqual({
      product_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      slug: expect.stringMatching(/^weather-api-[a-z0-9]{10}$/),
      name: 'Weather API',
      product_type: 'api',
      status: 'active',
      price: { asset: 'USDC', amount: '5', base_units: '5000000' },
      accepted_assets: ['USDC'],
      billing_model: 'one_off',
      renewal_mode: 'ONE_OFF',
      access_period_days: null,
      usage_units: 1,
      default_rail: 'solana_usdc',
      allowed_rails: ['solana_usdc', 'x402_solana_usdc'],
      grace_hours: 72,
      requires_identity: null,
      trusted_customer_ref: false,
      max_per_payer_per_day: null,
      metadata: {},
      live_mode_confirmed: false,
      livemode: true,
      checkout_url: `https://svc.test/p/${body.slug}`,
      created_at: body.created_at,
      updated_at: body.created_at,
      warnings: [
        { code: 'payout_wallet_missing', message: expect.stringContaining('no payout wallet and cannot be sold'), fix: expect.anything() },
        { code: 'one_use_by_default', message: expect.stringContaining('one call'), fix: expect.anything() },
      ],
    });
    const { warnings: _warnings, ...product } = body;
    expect((await w.call('GET', `/v1/products/${body.product_id}`, { key: ada.token })).body).toEqual(product);
  });

  it.each([
    [{ product_type: 'api' }, 1, null],
    [{ product_type: 'link' }, null, 30],
    [{ product_type: 'api', usage_units: null, access_period_days: null }, null, null],
    [{ product_type: 'api', usage_units: null, access_period_days: 30 }, null, 30],
    [{ product_type: 'api', access_period_days: 7, usage_units: 1000 }, 1000, 7],
  ])('defaults match the type %j', async (terms, usageUnits, accessPeriodDays) => {
    const { status, body } = await create(terms);
    expect([status, body.usage_units, body.access_period_days]).toEqual([201, usageUnits, accessPeriodDays]);
  });

  it.each([
    { product_type: 'api', usage_units: null },
    { product_type: 'link', access_period_days: null },
  ])('null for only one of units and days is 422 ambiguous: %j', async (terms) => {
    const { status, body } = await create(terms);
    expect([status, body.detail[0].type]).toEqual([422, 'ambiguous']);
  });

  it('an unknown type is invalid_product_type, and automatic renewal without a key is setup_not_ready', async () => {
    for (const product_type of ['course', '', 'API']) {
      const { status, body } = await create({ product_type });
      expect([product_type, status, body.code]).toEqual([product_type, 400, 'invalid_product_type']);
    }
    const { status, body } = await create({ billing_model: 'recurring', renewal_mode: 'AUTOMATIC' });
    expect([status, body.code]).toEqual([409, 'setup_not_ready']);
  });

  it('both spellings of automatic renewal are refused for a one-off product, and manual renewal is accepted', async () => {
    for (const renewal_mode of ['AUTOMATIC', 'solana_native_subscription']) {
      const contradiction = await create({ billing_model: 'one_off', renewal_mode });
      expect([contradiction.status, contradiction.body.code]).toEqual([422, 'validation_error']);
      expect(contradiction.body.detail[0].loc).toEqual(['body', 'renewal_mode']);
    }
    for (const renewal_mode of ['ONE_OFF', null]) {
      const byHand = await create({ billing_model: 'recurring', renewal_mode });
      expect([byHand.status, byHand.body.billing_model, byHand.body.renewal_mode]).toEqual([201, 'recurring', 'ONE_OFF']);
    }
    expect((await create({ renewal_mode: 'sometimes' })).status).toBe(422);
  });

  it.each(['__proto__', 'toString', 'constructor'])('%s is not accepted as a product type', async (product_type) => {
    const { status, body } = await create({ product_type });
    expect([status, body.code]).toEqual([400, 'invalid_product_type']);
  });

  it.each([
    ['0.000001', '0.000001', '1'],
    ['12.50', '12.5', '12500000'],
    ['5.0', '5', '5000000'],
    ['18446744073709.551615', '18446744073709.551615', '18446744073709551615'],
  ])('the amount %s is stored exactly', async (amount, canonical, baseUnits) => {
    const { body } = await create({ price: { asset: 'USDC', amount } });
    expect(body.price).toEqual({ asset: 'USDC', amount: canonical, base_units: baseUnits });
    expect((await w.call('GET', `/v1/products/${body.product_id}`, { key: ada.key })).body.price).toEqual(body.price);
  });

  it.each([
    '0.0000001',
    '1.2345678',
    '0',
    '0.0',
    '-1',
    '+1',
    '1e3',
    '1E-2',
    '.5',
    '5.',
    '05',
    '1,5',
    '0x10',
    ' 5',
    '5 ',
    '',
    'NaN',
    'Infinity',
    '٥',
    '18446744073709.551616',
    '99999999999999999999',
    '9'.repeat(64),
    '9'.repeat(65),
  ])('the amount %j is 422 and not rounded', async (amount) => {
    const { status, body } = await create({ price: { asset: 'USDC', amount } });
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.detail[0].loc).toEqual(['body', 'price', 'amount']);
  });

  it.each([5, 5.5, null, true, {}, ['5']])('%j is 422 as an amount, which must be decimal text', async (amount) => {
    expect((await create({ price: { asset: 'USDC', amount } })).status).toBe(422);
  });

  it.each([
    ['external_product_id', 'x'.repeat(181)],
    ['external_product_id', ''],
    ['slug', 'Upper'],
    ['slug', '-edge'],
    ['slug', 'a'.repeat(65)],
    ['name', '   '],
    ['success_url', 'http://example.com'],
    ['success_url', 'javascript:alert(1)'],
    ['success_url', 'https://127.0.0.1/x'],
    ['cancel_url', 'http://example.com'],
    ['cancel_url', 'javascript:alert(1)'],
    ['cancel_url', 'https://127.0.0.1/x'],
    ['session_seconds', 299],
    ['session_seconds', 3601],
    ['usage_units', 0],
    ['usage_units', 1.5],
    ['access_period_days', -1],
    ['grace_hours', 1e9],
    ['metadata', { key: 5 }],
    ['accepted_assets', []],
    ['accepted_assets', ['BTC']],
  ])('%s of %j is 422', async (field, value) => {
    const { status, body } = await create({ [field]: value });
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.detail[0].loc.slice(0, 2)).toEqual(['body', field]);
  });

  it('an external id of 180 characters is accepted', async () => {
    expect((await create({ external_product_id: 'x'.repeat(180) })).status).toBe(201);
  });

  it('a payout wallet must be a wallet, neither a token account nor garbage', async () => {
    const tokenAccount = await associatedTokenAccount(ada.wallet.address, USDC);
    for (const payout_wallet of [tokenAccount, 'garbage', '1'.repeat(31), `${ada.wallet.address}zz`]) {
      const { status, body } = await create({ payout_wallet });
      expect([payout_wallet, status, body.code]).toEqual([payout_wallet, 422, 'invalid_wallet_address']);
    }
    expect((await create({ payout_wallet: ada.wallet.address })).body.payout_wallet).toBe(ada.wallet.address);
  });

  it('an empty payout wallet is invalid_wallet_address', async () => {
    const { status, body } = await create({ payout_wallet: '' });
    expect([status, body.code]).toEqual([422, 'invalid_wallet_address']);
  });

  it('a slug is unique in the service, and an external id per merchant and mode', async () => {
    const stranger = await w.merchant();
    const slug = `taken-${crypto.randomUUID().slice(0, 8)}`;
    const race = await Promise.all([create({ slug }), create({ slug }), create({ slug }, stranger.key)]);
    expect(race.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const external_product_id = `plan-${slug}`;
    expect((await create({ external_product_id })).status).toBe(201);
    const again = await create({ external_product_id });
    expect([again.status, again.body.code, again.body.meta.reason]).toEqual([409, 'state_conflict', 'not_unique']);
    expect((await create({ external_product_id }, ada.sandboxKey)).status).toBe(201);
    expect((await create({ external_product_id }, stranger.key)).status).toBe(201);
  });

  it('the list is paged, newest first, and empty past the end', async () => {
    const person = await w.merchant();
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.unshift((await create({ name: `Product ${i}` }, person.key)).body.product_id);
    await create({}, person.sandboxKey);
    const pages = await Promise.all([1, 2, 3, 4, 5000].map((page) => list(`?page=${page}&per_page=2`, person.key)));
    expect(pages.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(pages.flatMap(({ body }) => body.items.map(({ product_id }: { product_id: string }) => product_id))).toEqual(made);
    expect(pages.map(({ body }) => body.has_more)).toEqual([true, true, false, false, false]);
    const { items: _, ...envelope } = pages[0]!.body;
    expect(envelope).toEqual({ page: 1, per_page: 2, total: 5, total_pages: 3, has_more: true });
    expect((await list('', person.key)).body).toMatchObject({ page: 1, per_page: 20, total: 5, total_pages: 1, has_more: false });
    expect((await list('?mode=sandbox', person.token)).body.total).toBe(1);
    expect((await list('?per_page=100', person.key)).status).toBe(200);
  });

  it.each([
    'per_page=101',
    'per_page=0',
    'page=0',
    'page=-1',
    'page=1.5',
    'page=1e2',
    'page=',
    'page=501',
    'page=99999999999',
    'per_page=abc',
    'page=%00',
    'page=1&page=x',
  ])('the page query %s is 422', async (query) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.detail[0].loc[0]).toBe('query');
  });

  it('three of twenty concurrent creations succeed on the free plan', async () => {
    const free = await w.merchant('free');
    const answers = await Promise.all(Array.from({ length: 20 }, () => create({ payout_wallet: free.wallet.address }, free.key)));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(201), ...Array(17).fill(429)]);
    for (const { status, body, headers } of answers) {
      if (status !== 429) continue;
      expect([body.code, body.retryable, headers.get('Retry-After')]).toEqual(['plan_limit_reached', false, null]);
      expect(body.meta).toEqual({ limit: 3, used: 3, plan: 'free' });
    }
    expect((await list('', free.key)).body.total).toBe(3);
  });

  it('the public offer shows product and seller, and no merchant data', async () => {
    const product = (await create({ external_product_id: 'internal-7', metadata: { margin: '90%' }, description: 'All the weather' })).body;
    const { status, body } = await w.call('GET', `/v1/products/p/${product.slug}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      name: 'Weather API',
      description: 'All the weather',
      price: product.price,
      merchant: { display_name: 'Ada’s weather' },
    });
    expect(JSON.stringify(body)).not.toMatch(/internal-7|margin|@example\.com/);
    for (const slug of ['no-such-slug', product.slug.toUpperCase(), `${product.slug}%20`, '%00', "'--"])
      expect([slug, (await w.call('GET', `/v1/products/p/${slug}`)).status]).toEqual([slug, 404]);
  });
});
