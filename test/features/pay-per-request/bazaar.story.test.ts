import { beforeAll, describe, expect, it } from 'vitest';
import { buy, openTreasury } from '../../support/people/activation.ts';
import { decoded, newKey, openShop, type Shop } from '../../support/people/agent.ts';
import { Setup } from '../../support/people/bootstrap.ts';
import { World } from '../../support/world.ts';

const ORIGIN = 'https://api.weather.example';
const FORECAST = {
  method: 'GET',
  path: '/forecast/:city',
  summary: 'Forecast of a city',
  path_params: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  example: { path_params: { city: 'paris' } },
  output_example: { celsius: 21 },
};
const ORDER = {
  method: 'POST',
  path: '/orders',
  body: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  example: { body: { city: 'paris' } },
};
const TOOL = { tool_name: 'forecast', summary: 'Forecast tool', input_schema: { type: 'object' } };
const discovery = {
  service_name: 'Weather',
  tags: ['weather'],
  icon_url: 'https://weather.example/icon.png',
  routes: [FORECAST, ORDER, TOOL],
};

describe('bazaar in challenges', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w, { discovery });
    await w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', {
      key: shop.merchant.key,
      body: { origins: [ORIGIN] },
      headers: { 'Idempotency-Key': newKey() },
    });
  });
  /** Asks for a customer without units. */
  const ask = async (resource?: object) =>
    decoded(await shop.challenge({ customer: { customer_ref: crypto.randomUUID() }, ...(resource ? { resource } : {}) }));

  it('consume describes the route that matches the call', async () => {
    const { resource, extensions } = await ask({ url: `${ORIGIN}/forecast/lima?days=3`, method: 'GET' });
    expect(Object.keys(extensions)[0]).toBe('bazaar');
    expect(extensions.bazaar.routeTemplate).toBe('/forecast/:city');
    expect(extensions.bazaar.info).toEqual({
      input: { type: 'http', method: 'GET', pathParams: { city: 'lima' } },
      output: { type: 'json', example: { celsius: 21 } },
    });
    expect(resource).toEqual({
      url: `${ORIGIN}/forecast/lima?days=3`,
      description: 'Forecast of a city',
      mimeType: 'application/json',
      serviceName: 'Weather',
      tags: ['weather'],
      iconUrl: 'https://weather.example/icon.png',
    });
  });

  it('consume describes a call on the origin of the shop, whatever host the request had', async () => {
    const { resource, extensions } = await ask({ url: 'https://evil.example/forecast/lima?q=1', method: 'GET' });
    expect(resource.url).toBe(`${ORIGIN}/forecast/lima`);
    expect(extensions.bazaar.info.input.pathParams).toEqual({ city: 'lima' });
  });

  it('a description that the request has wins over the route', async () => {
    const { resource } = await ask({ url: `${ORIGIN}/orders`, method: 'POST', description: 'Mine', mime_type: 'text/csv' });
    expect(resource).toMatchObject({ description: 'Mine', mimeType: 'text/csv', serviceName: 'Weather' });
  });

  it('consume describes an MCP tool', async () => {
    const { resource, extensions } = await ask({ url: 'mcp://tool/forecast', tool_name: 'forecast' });
    expect(extensions.bazaar.info.input).toMatchObject({ type: 'mcp', toolName: 'forecast', inputSchema: { type: 'object' } });
    expect(resource).toMatchObject({ url: 'mcp://tool/forecast', description: 'Forecast tool', serviceName: 'Weather' });
  });

  it('consume declares the method alone for a route that is not described', async () => {
    const { resource, extensions } = await ask({ url: `${ORIGIN}/other`, method: 'PUT' });
    expect(extensions.bazaar.info).toEqual({ input: { type: 'http', method: 'PUT', bodyType: 'json', body: {} } });
    expect(Object.keys(resource)).toEqual(['description', 'url']);
  });

  it('consume declares nothing without a method', async () => {
    expect((await ask({ url: `${ORIGIN}/forecast/lima` })).extensions.bazaar).toBeUndefined();
    expect((await ask()).extensions.bazaar).toBeUndefined();
  });

  it('a refusal of settle has the same bazaar as the challenge of consume', async () => {
    const resource = { url: `${ORIGIN}/orders`, method: 'POST' };
    const challenge = await ask(resource);
    const payment = await shop.agent.payFor(challenge);
    expect((await shop.settle(payment, { resource })).status).toBe(200);
    const forged = {
      ...challenge,
      accepts: [{ ...challenge.accepts[0], extra: { ...challenge.accepts[0].extra, memo: `svc:${'A'.repeat(38)}` } }],
    };
    const refused = await shop.settle(await shop.agent.payFor(forged), { resource });
    expect(refused.status).toBe(422);
    const again = decoded(refused.headers.get('PAYMENT-REQUIRED')!);
    expect(again.extensions.bazaar).toEqual(challenge.extensions.bazaar);
    expect(again.resource).toEqual(challenge.resource);
  });

  it('a change of the product is described at once', async () => {
    const other = await openShop(w, { discovery });
    const path = `/v1/products/${other.product.product_id}`;
    await w.call('PATCH', path, { key: other.merchant.key, body: { discovery: { routes: [{ ...ORDER, summary: 'New' }] } } });
    const header = await other.challenge({ resource: { url: `${ORIGIN}/orders`, method: 'POST' } });
    expect(decoded(header).resource).toMatchObject({ description: 'New' });
    expect(decoded(header).resource.serviceName).toBeUndefined();
  });

  it('a challenge for hostile texts is paid within 8,192 characters', async () => {
    for (const char of ['\u0001', '"', '€', '😀']) {
      const url = `${ORIGIN}/forecast/${char.repeat(2_000 / char.length)}`.slice(0, 2_048);
      const header = await shop.challenge({
        customer: { customer_ref: crypto.randomUUID() },
        resource: { url, method: 'GET', description: char.repeat(500 / char.length), mime_type: 'a'.repeat(100) },
      });
      expect(header.length).toBeLessThanOrEqual(6_600);
      const payment = await shop.agent.pay(header);
      expect(payment.length).toBeLessThanOrEqual(8_192);
      expect((await shop.settle(payment)).status).toBe(200);
    }
  });

  it('the challenge of a plan is a POST without fields', async () => {
    await openTreasury(w);
    const { headers } = await buy(w, 'starter', { secret: (await Setup.create(w)).secret });
    expect(decoded(headers.get('PAYMENT-REQUIRED')!).extensions.bazaar.info).toEqual({
      input: { type: 'http', method: 'POST', bodyType: 'json', body: {} },
    });
  });
});
