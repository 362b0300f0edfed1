import { isValidIconUrl, isValidRouteTemplate, validateDiscoveryExtension, validateDiscoveryExtensionSpec } from '@x402/extensions/bazaar';
import { describe, expect, it } from 'vitest';
import { describeCall, describeEmptyPost } from '../../../worker/protocols/x402/bazaar.ts';
import { type Discovery, matchRoute, type Route } from '../../../worker/protocols/x402/discovery.ts';
import { checkDiscovery, isIconUrl } from '../../../worker/protocols/x402/discovery-check.ts';

const ORIGIN = 'https://api.weather.example';
const search: Route = {
  method: 'GET',
  path: '/search',
  mime_type: 'application/json',
  summary: 'Search forecasts',
  query: {
    type: 'object',
    properties: { q: { $ref: '#/$defs/text' } },
    required: ['q'],
    $defs: { text: { type: 'string', minLength: 2 } },
  },
  example: { query: { q: 'rain' } },
  output_example: { found: [1, 2] },
};
const order: Route = {
  method: 'POST',
  path: '/orders',
  mime_type: 'application/json',
  body_type: 'json',
  query: { type: 'object', properties: { dry: { type: 'boolean' } } },
  body: { type: 'object', properties: { city: { type: 'string', pattern: '^[a-z]+$' } }, required: ['city'], additionalProperties: false },
  example: { body: { city: 'paris' } },
};
const forecast: Route = {
  method: 'GET',
  path: '/forecast/:country/:city',
  mime_type: 'text/csv',
  path_params: { type: 'object', properties: { city: { type: 'string', enum: ['paris', 'São Paulo'] } }, required: ['city'] },
  example: { path_params: { country: 'fr', city: 'paris' } },
};
const tool: Route = {
  tool_name: 'forecast',
  path: '/mcp',
  summary: 'Forecast of a city',
  input_schema: { type: 'object', properties: { city: { $ref: '#/$defs/c' } }, required: ['city'], $defs: { c: { type: 'string' } } },
  example: { city: 'paris' },
  output_example: 'sunny',
  transport: 'streamable-http',
};
const shop: Discovery = {
  listed: true,
  service_name: 'Weather',
  tags: ['weather', 'forecast'],
  icon_url: 'https://weather.example/icon.png',
  routes: [search, order, forecast, tool],
};

const described = async (method: string | undefined, path: string, toolName?: string) => {
  const found = await describeCall({ url: ORIGIN + path, method, toolName }, shop);
  const results = [validateDiscoveryExtension(found!.bazaar as never), validateDiscoveryExtensionSpec(found!.bazaar as never)];
  expect(results).toEqual([{ valid: true }, { valid: true }]);
  return found!;
};

describe('describeCall', () => {
  it('describeCall shows the example and schema of a query, and the service', async () => {
    const { bazaar, resource } = await described('GET', '/search?q=snow');
    expect(bazaar.info).toEqual({
      input: { type: 'http', method: 'GET', queryParams: { q: 'rain' } },
      output: { type: 'json', example: { found: [1, 2] } },
    });
    expect(bazaar.routeTemplate).toBeUndefined();
    expect(resource).toEqual({
      description: 'Search forecasts',
      mimeType: 'application/json',
      serviceName: 'Weather',
      tags: ['weather', 'forecast'],
      iconUrl: 'https://weather.example/icon.png',
    });
    const wrong = structuredClone(bazaar);
    wrong.info.input.queryParams = { q: 'r' };
    expect(validateDiscoveryExtension(wrong as never).valid).toBe(false);
  });

  it('describeCall shows the body of a POST', async () => {
    const { bazaar } = await described('POST', '/orders');
    expect(bazaar.info.input).toEqual({ type: 'http', method: 'POST', queryParams: {}, bodyType: 'json', body: { city: 'paris' } });
    const wrong = structuredClone(bazaar);
    wrong.info.input.body = { city: 'Paris' };
    expect(validateDiscoveryExtension(wrong as never).valid).toBe(false);
  });

  it('describeCall shows the real parameters of a path with their schema', async () => {
    const { bazaar, resource } = await described('GET', '/forecast/br/S%C3%A3o%20Paulo?days=3');
    expect(bazaar.routeTemplate).toBe('/forecast/:country/:city');
    expect(bazaar.info.input).toEqual({ type: 'http', method: 'GET', pathParams: { country: 'br', city: 'São Paulo' } });
    expect(JSON.stringify(bazaar.schema)).toContain('"paris"');
    expect(resource.mimeType).toBe('text/csv');
  });

  it('describeCall omits the schema of parameters that a stranger chose against it', async () => {
    const { bazaar } = await described('GET', '/forecast/x/atlantis');
    expect(bazaar.info.input.pathParams).toEqual({ country: 'x', city: 'atlantis' });
    expect(JSON.stringify(bazaar.schema)).not.toContain('"paris"');
  });

  it('describeCall shows the arguments of an MCP tool', async () => {
    const { bazaar, resource } = await described(undefined, '/mcp', 'forecast');
    expect(bazaar.info).toEqual({
      input: {
        type: 'mcp',
        toolName: 'forecast',
        description: 'Forecast of a city',
        transport: 'streamable-http',
        inputSchema: tool.input_schema,
        example: { city: 'paris' },
      },
      output: { type: 'json', example: 'sunny' },
    });
    expect(resource).toMatchObject({ description: 'Forecast of a city', serviceName: 'Weather' });
  });

  it.each([
    ['GET', undefined, { type: 'http', method: 'GET' }],
    ['HEAD', undefined, { type: 'http', method: 'HEAD' }],
    ['DELETE', undefined, { type: 'http', method: 'DELETE' }],
    ['POST', undefined, { type: 'http', method: 'POST', bodyType: 'json', body: {} }],
    ['PATCH', undefined, { type: 'http', method: 'PATCH', bodyType: 'json', body: {} }],
    [undefined, 'other', { type: 'mcp', toolName: 'other', inputSchema: { type: 'object' } }],
  ])('describeCall shows %s %s alone if no route matches', async (method, toolName, input) => {
    const { bazaar, resource } = await described(method, '/unknown', toolName);
    expect([bazaar.info, bazaar.routeTemplate, resource]).toEqual([{ input }, undefined, {}]);
  });

  it('describeCall returns null without a method or tool', async () => {
    expect(await describeCall({ url: `${ORIGIN}/search` }, shop)).toBeNull();
    expect(await describeCall({ url: `${ORIGIN}/search` }, null)).toBeNull();
  });

  it('describeEmptyPost is valid', () => {
    const bazaar = describeEmptyPost();
    expect(bazaar.info.input).toEqual({ type: 'http', method: 'POST', bodyType: 'json', body: {} });
    expect(validateDiscoveryExtension(bazaar as never)).toEqual({ valid: true });
    expect(validateDiscoveryExtensionSpec(bazaar as never)).toEqual({ valid: true });
  });
});

describe('matchRoute', () => {
  const route = (method: 'GET' | 'POST', path: string): Route => ({ method, path, mime_type: 'a/b' });
  const routes = [route('GET', '/a/b'), route('GET', '/a/:id'), route('POST', '/a/:id'), route('GET', '/:x/b'), route('GET', '/caf%C3%A9')];
  const found = (method: string, url: string) => {
    const match = matchRoute(routes, { url, method });
    return match && [routes.indexOf(match.route), match.pathParams];
  };

  it.each<[string, string, unknown]>([
    ['GET', 'https://s.example/a/b?c=d#e', [0, {}]],
    ['GET', 'https://s.example/a/c', [1, { id: 'c' }]],
    ['POST', 'https://s.example/a/b', [2, { id: 'b' }]],
    ['GET', 'https://s.example/z/b', [3, { x: 'z' }]],
    ['GET', 'https://s.example/a/', null],
    ['GET', 'https://s.example/a/b/', null],
    ['GET', 'https://s.example/A/B', null],
    ['PUT', 'https://s.example/a/b', null],
    ['GET', 'https://s.example/a/%E0%A4%A', [1, { id: '%E0%A4%A' }]],
    ['GET', 'https://s.example/a/x%2Fy', [1, { id: 'x/y' }]],
    ['GET', 'https://s.example/café', [4, {}]],
    ['GET', 'not an URL', null],
  ])('matchRoute finds the first route of %s %s', (method, url, expected) => expect(found(method, url)).toEqual(expected));
});

describe('checkDiscovery', () => {
  const faultsOf = (over: Partial<Discovery>) => checkDiscovery({ ...shop, ...over }).map(({ path }) => path.join('.'));
  const withRoute = (over: object, from: Route = search) => faultsOf({ routes: [{ ...from, ...over } as Route] });

  it('checkDiscovery accepts every form of a route', () => expect(checkDiscovery(shop)).toEqual([]));

  const refused = [
    'forecast',
    '/a/../b',
    '/a/%2e%2e/b',
    '/a/%252e%252e/b',
    '/a%3A%2F%2Fb',
    '/a b',
    '/a?b',
    '/a/*',
    '/é',
    '/a/%zz',
    '/',
    '/a/%00',
  ];
  it.each(refused)('checkDiscovery refuses the path %s', (path) => expect(withRoute({ path })).toEqual(['routes.0.path']));
  it.each(['/a/./b', '/items:batch', '/:id.json', '/:a/:a', '/:__proto__', '//a', '/:1'])(
    'checkDiscovery refuses the path %s, which readers would take differently',
    (path) => expect(withRoute({ path })).toContain('routes.0.path'),
  );
  it.each(['/a', '/a/', '/a/:city/b', '/a-b_c.d~e/%20'])('checkDiscovery accepts the path %s, as the reference does', (path) => {
    expect(withRoute({ path })).toEqual([]);
    expect(isValidRouteTemplate(path)).toBe(true);
  });

  it.each<[string, object, Route, string]>([
    ['a required example that is missing', { example: undefined }, search, 'routes.0.example.query'],
    ['an example against its schema', { example: { query: { q: 1 } } }, search, 'routes.0.example.query'],
    ['an example against the schema of its body', { example: { body: {} } }, order, 'routes.0.example.body'],
    [
      'an example against the schema of its path',
      { example: { path_params: { country: 'fr', city: 'x' } } },
      forecast,
      'routes.0.example.path_params',
    ],
    [
      'an example without a parameter of its path',
      { example: { path_params: { city: 'paris' } } },
      forecast,
      'routes.0.example.path_params',
    ],
    ['a number in a path', { example: { path_params: { country: 1, city: 'paris' } } }, forecast, 'routes.0.example.path_params.country'],
    ['dots in a path', { example: { path_params: { country: '..', city: 'paris' } } }, forecast, 'routes.0.example.path_params.country'],
    ['a parameter that the path lacks', { path_params: { type: 'object', properties: { day: {} } } }, forecast, 'routes.0.path_params'],
    ['a body of GET', { body: { type: 'object' } }, search, 'routes.0.body'],
    ['a body type of GET', { body_type: 'json' }, search, 'routes.0.body_type'],
    ['an example with a body for GET', { example: { query: { q: 'rain' }, body: {} } }, search, 'routes.0.example.body'],
    ['an invalid schema', { query: { type: 'object', properties: { q: { type: 'x' } } } }, search, 'routes.0.query.properties.q.type'],
    ['an invalid schema of a tool', { input_schema: { type: 'array' } }, tool, 'routes.0.input_schema.type'],
    ['a tool without its example', { example: undefined }, tool, 'routes.0.example'],
    ['a tool with a parameter in its path', { path: '/:a' }, tool, 'routes.0.path'],
    ['a route of 1,281 bytes', { summary: '', output_example: 'é'.repeat(600) }, search, 'routes.0'],
    [
      'an example that nests too deep',
      { output_example: JSON.parse(`${'['.repeat(21)}${']'.repeat(21)}`) },
      search,
      `routes.0.output_example${'.0'.repeat(19)}`,
    ],
    ['a key that no object may have', { output_example: JSON.parse('{"__proto__":1}') }, search, 'routes.0.output_example.__proto__'],
  ])('checkDiscovery refuses %s', (_, over, from, path) => expect(withRoute(over, from)).toContain(path));

  it('checkDiscovery refuses routes that match the same requests', () => {
    expect(faultsOf({ routes: [forecast, { ...forecast, path: '/forecast/:a/:b', path_params: undefined, example: undefined }] })).toEqual([
      'routes.1.path',
    ]);
    expect(faultsOf({ routes: [search, { ...search, path: '/s%65arch' }] })).toEqual(['routes.1.path']);
    expect(faultsOf({ routes: [tool, { ...tool, path: '/other' }] })).toEqual(['routes.1.tool_name']);
    expect(faultsOf({ routes: [search, { ...search, method: 'HEAD' }] as Route[] })).toEqual([]);
  });

  it('checkDiscovery refuses a tag that differs from another only in case', () =>
    expect(faultsOf({ tags: ['weather', 'Weather'] })).toEqual(['tags.1']));

  it.each([
    'http://a.example/i',
    'https://u@a.example/i',
    'https://1.2.3.4/i',
    'https://0x7f000001/i',
    'https://2130706433/i',
    'https://[::1]/i',
    'https://localhost/i',
    'https://localhost./i',
    'https://%6cocalhost/i',
    'data:image/png,a',
    '/i.png',
    `https://a.example/${'a'.repeat(240)}`,
  ])('checkDiscovery refuses the icon %s', (icon) => expect(faultsOf({ icon_url: icon })).toEqual(['icon_url']));
  it.each(['https://a.example/i.png', 'https://münchen.example/i', 'https://a.example:8443/i?b=c'])(
    'isIconUrl accepts %s, as the reference does',
    (icon) => expect([isIconUrl(icon), isValidIconUrl(icon)]).toEqual([true, true]),
  );
});
