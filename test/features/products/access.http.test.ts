import { beforeAll, describe, expect, it } from 'vitest';
import { RAIL_IDS } from '#rules/product-rails.ts';
import { sellToAgents, write } from '../../support/people/agent.ts';
import { isSold } from '../../support/people/sale.ts';
import { type Answer, type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
const NOWHERE = '01900000-0000-7000-8000-000000000000';

describe('access apps', () => {
  const w = new World();
  let ada: Merchant;
  let stranger: Merchant;
  beforeAll(async () => {
    [ada, stranger] = await Promise.all([w.merchant(), w.merchant()]);
  });
  const OFFER = { name: 'Weather API', price: { asset: 'USDC', amount: '0.5' } };
  const makeApp = async (key = ada.key): Promise<string> => (await write(w, ada, 'apps', { name: 'Weather' }, { key })).body.access_app_id;

  it('POST /v1/access/apps creates an app with a name and an optional homepage', async () => {
    const { status, body } = await write(w, ada, 'apps', { name: '  Weather  ', homepage_url: 'https://weather.example.com' });
    expect(status).toBe(201);
    expect(body).toEqual({
      access_app_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      name: 'Weather',
      homepage_url: 'https://weather.example.com',
      created_at: body.created_at,
    });
    expect((await write(w, ada, 'apps', { name: 'Bare' })).body.homepage_url).toBeUndefined();
    for (const wrong of [
      {},
      { name: '' },
      { name: 'x'.repeat(161) },
      { name: 'a', homepage_url: 'http://a.co' },
      { name: 'a', homepage_url: 7 },
    ])
      expect((await write(w, ada, 'apps', wrong)).body.code).toBe('validation_error');
    expect((await write(w, ada, 'apps', { name: 'half \ud800' })).status).toBe(422);
  });

  const ROUTES: [string, (body: object, key: string) => Promise<Answer<Body>>][] = [
    ['POST /v1/products', (body, key) => w.call('POST', '/v1/products', { key, body: { ...OFFER, ...body } })],
    ['POST /v1/access/products', (body, key) => write(w, ada, 'products', { ...OFFER, ...body }, { key })],
    [
      'PATCH /v1/products/{product_id}',
      async (body, key) => {
        const { body: product } = await w.call('POST', '/v1/products', { key, body: OFFER });
        const answer = await w.call('PATCH', `/v1/products/${product.product_id}`, { key, body });
        return answer.status === 200 ? { ...answer, status: 201 } : answer;
      },
    ],
  ];

  it.each(ROUTES)('a product created by %s can belong to the merchant’s own app of the same mode', async (_route, make) => {
    const [live, sandbox, foreign] = await Promise.all([makeApp(), makeApp(ada.sandboxKey), makeApp(stranger.key)]);
    const made = await make({ access_app_id: live }, ada.key);
    expect([made.status, made.body.access_app_id]).toEqual([201, live]);
    const shown = await w.call('GET', `/v1/products/${made.body.product_id}`, { key: ada.token });
    expect(shown.body.access_app_id).toBe(live);
    expect((await make({ access_app_id: sandbox }, ada.sandboxKey)).body.access_app_id).toBe(sandbox);
    for (const [id, key] of [
      [foreign, ada.key],
      [sandbox, ada.key],
      [live, ada.sandboxKey],
      [NOWHERE, ada.key],
    ] as const) {
      const { status, body } = await make({ access_app_id: id }, key);
      expect([status, body.code, body.meta.field]).toEqual([404, 'not_found', 'access_app_id']);
    }
    expect((await make({ access_app_id: 'app_1' }, ada.key)).body.code).toBe('validation_error');
  });

  it('a product can leave its app', async () => {
    const { body: product } = await write(w, ada, 'products', { ...OFFER, access_app_id: await makeApp() });
    const left = await w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.key, body: { access_app_id: null } });
    expect([left.status, left.body.access_app_id]).toEqual([200, undefined]);
  });

  const both = (terms: object, key = ada.key) =>
    Promise.all([
      write(w, ada, 'products', { ...OFFER, ...terms }, { key }),
      w.call('POST', '/v1/products', { key, body: { ...OFFER, ...terms } }),
    ]);

  it.each<[object, number, string | undefined]>([
    [{}, 201, undefined],
    [{ product_type: 'link', billing_model: 'recurring', renewal_mode: 'ONE_OFF', metadata: { a: 'b' } }, 201, undefined],
    [
      { renewal_mode: null, default_rail: 'x402_solana_usdc', allowed_rails: ['x402_solana_usdc'], live_mode_confirmed: true },
      201,
      undefined,
    ],
    [{ billing_model: 'recurring', renewal_mode: 'AUTOMATIC' }, 409, 'setup_not_ready'],
    [{ billing_model: 'recurring', renewal_mode: 'solana_native_subscription' }, 409, 'setup_not_ready'],
    [{ billing_model: 'one_off', renewal_mode: 'solana_native_subscription' }, 422, 'validation_error'],
    [{ product_type: 'course' }, 400, 'invalid_product_type'],
    [{ product_type: 'telegram' }, 201, undefined],
    [{ product_type: 'discord', requires_identity: null }, 422, 'validation_error'],
    [{ access_app_id: '00000000-0000-4000-8000-000000000000', price: { asset: 'USDC', amount: '0.0000001' } }, 422, 'validation_error'],
    [{ payout_wallet: 'nobody' }, 422, 'invalid_wallet_address'],
    [{ usage_units: null }, 422, 'validation_error'],
    [{ price: { asset: 'USDC', amount: '0' } }, 422, 'validation_error'],
    [{ allowed_rails: ['solana_sol'] }, 422, 'validation_error'],
    [{ allowed_rails: ['x402_solana_usdc'], default_rail: 'solana_usdc' }, 422, 'validation_error'],
    [{ external_product_id: 'x'.repeat(181) }, 422, 'validation_error'],
  ])('both product routes give the same answer to %j', async (terms, status, code) => {
    for (const key of [ada.key, ada.sandboxKey]) {
      const [access, plain] = await both(terms, key);
      // A product with automatic renewal needs no subscription key in the sandbox.
      const isReady = code === 'setup_not_ready' && key === ada.sandboxKey;
      const [said, named] = isReady ? [201, undefined] : [status, code];
      expect([access.status, plain.status, access.body.code]).toEqual([said, said, named]);
      const own = ['product_id', 'slug', 'checkout_url', 'created_at', 'updated_at', 'request_id'];
      const shape = ({ warnings = [], ...body }: Body) => ({
        ...Object.fromEntries(Object.entries(body).filter(([name]) => !own.includes(name))),
        warnings: warnings.map(({ code }: Body) => code),
      });
      expect(shape(access.body)).toEqual(shape(plain.body));
    }
  });

  it('a product created by the access API is sold at checkout and to an agent', async () => {
    await sellToAgents(w, ada);
    const terms = {
      ...OFFER,
      payout_wallet: ada.wallet.address,
      live_mode_confirmed: true,
      external_product_id: 'sold',
      access_app_id: await makeApp(),
    };
    const { body: product } = await write(w, ada, 'products', terms);
    expect(await isSold(w, ada, product.product_id)).toBe(true);
  });
});

describe('available rails of a product', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const byId = async (product: Body, key = ada.key): Promise<Body> =>
    (await w.call('GET', `/v1/access/products/${product.product_id}/available-rails`, { key })).body;
  const railOf = (page: Body, railId: string): Body => page.items.find((item: Body) => item.rail_id === railId);

  it('the list has the shape of all rails and accepts either name of the product', async () => {
    const product = await sellToAgents(w, ada, { external_product_id: 'rails' });
    const page = await byId(product);
    const all = await w.call('GET', '/v1/access/rails');
    expect(page.items.map((item: Body) => item.rail_id)).toEqual([...RAIL_IDS]);
    expect({ ...page, items: [] }).toEqual({ ...all.body, items: [] });
    expect(railOf(page, 'x402_solana_usdc')).toEqual(railOf(all.body, 'x402_solana_usdc'));
    const soon = { status: 'unavailable', reason: 'not_configured', fix: { path: '/v1/access/rails' } };
    expect(railOf(page, 'solana_usdc_subscription')).toMatchObject(soon);
    expect(railOf(page, 'mpp_solana_usdc')).toMatchObject(soon);
    for (const query of [`product_id=${product.product_id}`, 'external_product_id=rails']) {
      const named = await w.call('GET', `/v1/access/products/available-rails?${query}`, { key: ada.key });
      expect(named.body).toEqual(page);
    }
  });

  it('the list is 404 for other merchants and modes, and needs exactly one name', async () => {
    const stranger = await w.merchant();
    const product = await w.product(ada);
    const at = (query: string, key: string) => w.call('GET', `/v1/access/products/available-rails${query}`, { key });
    for (const key of [stranger.key, ada.sandboxKey]) expect((await at(`?product_id=${product.product_id}`, key)).status).toBe(404);
    expect((await at('?external_product_id=nothing', ada.key)).status).toBe(404);
    for (const query of [
      '',
      `?product_id=${product.product_id}&external_product_id=x`,
      '?product_id=1',
      `?external_product_id=${'x'.repeat(181)}`,
    ])
      expect([query, (await at(query, ada.key)).status]).toEqual([query, 422]);
  });

  it('the fixes of unavailable rails enable SOL, and name what blocks the agent rail', async () => {
    const product = await w.product(ada, { live_mode_confirmed: true, allowed_rails: ['solana_usdc'], requires_identity: 'telegram' });
    const applyFix = async (railId: string): Promise<[string, string | undefined]> => {
      const { status, reason, fix } = railOf(await byId(product), railId);
      if (fix) expect((await w.call(fix.method, fix.path, { key: ada.key, body: fix.body })).status).toBe(200);
      return [status, reason];
    };
    expect(await applyFix('solana_sol')).toEqual(['unavailable', 'price_set']);
    expect(await applyFix('solana_sol')).toEqual(['unavailable', 'rail_enabled']);
    expect(await applyFix('solana_sol')).toEqual(['available', undefined]);
    const machines = railOf(await byId(product), 'x402_solana_usdc');
    expect([machines.reason, machines.fix.body]).toEqual(['rail_enabled', { requires_identity: null }]);
    const sol = await w.product(ada, { live_mode_confirmed: true, price: { asset: 'SOL', amount: '1' } });
    expect(railOf(await byId(sol), 'solana_sol').status).toBe('available');
    for (const railId of ['solana_usdc', 'x402_solana_usdc'])
      expect(railOf(await byId(sol), railId)).toMatchObject({ status: 'unavailable', reason: 'price_set' });
  });

  it('each unavailable rail names the readiness check that fails and the call that fixes it', async () => {
    const reasons = async (product: Body) => {
      const page = await byId(product);
      return ['solana_usdc', 'x402_solana_usdc'].map((railId) => [railOf(page, railId).status, railOf(page, railId).reason]);
    };
    const fresh = await w.merchant();
    const terms = { payout_wallet: fresh.wallet.address };
    // Plain checkout sells without live_mode_confirmed, agents do not.
    const unconfirmed = await w.product(ada, terms);
    expect(await reasons(unconfirmed)).toEqual([
      ['available', undefined],
      ['unavailable', 'live_mode_confirmed'],
    ]);
    const fix = railOf(await byId(unconfirmed), 'x402_solana_usdc').fix;
    expect((await w.call(fix.method, fix.path, { key: ada.key, body: fix.body })).status).toBe(200);
    expect(await reasons(unconfirmed)).toEqual([
      ['available', undefined],
      ['unavailable', 'payout_ata_exists'],
    ]);
    const narrow = await w.product(ada, { ...terms, live_mode_confirmed: true, allowed_rails: ['x402_solana_usdc'] });
    expect((await reasons(narrow))[0]).toEqual(['unavailable', 'rail_enabled']);
    const widen = railOf(await byId(narrow), 'solana_usdc').fix;
    expect((await w.call(widen.method, widen.path, { key: ada.key, body: widen.body })).body.allowed_rails).toHaveLength(2);
    expect((await reasons(narrow))[0]).toEqual(['available', undefined]);
    await w.call('POST', `/v1/products/${narrow.product_id}/archive`, { key: ada.key });
    expect((await reasons(narrow))[1]).toEqual(['unavailable', 'product_active']);
    const { body: poor } = await w.call('POST', '/v1/products', {
      key: ada.key,
      body: { name: 'A', price: { asset: 'USDC', amount: '1' } },
    });
    expect((await reasons(poor))[0]).toEqual(['unavailable', 'payout_wallet_set']);
    const { body: sandbox } = await w.call('POST', '/v1/products', {
      key: ada.sandboxKey,
      body: { name: 'A', price: { asset: 'USDC', amount: '1' } },
    });
    const page = await byId(sandbox, ada.sandboxKey);
    // A sandbox product is sold over every rail from the start.
    const sandboxed = page.items.map((rail: Body) => [rail.rail_id, rail.reason]);
    expect(sandboxed).toEqual([
      ['solana_usdc', undefined],
      ['solana_sol', 'price_set'],
      ['solana_usdc_subscription', 'rail_enabled'],
      ['x402_solana_usdc', undefined],
      ['mpp_solana_usdc', undefined],
    ]);
  });
});
