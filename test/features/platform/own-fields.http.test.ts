import { beforeAll, describe, expect, it } from 'vitest';
import { type Merchant, World } from '../../support/world.ts';

const COMPOSED = 'José-\u{1F44B}';
const DECOMPOSED = COMPOSED.normalize('NFD');
const LONGEST = '\u{1F44B}'.repeat(180);
const REFUSED: [string, string][] = [
  ['nothing', ''],
  ['181 characters', `${LONGEST}x`],
  ['a space first', ' x'],
  ['a space last', 'x '],
  ['a hard space last', 'x\u00a0'],
  ['a line break', 'a\nb'],
  ['a delete character', 'a\u007fb'],
  ['a next-line character', 'a\u0085b'],
  ['a program command', 'a\u009fb'],
];

describe('merchant references', () => {
  const w = new World();
  let ada: Merchant;
  let productId: string;
  beforeAll(async () => {
    ada = await w.merchant();
    productId = (await w.product(ada, { external_product_id: 'plain', usage_units: 5 })).product_id;
  });
  const post = (path: string, body: unknown) =>
    w.call('POST', path, { key: ada.key, headers: { 'Idempotency-Key': crypto.randomUUID() }, body });
  const grant = (ref: string) =>
    post('/v1/access/entitlements/grant', { product_id: productId, customer: { customer_ref: ref }, units: 3, reason: 'a gift' });

  it('a reference has up to 180 code points of any script', async () => {
    expect((await grant(LONGEST)).body.customer).toEqual({ customer_ref: LONGEST });
    expect((await grant('日本 語')).status).toBe(200);
  });

  it('both Unicode spellings name one customer, shown as NFC', async () => {
    const first = await grant(DECOMPOSED);
    expect(first.body.customer).toEqual({ customer_ref: COMPOSED });
    const used = await post('/v1/access/entitlements/consume', { product_id: productId, customer: { customer_ref: COMPOSED } });
    expect([used.status, used.body.entitlement_id]).toEqual([200, first.body.entitlement_id]);
    const again = await post('/v1/access/entitlements/consume', { product_id: productId, customer: { customer_ref: DECOMPOSED } });
    expect(again.body.remaining).toBe(used.body.remaining - 1);
  });

  it('list filters accept both Unicode spellings', async () => {
    const connected = await w.call('POST', `/v1/products/p/${(await w.product(ada)).slug}/connect`, { body: { customer_ref: DECOMPOSED } });
    expect(connected.status).toBe(200);
    for (const ref of [COMPOSED, DECOMPOSED]) {
      const { body } = await w.call('GET', `/v1/payments?customer_ref=${encodeURIComponent(ref)}`, { key: ada.key });
      expect(body.items.map((item: { customer_ref: string }) => item.customer_ref)).toEqual([COMPOSED]);
    }
  });

  it('both Unicode spellings name one product', async () => {
    const made = await post('/v1/products', {
      name: 'X',
      price: { asset: 'USDC', amount: '5' },
      external_product_id: DECOMPOSED,
    });
    expect([made.status, made.body.external_product_id]).toEqual([201, COMPOSED]);
    const again = await post('/v1/products', { name: 'Y', price: { asset: 'USDC', amount: '5' }, external_product_id: COMPOSED });
    expect(again.status).toBe(409);
    const customer = { customer_ref: 'user-1' };
    const granted = await post('/v1/access/entitlements/grant', { external_product_id: DECOMPOSED, customer, units: 1, reason: 'a gift' });
    expect([granted.status, granted.body.product_id]).toEqual([200, made.body.product_id]);
  });

  it.each(REFUSED)('a reference with %s is 422', async (_, name) => {
    const refused = await grant(name);
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'customer', 'customer_ref']]);
    const product = await post('/v1/products', { name: 'X', price: { asset: 'USDC', amount: '5' }, external_product_id: name });
    expect([product.status, product.body.detail[0].loc]).toEqual([422, ['body', 'external_product_id']]);
    const listed = await w.call('GET', `/v1/payments?customer_ref=${encodeURIComponent(name)}`, { key: ada.key });
    expect([listed.status, listed.body.detail[0].loc]).toEqual([422, ['query', 'customer_ref']]);
  });
});

describe('metadata', () => {
  const w = new World();
  let ada: Merchant;
  let productId: string;
  beforeAll(async () => {
    ada = await w.merchant();
    ({ product_id: productId } = await w.product(ada, { metadata: { a: '1', b: '2' } }));
  });
  const fifty = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key-${i}`, 'x']));
  const REFUSALS: [string, unknown][] = [
    ['51 keys', { ...fifty, one: 'more' }],
    ['a key of 41 characters', { ['k'.repeat(41)]: 'x' }],
    ['an empty key', { '': 'x' }],
    ['a value of 501 characters', { a: 'v'.repeat(501) }],
    ['a number', { a: 1 }],
    ['an object', { a: { b: 'c' } }],
  ];
  const writes: [string, () => string, Record<string, unknown>][] = [
    ['POST', () => '/v1/products', { name: 'X', price: { asset: 'USDC', amount: '5' } }],
    ['PATCH', () => `/v1/products/${productId}`, {}],
    ['POST', () => `/v1/products/${productId}/handoffs`, {}],
    ['POST', () => '/v1/access/payment-sessions', { product_id: 'own' }],
    ['POST', () => '/v1/access/products', { name: 'X', price: { asset: 'USDC', amount: '5' } }],
  ];
  const send = (method: string, path: string, body: Record<string, unknown>) =>
    w.call(method, path, {
      key: ada.key,
      headers: { 'Idempotency-Key': crypto.randomUUID() },
      body: 'product_id' in body ? { ...body, product_id: productId } : body,
    });

  it.each(REFUSALS)('metadata with %s is 422 on every write that accepts it', async (_, metadata) => {
    for (const [method, path, body] of writes) {
      const answer = await send(method, path(), { ...body, metadata });
      expect([method, path(), answer.status]).toEqual([method, path(), 422]);
      expect(answer.body.detail[0].loc.slice(0, 2)).toEqual(['body', 'metadata']);
    }
  });

  it('metadata holds 50 keys of 40 and values of 500 code points', async () => {
    const metadata = { ...Object.fromEntries(Object.entries(fifty).slice(1)), ['\u{1F511}'.repeat(40)]: '\u{1F4B0}'.repeat(500) };
    expect((await send('POST', '/v1/access/products', { name: 'X', price: { asset: 'USDC', amount: '5' }, metadata })).body).toMatchObject({
      metadata,
    });
  });

  it('keys and values are stored and answered in NFC', async () => {
    const decomposed = { 'cafe\u0301': 'Zu\u0308rich' };
    const composed = { 'caf\u00e9': 'Z\u00fcrich' };
    const { body } = await send('POST', '/v1/access/products', { name: 'X', price: { asset: 'USDC', amount: '5' }, metadata: decomposed });
    expect(body.metadata).toEqual(composed);
    const changed = await send('PATCH', `/v1/products/${body.product_id}`, { metadata: { 'cafe\u0301': null } });
    expect(changed.body.metadata).toEqual({});
  });

  it('the OpenAPI document states the limits of metadata', async () => {
    const { components } = (await w.call('GET', '/v1/openapi.json')).body;
    const { metadata } = components.schemas.CreateProductRequest.properties;
    expect(metadata).toMatchObject({ maxProperties: 50, propertyNames: { maxLength: 40 }, additionalProperties: { maxLength: 500 } });
  });

  it('an empty or too long key is answered with the allowed length', async () => {
    for (const key of ['k'.repeat(41), '']) {
      const { status, body } = await send('PATCH', `/v1/products/${productId}`, { metadata: { [key]: 'v' } });
      const problem = { loc: ['body', 'metadata', key], msg: 'Expected a key of 1 to 40 characters', type: 'invalid_key' };
      expect([status, body.detail]).toEqual([422, [problem]]);
    }
  });

  it('an update merges metadata and removes keys set to null', async () => {
    const change = async (metadata: unknown) => (await send('PATCH', `/v1/products/${productId}`, { metadata })).body.metadata;
    expect(await change({ c: '3' })).toEqual({ a: '1', b: '2', c: '3' });
    expect(await change({ a: null, b: 'two', nothing: null })).toEqual({ b: 'two', c: '3' });
    expect(await change({})).toEqual({ b: 'two', c: '3' });
    expect((await w.call('GET', `/v1/products/${productId}`, { key: ada.key })).body.metadata).toEqual({ b: 'two', c: '3' });
  });

  it('the limit of 50 keys applies to the merged metadata', async () => {
    const { product_id: id } = await w.product(ada, { metadata: fifty });
    const refused = await send('PATCH', `/v1/products/${id}`, { metadata: { one: 'more' } });
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'metadata']]);
    const swapped = await send('PATCH', `/v1/products/${id}`, { metadata: { one: 'more', 'key-0': null } });
    expect([swapped.status, Object.keys(swapped.body.metadata).length]).toEqual([200, 50]);
  });
});

describe('displayed names', () => {
  const w = new World();
  const HOSTILE: [string, string][] = [
    ['an escape sequence', 'Ada\u001b]52;c;cm0gLXJm\u0007'],
    ['a line feed', 'Ada\nid eve'],
    ['a delete character', 'Ada\u007f'],
    ['a C1 control', 'Ada\u009b2J'],
  ];

  it.each(HOSTILE)('a displayed name with %s is 422 for accounts, products, keys and apps', async (_, name) => {
    const ada = await w.merchant();
    const { product_id: id } = await w.product(ada);
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const price = { asset: 'USDC', amount: '5' };
    const writes: [string, string, Record<string, unknown>][] = [
      ['POST', '/v1/auth/register', { email: 'eve@example.com', password: 'correct horse', display_name: name }],
      ['PATCH', '/v1/account/me', { display_name: name }],
      ['PATCH', '/v1/account/me', { merchant_settings: { checkout_brand_name: name } }],
      ['POST', '/v1/products', { name, price }],
      ['PATCH', `/v1/products/${id}`, { name }],
      ['POST', '/v1/keys', { name }],
      ['POST', '/v1/access/apps', { name }],
    ];
    for (const [method, path, body] of writes) {
      const { status, body: said } = await w.call(method, path, { key: ada.token, headers, body });
      expect([method, path, status]).toEqual([method, path, 422]);
      expect(JSON.stringify(said.detail)).toContain('without control characters');
    }
  });
});

describe('texts of emails and PDFs', () => {
  const w = new World();
  const sell = async (ada: Merchant): Promise<string> =>
    (await w.purchase(await w.product(ada), await w.chain.wallet())).confirmed.receipt_id;

  it.each(['subject\r\nBcc: eve@example.com', 'a\u001b[2Jb', 'a\u0000b', 'a\u009bb'])(
    'a control character is 422 in tickets, setups, proofs and invoices: %j',
    async (text) => {
      const ada = await w.merchant();
      const receipt = `/v1/receipt/${await sell(ada)}`;
      const writes: [string, string, Record<string, unknown>][] = [
        ['POST', '/v1/support/tickets', { subject: text, body: 'Hello' }],
        ['POST', '/v1/access/agent-bootstrap', { agent_name: 'Agent', operator_contact: text }],
        ['PATCH', `${receipt}/invoice-metadata`, { bill_to: { name: text } }],
        ['PATCH', `${receipt}/invoice-metadata`, { seller: { tax_id: text } }],
        ['PATCH', `${receipt}/invoice-metadata`, { lines: [{ description: text, quantity: '1', amount: '1' }] }],
        ['POST', `${receipt}/send-proof`, { email: 'bob@example.com', message: text }],
      ];
      for (const [method, path, body] of writes) {
        const headers = { 'Idempotency-Key': crypto.randomUUID() };
        const { status, body: said } = await w.call(method, path, { key: ada.token, headers, body });
        expect([method, path, status]).toEqual([method, path, 422]);
        expect(JSON.stringify(said.detail)).toContain('without control characters');
      }
    },
  );

  it('notes and addresses may have several lines but no other control character', async () => {
    const ada = await w.merchant();
    const path = `/v1/receipt/${await sell(ada)}/invoice-metadata`;
    const patch = (body: object) => w.call('PATCH', path, { key: ada.token, headers: { 'Idempotency-Key': crypto.randomUUID() }, body });
    expect((await patch({ notes: 'one\ntwo', bill_to: { address: 'Street 1\n8000 Town' } })).status).toBe(200);
    expect((await patch({ notes: 'one\u0007' })).status).toBe(422);
    const ticket = { subject: 'Hello', body: 'one\u001b]52;c;x\u0007' };
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    expect((await w.call('POST', '/v1/support/tickets', { key: ada.token, headers, body: ticket })).status).toBe(422);
  });

  it('text length is counted in code points after NFC', async () => {
    const ada = await w.merchant();
    const rename = (display_name: string) => w.call('PATCH', '/v1/account/me', { key: ada.token, body: { display_name } });
    expect((await rename('😀'.repeat(120))).status).toBe(200);
    expect((await rename('e\u0301'.repeat(120))).status).toBe(200);
    expect((await w.call('GET', '/v1/account/me', { key: ada.token })).body.display_name).toBe('é'.repeat(120));
    expect((await rename('😀'.repeat(121))).status).toBe(422);
  });
});

describe('merchant URLs', () => {
  const w = new World();

  it.each(['https://bank.example@evil.example.com/', 'https://user:pw@shop.example.com/'])(
    'a URL with user information is 422: %s',
    async (url) => {
      const ada = await w.merchant();
      const { product_id: id } = await w.product(ada);
      const writes: [string, string, Record<string, unknown>][] = [
        ['PATCH', `/v1/products/${id}`, { success_url: url }],
        ['PATCH', `/v1/products/${id}`, { cancel_url: url }],
        ['POST', `/v1/products/${id}/handoffs`, { success_url: url }],
        ...['checkout_logo_url', 'checkout_hero_image_url', 'default_redirect_url', 'default_support_url'].map(
          (name): [string, string, Record<string, unknown>] => ['PATCH', '/v1/account/me', { merchant_settings: { [name]: url } }],
        ),
      ];
      for (const [method, path, body] of writes) {
        const { status, body: said } = await w.call(method, path, { key: ada.token, body });
        expect([method, path, status]).toEqual([method, path, 422]);
        expect(JSON.stringify(said.detail)).toContain('without a user name or password');
      }
    },
  );
});
