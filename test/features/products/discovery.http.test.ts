import { beforeAll, describe, expect, it } from 'vitest';
import { ROUTE_BYTES_MAX } from '../../../worker/protocols/x402/discovery.ts';
import { write } from '../../support/people/agent.ts';
import { goodManifest, Setup } from '../../support/people/bootstrap.ts';
import { type Merchant, World } from '../../support/world.ts';

const OFFER = { name: 'Weather API', price: { asset: 'USDC', amount: '0.5' } };
const FORECAST = {
  method: 'GET',
  path: '/forecast/:city',
  summary: 'Forecast of a city',
  path_params: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  example: { path_params: { city: 'paris' } },
  output_example: { celsius: 21 },
};
const ORDER = { method: 'POST', path: '/orders' };
const TOOL = { tool_name: 'forecast', input_schema: { type: 'object' } };
const SERVICE = { listed: true, service_name: 'Weather', tags: ['weather'], icon_url: 'https://weather.example/icon.png' };

describe('discovery of a product', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const create = (discovery: unknown) => w.call('POST', '/v1/products', { key: ada.key, body: { ...OFFER, discovery } });
  const locationsOf = (body: { detail: { loc: unknown[] }[] }) => body.detail.map(({ loc }) => loc.join('.'));

  it('POST /v1/products stores routes with their defaults', async () => {
    const { status, body } = await create({ ...SERVICE, routes: [FORECAST, ORDER, TOOL] });
    expect([status, body.discovery]).toEqual([
      201,
      {
        ...SERVICE,
        routes: [
          { ...FORECAST, mime_type: 'application/json' },
          { ...ORDER, mime_type: 'application/json', body_type: 'json' },
          { ...TOOL, path: '/mcp' },
        ],
      },
    ]);
    expect((await w.call('GET', `/v1/products/${body.product_id}`, { key: ada.key })).body.discovery).toEqual(body.discovery);
  });

  it('products without discovery show null', async () => {
    expect((await create(undefined)).body.discovery).toBeNull();
    expect((await create(null)).body.discovery).toBeNull();
    expect((await create({})).body.discovery).toEqual({ listed: false, routes: [] });
  });

  it('POST /v1/access/products takes the same discovery', async () => {
    const { status, body } = await write(w, ada, 'products', { ...OFFER, discovery: { routes: [TOOL] } });
    expect([status, body.discovery]).toEqual([201, { listed: false, routes: [{ ...TOOL, path: '/mcp' }] }]);
    const refused = await write(w, ada, 'products', { ...OFFER, discovery: { routes: [{ ...ORDER, path: '/a/../b' }] } });
    expect([refused.status, locationsOf(refused.body)]).toEqual([422, ['body.discovery.routes.0.path']]);
  });

  it('PATCH replaces all of the discovery, null clears it, and others remain', async () => {
    const { body: product } = await create({ ...SERVICE, routes: [FORECAST] });
    const patch = async (body: object) => (await w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.key, body })).body;
    expect((await patch({ name: 'Other' })).discovery).toEqual(product.discovery);
    expect((await patch({ discovery: { routes: [TOOL] } })).discovery).toEqual({ listed: false, routes: [{ ...TOOL, path: '/mcp' }] });
    const repeated = await patch({ discovery: { listed: false, routes: [{ ...TOOL, path: '/mcp' }] } });
    expect(repeated.updated_at).toBe((await w.call('GET', `/v1/products/${product.product_id}`, { key: ada.key })).body.updated_at);
    expect((await patch({ discovery: null })).discovery).toBeNull();
  });

  it('a shown discovery can be sent again', async () => {
    const { body } = await create({ ...SERVICE, routes: [FORECAST, ORDER, TOOL] });
    expect((await create(body.discovery)).body.discovery).toEqual(body.discovery);
  });

  it.each<[string, unknown, string[]]>([
    ['a value that is no object', 'yes', ['body.discovery']],
    ['a name of 33 characters', { service_name: 'a'.repeat(33) }, ['body.discovery.service_name']],
    ['a name with other characters', { service_name: 'Wetter für alle' }, ['body.discovery.service_name']],
    ['six tags', { tags: ['a', 'b', 'c', 'd', 'e', 'f'] }, ['body.discovery.tags']],
    ['a tag twice', { tags: ['a', 'A'] }, ['body.discovery.tags.1']],
    ['an icon without https', { icon_url: 'http://weather.example/i' }, ['body.discovery.icon_url']],
    ['21 routes', { routes: Array.from({ length: 21 }, (_, i) => ({ ...ORDER, path: `/${i}a` })) }, ['body.discovery.routes']],
    ['a route without a form', { routes: [ORDER, { path: '/a' }] }, ['body.discovery.routes.1.method']],
    ['a route of both forms', { routes: [{ ...ORDER, ...TOOL }] }, ['body.discovery.routes.0.tool_name']],
    ['an HTTP route without a path', { routes: [{ method: 'GET' }] }, ['body.discovery.routes.0.path']],
    [
      'fields of the other form',
      {
        routes: [
          { ...ORDER, transport: 'sse' },
          { ...TOOL, body: {} },
        ],
      },
      ['body.discovery.routes.0.transport', 'body.discovery.routes.1.body'],
    ],
    ['a tool without a schema', { routes: [{ tool_name: 'a' }] }, ['body.discovery.routes.0.input_schema']],
    ['an unknown method', { routes: [{ method: 'TRACE', path: '/a' }] }, ['body.discovery.routes.0.method']],
    ['an unknown field of an example', { routes: [{ ...ORDER, example: { headers: {} } }] }, ['body.discovery.routes.0.example']],
    ['an example that is required', { routes: [{ ...FORECAST, example: undefined }] }, ['body.discovery.routes.0.example.path_params']],
    [
      'an invalid schema',
      { routes: [{ ...ORDER, body: { type: 'object', properties: { a: { $ref: 'b' } } } }] },
      ['body.discovery.routes.0.body.properties.a.$ref'],
    ],
    ['the same route twice', { routes: [ORDER, ORDER] }, ['body.discovery.routes.1.path']],
    ['a route that is too large', { routes: [{ ...ORDER, output_example: 'a'.repeat(ROUTE_BYTES_MAX) }] }, ['body.discovery.routes.0']],
  ])('POST /v1/products refuses %s', async (_, discovery, locations) => {
    const { status, body } = await create(discovery);
    expect([status, body.code, locationsOf(body)]).toEqual([422, 'validation_error', locations]);
  });

  it('POST /v1/products names the unknown fields of a route', async () => {
    const { status, body } = await create({ routes: [{ ...ORDER, pth: '/a' }] });
    expect([status, body.code, locationsOf(body)]).toEqual([422, 'unknown_field', ['body.discovery.routes.0.pth']]);
  });

  it('a hostile pattern is answered at once', async () => {
    const body = { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } };
    const started = performance.now();
    const answer = await create({ routes: [{ ...ORDER, body, example: { body: { a: `${'a'.repeat(700)}!` } } }] });
    expect([answer.status, locationsOf(answer.body)]).toEqual([422, ['body.discovery.routes.0.example.body']]);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('products of a manifest take a discovery, which their calls repeat', async () => {
    const setup = await Setup.create(w);
    const product = { ...OFFER, external_product_id: 'weather', discovery: { ...SERVICE, routes: [FORECAST] } };
    const { status, body } = await setup.call('manifest', await goodManifest(w, { products: [product] }));
    expect([status, body.manifest.products[0].discovery]).toEqual([200, product.discovery]);
    const refused = await setup.call(
      'manifest',
      await goodManifest(w, { products: [{ ...product, discovery: { routes: [{ ...ORDER, path: 'a' }] } }] }),
    );
    expect([refused.status, locationsOf(refused.body)]).toEqual([422, ['body.products.0.discovery.routes.0.path']]);
  });

  it('a page of 100 products with 20 of the largest routes is answered', async () => {
    const bob = await w.merchant();
    const route = (index: number) => ({ ...ORDER, path: `/r${index}`, output_example: '' });
    const fill = (index: number) => {
      const bare = JSON.stringify({ ...route(index), mime_type: 'application/json', body_type: 'json' }).length;
      return { ...route(index), output_example: 'a'.repeat(ROUTE_BYTES_MAX - bare) };
    };
    const routes = Array.from({ length: 20 }, (_, index) => fill(index));
    const { body: product } = await w.call('POST', '/v1/products', { key: bob.key, body: { ...OFFER, discovery: { routes } } });
    expect(product.discovery.routes.map((stored: object) => JSON.stringify(stored).length)).toEqual(routes.map(() => ROUTE_BYTES_MAX));
    const db = w.env.DB;
    const { results } = await db.prepare('SELECT * FROM products WHERE id = ?').bind(product.product_id).all();
    const columns = Object.keys(results[0]!);
    const values = columns.map((name) =>
      name === 'id' ? "unhex(substr(hex(id), 1, 20) || printf('%012x', n))" : name === 'slug' ? "slug || '-' || n" : name,
    );
    await db
      .prepare(
        `WITH RECURSIVE copies(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < 99)
         INSERT INTO products (${columns.join(', ')}) SELECT ${values.join(', ')} FROM products, copies WHERE id = ?`,
      )
      .bind(product.product_id)
      .run();
    const { status, body } = await w.call('GET', '/v1/products?per_page=100', { key: bob.key });
    expect([status, body.items.length]).toEqual([200, 100]);
    for (const item of body.items) expect(item.discovery).toEqual(product.discovery);
  });
});
