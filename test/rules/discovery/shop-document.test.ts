import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { checkEndpointSchema, discoverOriginSchema } from '@agentcash/discovery';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { validate } from 'mppx/discovery';
import { describe, expect, it } from 'vitest';
import type { HttpRoute } from '../../../worker/protocols/x402/discovery.ts';
import { checkDiscovery } from '../../../worker/protocols/x402/discovery-check.ts';
import { type ShopRoute, shopDocument } from '../../../worker/protocols/x402/shop-document.ts';

const ORIGIN = 'https://api.weather.example';
const json = 'application/json';
const forecast: HttpRoute = {
  method: 'GET',
  path: '/forecast/:country/:city',
  mime_type: json,
  summary: 'Forecast of a city',
  path_params: { type: 'object', properties: { city: { type: 'string', minLength: 2 } } },
  query: {
    type: 'object',
    properties: { days: { $ref: '#/$defs/count' }, unit: { enum: ['c', 'f'] } },
    required: ['days'],
    $defs: { count: { type: 'integer' } },
  },
  example: { path_params: { country: 'fr', city: 'paris' }, query: { days: 3 } },
  output_example: { celsius: 21 },
};
const order: HttpRoute = {
  method: 'POST',
  path: '/orders',
  mime_type: json,
  body_type: 'json',
  body: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  example: { body: { city: 'paris' } },
};
const remove: HttpRoute = { method: 'DELETE', path: '/forecast/:land/:town', mime_type: json };
const upload: HttpRoute = { method: 'PUT', path: '/orders', mime_type: 'text/csv', body_type: 'form-data' };
const head: HttpRoute = { method: 'HEAD', path: '/orders', mime_type: json };

const sold = (route: HttpRoute, over: Partial<ShopRoute> = {}): ShopRoute => ({
  route,
  service: { service_name: 'Weather', tags: ['weather'] },
  productName: 'Weather API',
  price: '0.01',
  ...over,
});
const routes = [
  sold(forecast),
  sold(order, { price: '2', service: { tags: ['weather', 'orders'] } }),
  sold(remove),
  sold(upload),
  sold(head),
  sold({ ...order, summary: 'Another product' }, { price: '9' }),
];
const document = shopDocument(ORIGIN, routes);

describe('shopDocument', () => {
  it('shopDocument describes the service', () => {
    expect(document).toMatchObject({
      openapi: '3.1.0',
      info: { title: 'Weather', version: '1.0.0' },
      servers: [{ url: ORIGIN }],
      'x-service-info': { categories: ['weather', 'orders'], docs: { homepage: `${ORIGIN}/` } },
    });
    expect(shopDocument(ORIGIN, [sold(order, { service: {} })]).info.title).toBe('api.weather.example');
  });

  it('shopDocument describes parameters, bodies and prices', () => {
    expect(Object.keys(document.paths)).toEqual(['/forecast/{country}/{city}', '/orders']);
    const { get, delete: gone } = document.paths['/forecast/{country}/{city}']!;
    const { parameters, ...rest } = get!;
    expect(rest).toEqual({
      summary: 'Forecast of a city',
      security: [],
      'x-payment-info': { price: { mode: 'fixed', currency: 'USD', amount: '0.01' }, protocols: [{ x402: {} }] },
      responses: {
        200: { description: 'OK', content: { [json]: { schema: {}, example: { celsius: 21 } } } },
        402: { description: 'Payment Required' },
      },
    });
    expect(parameters).toEqual([
      { name: 'country', in: 'path', required: true, schema: { type: 'string' }, example: 'fr' },
      { name: 'city', in: 'path', required: true, schema: { type: 'string', minLength: 2 }, example: 'paris' },
      { name: 'days', in: 'query', required: true, schema: { $ref: '#/components/schemas/get_0_query/properties/days' }, example: 3 },
      { name: 'unit', in: 'query', schema: { $ref: '#/components/schemas/get_0_query/properties/unit' } },
    ]);
    expect(document.components?.schemas.get_0_query).toMatchObject({
      properties: { days: { $ref: '#/components/schemas/get_0_query/$defs/count' } },
    });
    // The other method of the path takes its names of parameters.
    expect((gone!.parameters as { name: string }[]).map(({ name }) => name)).toEqual(['country', 'city']);
    expect(document.paths['/orders']!.post).toMatchObject({
      summary: 'Weather API',
      'x-payment-info': { price: { amount: '2' } },
      requestBody: { required: true, content: { [json]: { schema: order.body, example: { city: 'paris' } } } },
    });
    expect(document.paths['/orders']!.put).toMatchObject({
      requestBody: { content: { 'multipart/form-data': { schema: { type: 'object' } } } },
    });
    expect(document.paths['/orders']!.head!.requestBody).toBeUndefined();
  });

  it('shopDocument is the same for the same routes', () => expect(shopDocument(ORIGIN, routes)).toEqual(document));

  it('its routes are valid', () =>
    expect(checkDiscovery({ listed: true, routes: [forecast, order, remove, upload, head] }).map(({ path }) => path)).toEqual([]));

  it('mppx finds nothing to report', () => expect(validate(document)).toEqual([]));

  it('redocly finds no error of the OpenAPI specification', async () => {
    const config = await createConfig({ extends: ['spec'] });
    const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: '/openapi.json', config });
    expect(problems.filter(({ severity }) => severity === 'error').map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  }, 60_000);

  it('agentcash discovers each route with its price and protocol', async () => {
    const server = createServer((request, response) => {
      if (request.url !== '/openapi.json') return response.writeHead(404).end();
      return response.setHeader('content-type', json).end(JSON.stringify(shopDocument(origin, routes)));
    });
    await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const found = await discoverOriginSchema({ target: origin });
    const detail = await checkEndpointSchema({ url: `${origin}/orders`, probe: false });
    server.close();
    if (!found.found || !detail.found) throw new Error('agentcash found nothing');
    expect(found.info?.title).toBe('Weather');
    const shown = found.endpoints.map(({ method, path, authMode, price, protocols }) => [method, path, authMode, price, protocols]);
    expect(shown.toSorted()).toEqual(
      [
        ['DELETE', '/forecast/{country}/{city}', 'paid', '0.01 USD', ['x402']],
        ['GET', '/forecast/{country}/{city}', 'paid', '0.01 USD', ['x402']],
        ['HEAD', '/orders', 'paid', '0.01 USD', ['x402']],
        ['POST', '/orders', 'paid', '2 USD', ['x402']],
        ['PUT', '/orders', 'paid', '0.01 USD', ['x402']],
      ].toSorted(),
    );
  }, 60_000);
});
