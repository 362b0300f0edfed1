import { describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { decoded, newKey, openShop } from '../../support/people/agent.ts';
import { letTimeRun } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

const X402 = 'x402_solana_usdc';

describe('origins of a merchant', () => {
  const w = new World();
  const put = (key: string, body: object, { rail = X402, env }: { rail?: string; env?: Env } = {}) =>
    w.call('PUT', `/v1/access/rail-settings/${rail}`, { key, body, headers: { 'Idempotency-Key': newKey() }, ...(env ? { env } : {}) });
  const read = async (key: string): Promise<string[]> => {
    const { body } = await w.call('GET', '/v1/access/rail-settings', { key });
    return body.items.find((item: { rail_id: string }) => item.rail_id === X402).origins;
  };

  it('origins are stored as the URL standard writes them, each once, per mode, until `[]` clears them', async () => {
    const { key, sandboxKey } = await w.merchant();
    const { status, body } = await put(key, {
      origins: [
        'https://API.Shop.com:443',
        'https://bücher.example:8443',
        'https://api.shop.com',
        'http://127.0.0.1:8787',
        'http://localhost',
      ],
    });
    const stored = ['https://api.shop.com', 'https://xn--bcher-kva.example:8443', 'http://127.0.0.1:8787', 'http://localhost'];
    expect([status, body.origins]).toEqual([200, stored]);
    expect([await read(key), await read(sandboxKey)]).toEqual([stored, []]);
    expect((await put(key, { enabled: true })).body.origins).toEqual(stored);
    expect((await put(key, { origins: [] })).body.origins).toEqual([]);
    expect(await read(key)).toEqual([]);
  });

  it.each([
    'https://shop.com/',
    'https://shop.com/path',
    'https://shop.com?x=1',
    'https://shop.com?',
    'https://shop.com#top',
    'https://user:pass@shop.com',
    'https://@shop.com',
    'https://shop\t.com',
    ' https://shop.com',
    'https:shop.com',
    'https:\\\\shop.com',
    'https://1.2.3.4',
    'https://0x7f000001',
    'https://127.1:8443',
    'https://[::1]',
    'http://shop.com',
    'http://127.0.0.2',
    'http://localhost.shop.com',
    'ftp://shop.com',
    'https://shop.com:99999',
    'https://',
    'shop.com',
    '',
  ])('%j is refused at its index', async (origin) => {
    const { key } = await w.merchant();
    const { status, body } = await put(key, { origins: ['https://shop.com', origin] });
    expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['body', 'origins', 1]]);
    expect(await read(key)).toEqual([]);
  });

  it('more than ten origins are refused, and so are origins of another rail', async () => {
    const { key } = await w.merchant();
    const many = Array.from({ length: 11 }, (_, index) => `https://shop${index}.com`);
    expect((await put(key, { origins: many })).status).toBe(422);
    expect((await put(key, { origins: many.slice(1) })).body.origins).toEqual(many.slice(1));
    const other = await put(key, { origins: ['https://shop.com'] }, { rail: 'solana_usdc' });
    expect([other.status, other.body.detail[0].loc]).toEqual([422, ['body', 'origins']]);
  });

  it('a challenge names the first origin for a URL of any other, without its query', async () => {
    const shop = await openShop(w);
    await put(shop.merchant.key, { origins: ['https://first.shop.com', 'https://second.shop.com'] });
    const urlFor = async (url: string) =>
      decoded(await shop.challenge({ customer: { customer_ref: crypto.randomUUID() }, resource: { url, method: 'GET' } })).resource.url;
    expect(await urlFor('https://evil.example/a/b?c=d#e')).toBe('https://first.shop.com/a/b');
    expect(await urlFor('http://second.shop.com/a')).toBe('https://first.shop.com/a');
    expect(await urlFor('https://second.shop.com/a?c=d')).toBe('https://second.shop.com/a?c=d');
    expect(await urlFor('mcp://tool/weather')).toBe('mcp://tool/weather');
  });

  it('a method and an MCP tool at once are refused, and each alone is taken', async () => {
    const shop = await openShop(w);
    const consume = (resource: object) =>
      shop.consume({ customer: { customer_ref: 'nobody' }, resource: { url: 'https://shop.com/mcp', ...resource } });
    const both = await consume({ method: 'POST', tool_name: 'weather' });
    expect([both.status, both.body.detail[0].loc]).toEqual([422, ['body', 'resource', 'tool_name']]);
    for (const resource of [{ method: 'POST' }, { tool_name: 'weather' }]) expect((await consume(resource)).status).toBe(403);
    for (const resource of [
      { method: 'get' },
      { method: 'OPTIONS' },
      { tool_name: '' },
      { tool_name: 'a b' },
      { tool_name: 'x'.repeat(129) },
    ])
      expect((await consume(resource)).status).toBe(422);
  });

  it('a receipt names the echoed resource if it is on an origin of the merchant, else the page of the product', async () => {
    letTimeRun();
    const shop = await openShop(w);
    await put(shop.merchant.key, { origins: ['https://shop.com'] });
    const paid = async (url: string, echoed: string) => {
      const required = decoded(await shop.challenge({ customer: { customer_ref: crypto.randomUUID() }, resource: { url } }));
      required.resource.url = echoed;
      const { body } = await shop.settle(await shop.agent.payFor(required));
      const { signature } = decoded(body.payment_response).extensions['offer-receipt'].info.receipt;
      return JSON.parse(atob(signature.split('.')[1].replaceAll('-', '+').replaceAll('_', '/'))).resourceUrl;
    };
    expect(await paid('https://shop.com/a', 'https://shop.com/a')).toBe('https://shop.com/a');
    expect(await paid('https://shop.com/a', 'https://evil.example/a')).toMatch(/\/p\/[a-z0-9-]+$/);
    expect(await paid('https://shop.com/a', `https://shop.com/${'a'.repeat(2048)}`)).toMatch(/\/p\/[a-z0-9-]+$/);
  });
});
