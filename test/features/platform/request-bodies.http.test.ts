import { beforeAll, describe, expect, it } from 'vitest';
import { fill, operations } from '../../contract/spec-routes.ts';
import { refundable } from '../../support/fixtures/refund.ts';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

const bytesOf = (...parts: (string | number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)));
const streamed = (text: string) => new Blob([text]).stream();
const around = (bytes: number[]): Uint8Array => bytesOf('{"name":"', bytes, '","price":{"asset":"USDC","amount":"1"}}');

describe('request body encoding', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const post = (raw: BodyInit, key: string | null = ada.key) => w.call('POST', '/v1/products', { key, raw });
  const names = async () => (await w.call('GET', '/v1/products', { key: ada.key })).body.items.map(({ name }: { name: string }) => name);

  it.each<[string, Uint8Array]>([
    ['Latin-1', around([0x4d, 0xfc, 0x6c, 0x6c, 0x65, 0x72])],
    ['a character cut short', around([0xe2, 0x82])],
    ['an overlong form', around([0xc0, 0xaf])],
    ['a surrogate as bytes', around([0xed, 0xa0, 0x80])],
    ['a byte that no text has', around([0xff])],
    ['UTF-16', Uint8Array.from([...'{"name":"x"}'].flatMap((char) => [char.charCodeAt(0), 0]))],
    ['a byte order mark', bytesOf([0xef, 0xbb, 0xbf], '{"name":"x","price":{"asset":"USDC","amount":"1"}}')],
    ['two values', bytesOf('{"name":"x"}{"name":"y"}')],
  ])('a body with %s is 422 json_invalid, and nothing is stored', async (_what, raw) => {
    const { status, body } = await post(raw);
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.detail).toEqual([{ loc: ['body'], msg: expect.any(String), type: 'json_invalid' }]);
    expect(await names()).toEqual([]);
  });

  it.each<[string, number, CallOptions]>([
    ['no text', 422, { raw: around([0xff]) }],
    ['half a character', 422, { raw: JSON.stringify({ name: 'a\ud800' }) }],
    ['a secret key', 422, { body: { name: Array.from({ length: 64 }, (_, byte) => byte) } }],
    ['no JSON by its own word', 415, { raw: '{}', headers: { 'content-type': 'text/plain' } }],
    ['too long', 413, { raw: JSON.stringify({ name: 'x'.repeat(70_000) }) }],
    ['too long, without its length', 413, { raw: streamed('x'.repeat(70_000)), headers: { 'content-type': 'application/json' } }],
  ])('the caller is checked before the body: %s', async (_what, refusal, options) => {
    const again = () => (options.raw instanceof ReadableStream ? { ...options, raw: streamed('x'.repeat(70_000)) } : options);
    const stranger = await w.call('POST', '/v1/products', again());
    expect([stranger.status, stranger.body.code]).toEqual([401, 'invalid_authorization']);
    const { status, headers } = await w.call('POST', '/v1/products', { key: ada.key, ...again() });
    expect([status, headers.has('X-RateLimit-Remaining')]).toEqual([refusal, true]);
    expect(await names()).toEqual([]);
  });

  it.each<[string, string]>([
    ['an object without a usable toString', '{"name":{"length":{"toString":1}},"price":{"asset":"USDC","amount":"1"}}'],
    ['a list of such objects', '{"name":{"length":[{"toString":1}]},"price":{"asset":"USDC","amount":"1"}}'],
    ['a list too deep to join', `{"name":{"length":${'['.repeat(15_000)}${']'.repeat(15_000)}},"price":{"asset":"USDC","amount":"1"}}`],
    ['the size of a record', '{"name":"x","price":{"asset":"USDC","amount":"1"},"metadata":{"size":{"toString":null}}}'],
  ])('a length or size that no number compares with is 422, not a failure: %s', async (_what, raw) => {
    const { status, body } = await post(raw);
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.detail).toEqual([{ loc: ['body'], msg: expect.stringContaining('plain values'), type: 'invalid_type' }]);
    expect(await names()).toEqual([]);
  });

  it.each<[string, unknown, (string | number)[]]>([
    ['a field', { name: 'a\ud800' }, ['body', 'name']],
    ['a field of an object', { price: { asset: '\udc00', amount: '1' } }, ['body', 'price', 'asset']],
    ['a list', { accepted_assets: ['USDC', '\ud83d'] }, ['body', 'accepted_assets', 1]],
    ['a name', { metadata: { 'a\ud800': 'x' } }, ['body', 'metadata']],
  ])('a lone surrogate in %s is 422 not_unicode with its location', async (_what, value, loc) => {
    const { status, body } = await post(JSON.stringify(value));
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.detail).toEqual([{ loc, msg: expect.stringContaining('surrogate'), type: 'not_unicode' }]);
  });

  it('a valid UTF-8 body is read unchanged', async () => {
    const { status, body } = await post(around([...new TextEncoder().encode('Müller 🏳️‍🌈 \ufeff')]));
    expect([status, body.name]).toEqual([201, 'Müller 🏳️‍🌈']);
  });
});

describe('optional request body', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });

  it('every POST with an optional body accepts none at all and an empty one', async () => {
    const merchant = await w.merchant();
    const product = await w.product(merchant);
    const { endpoint_id } = (
      await w.call('POST', '/v1/webhooks/endpoints', { key: merchant.key, body: { url: 'https://shop.example.com/hooks' } })
    ).body;
    const newKeyId = async (): Promise<string> =>
      (await w.call('POST', '/v1/keys', { key: merchant.token, body: { name: 'k', sandbox_mode: true } })).body.key.id;
    const params = {
      product_id: product.product_id,
      slug: product.slug,
      endpoint_id,
      authorization_id: `nsa_${'0'.repeat(26)}`,
      customer_id: crypto.randomUUID(),
    };
    const optional = [...operations].filter(([name, { requestBody }]) => name.startsWith('POST') && requestBody?.required === false);
    expect(optional.length).toBeGreaterThan(3);
    for (const [name, { security }] of optional) {
      // Each call uses another payment, because a second refund waits for the first.
      const makePath = async () => {
        const paid: Record<string, string> = name.includes('/refund-') ? { payment_id: (await refundable(w, merchant)).id } : {};
        // A key is rolled once.
        const rolled: Record<string, string> = name.includes('/roll') ? { key_id: await newKeyId() } : {};
        return fill(name.slice('POST '.length), { ...params, ...paid, ...rolled });
      };
      const key = /\/(?:erase|refresh|roll|stop|logout|portal\/processor)$/.test(name) ? merchant.token : security ? merchant.key : null;
      const bodies: CallOptions[] = [
        {},
        { headers: { 'content-type': 'application/json' } },
        { raw: '' },
        { raw: streamed('') },
        // HTTP/1.1 servers pass a POST without a body like this.
        { raw: streamed(''), headers: { 'content-length': '0' } },
        { raw: ' ' },
        { body: {} },
      ];
      for (const options of bodies) {
        const { status, body } = await w.call('POST', await makePath(), { key, ...options });
        // The missing processor customer, and an unknown subscription or customer, are noticed after the body.
        const isRead =
          [200, 201].includes(status) || body.meta?.reason === 'no_customer' || (status === 404 && /\/(?:erase|stop)$/.test(name));
        expect([name, options, isRead ? 'done' : body]).toEqual([name, options, 'done']);
      }
    }
  });

  it('a missing body has the documented defaults', async () => {
    const merchant = await w.merchant();
    const create = { key: merchant.key, body: { url: 'https://shop.example.com/hooks' } };
    const made = (await w.call('POST', '/v1/webhooks/endpoints', create)).body;
    const before = Date.now();
    await w.call('POST', `/v1/webhooks/endpoints/${made.endpoint_id}/rotate-secret`, { key: merchant.key });
    const row = await w.env.DB.prepare('SELECT previous_sealed AS old FROM webhook_endpoints WHERE id = ?')
      .bind(made.endpoint_id)
      .first<{ old: string }>();
    const [{ until }] = JSON.parse(row!.old) as [{ until: number }];
    expect(Math.abs(until - before - 24 * 3_600_000)).toBeLessThan(60_000);
  });
});
