import { beforeAll, describe, expect, it } from 'vitest';
import { fill, operations } from '../../contract/spec-routes.ts';
import { refundable } from '../../support/fixtures/refund.ts';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

const bytesOf = (...parts: (string | number[])[]): Uint8Array =>
  Uint8Array.from(parts.flatMap((part) => (typeof part === 'string' ? [...new TextEncoder().encode(part)] : part)));
const streamed = (text: string) => new Blob([text]).stream();
const around = (bytes: number[]): Uint8Array => bytesOf('{"name":"', bytes, '","price":{"asset":"USDC","amount":"1"}}');

describe('the bytes of a body', () => {
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
  ])('are refused as no JSON with %s, and nothing is stored', async (_what, raw) => {
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
  ])('are looked at after the caller, and then refused to one whom the account admitted: %s', async (_what, refusal, options) => {
    const again = () => (options.raw instanceof ReadableStream ? { ...options, raw: streamed('x'.repeat(70_000)) } : options);
    const stranger = await w.call('POST', '/v1/products', again());
    expect([stranger.status, stranger.body.code]).toEqual([401, 'invalid_authorization']);
    const { status, headers } = await w.call('POST', '/v1/products', { key: ada.key, ...again() });
    expect([status, headers.has('X-RateLimit-Remaining')]).toEqual([refusal, true]);
    expect(await names()).toEqual([]);
  });

  it.each<[string, unknown, (string | number)[]]>([
    ['a field', { name: 'a\ud800' }, ['body', 'name']],
    ['a field of an object', { price: { asset: '\udc00', amount: '1' } }, ['body', 'price', 'asset']],
    ['a list', { accepted_assets: ['USDC', '\ud83d'] }, ['body', 'accepted_assets', 1]],
    ['a name', { metadata: { 'a\ud800': 'x' } }, ['body', 'metadata']],
  ])('may escape no half of a character: it is told where one stands in %s', async (_what, value, loc) => {
    const { status, body } = await post(JSON.stringify(value));
    expect([status, body.code]).toEqual([422, 'validation_error']);
    expect(body.detail).toEqual([{ loc, msg: expect.stringContaining('surrogate'), type: 'not_unicode' }]);
  });

  it('are read as they are where they are good text', async () => {
    const { status, body } = await post(around([...new TextEncoder().encode('Müller 🏳️‍🌈 \ufeff')]));
    expect([status, body.name]).toEqual([201, 'Müller 🏳️‍🌈']);
  });
});

describe('a body without a field that is required', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });

  it('may be left out on every POST that has one, with or without a word of JSON', async () => {
    const merchant = await w.merchant();
    const product = await w.product(merchant);
    const { endpoint_id } = (
      await w.call('POST', '/v1/webhooks/endpoints', { key: merchant.key, body: { url: 'https://shop.example.com/hooks' } })
    ).body;
    const params = { product_id: product.product_id, slug: product.slug, endpoint_id };
    const optional = [...operations].filter(([name, { requestBody }]) => name.startsWith('POST') && requestBody?.required === false);
    expect(optional.length).toBeGreaterThan(3);
    for (const [name, { security }] of optional) {
      // A second refund of a payment waits for the first, so each call is about another.
      const pathOf = async () => {
        const paid: Record<string, string> = name.includes('/refund-') ? { payment_id: (await refundable(w, merchant)).id } : {};
        return fill(name.slice('POST '.length), { ...params, ...paid });
      };
      const key = /\/(?:refresh|portal\/processor)$/.test(name) ? merchant.token : security ? merchant.key : null;
      const bodies: CallOptions[] = [
        {},
        { headers: { 'content-type': 'application/json' } },
        { raw: '' },
        { raw: streamed('') },
        // As a server of HTTP/1.1 hands over a POST that curl sends without a body.
        { raw: streamed(''), headers: { 'content-length': '0' } },
        { raw: ' ' },
        { body: {} },
      ];
      for (const options of bodies) {
        const { status, body } = await w.call('POST', await pathOf(), { key, ...options });
        // Who never paid by card has no page at the processor: that is looked at after the body.
        const isRead = [200, 201].includes(status) || body.meta?.reason === 'no_customer';
        expect([name, options, isRead ? 'done' : body]).toEqual([name, options, 'done']);
      }
    }
  });

  it('has the defaults it would have had', async () => {
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
