import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';
import { bazaarResourceServerExtension, declareDiscoveryExtension } from '@x402/extensions';
import { wrapFetchWithPayment } from '@x402/fetch';
import { paymentMiddleware } from '@x402/hono';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import { Hono } from 'hono';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { NETWORKS } from '#solana/assets.ts';
import { app } from '../../../worker/app.ts';
import { openTill, type Till } from '../../support/clients/facilitator-shop.ts';
import { decoded } from '../../support/people/agent.ts';
import { catalogueOf, ORIGIN, openServers, setOrigins } from '../../support/people/listed-shop.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

const { caip2 } = NETWORKS.devnet;
const DAY = 86_400_000;

describe('catalogue of servers that use the facilitator', () => {
  const w = new World();
  const { list, search } = catalogueOf(w);
  let till: Till;
  beforeAll(async () => {
    till = await openTill(w);
  });
  beforeEach(async () => {
    await w.env.DB.prepare('DELETE FROM listings').run();
    await setOrigins(w, till.merchant, [ORIGIN]);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    letTimeRun();
  });

  const probe = () => w.sweepAlone('listings');
  const entries = async () =>
    (await w.call('GET', '/v1/access/x402/listings', { key: till.merchant.key })).body.items.filter(
      ({ kind }: { kind: string }) => kind === 'facilitator',
    );
  const bazaar = (over: Record<string, unknown> = {}) => ({
    info: { input: { type: 'http', method: 'GET', queryParams: { city: 'Bern' } } },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { input: { type: 'object' } },
      required: ['input'],
    },
    ...over,
  });
  /** Asks with a new payment that echoes a resource and an extension. Returns its response about the extension. */
  const askWith = async (call: 'verify' | 'settle', extension: unknown, url = `${ORIGIN}/weather`) => {
    const body = await till.bodyFor();
    body.paymentPayload.resource = { url };
    body.paymentPayload.extensions = { bazaar: extension };
    const { headers, status } = await till.ask(call, body);
    expect(status).toBe(200);
    const header = headers.get('EXTENSION-RESPONSES');
    return header === null ? null : decoded(header).bazaar;
  };

  it('an unmodified @x402/hono shop is listed after one settled payment and one probe', async () => {
    const headers = { 'X-Svc-Key': till.merchant.key };
    const facilitator = new HTTPFacilitatorClient({
      url: 'https://svc.test/v1/access/x402/facilitator',
      createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: {}, bazaar: {} }),
    });
    const server = new x402ResourceServer(facilitator).register(caip2, new ExactSvmScheme());
    server.registerExtension(bazaarResourceServerExtension);
    const site = new Hono();
    const extensions = declareDiscoveryExtension({
      input: { city: 'Bern' },
      inputSchema: { properties: { city: { type: 'string' } }, required: ['city'] },
      output: { example: { degrees: 7 } },
    });
    const accepts = { scheme: 'exact', network: caip2, price: '$0.01', payTo: till.payTo };
    site.use(
      paymentMiddleware(
        { 'GET /weather': { accepts, description: 'Weather of the Alps', mimeType: 'application/json', extensions } },
        server,
      ),
    );
    site.get('/weather', (c) => c.json({ degrees: 7 }));
    openServers({
      [ORIGIN]: (request) => site.fetch(request),
      'https://svc.test': (request) => app.fetch(request, w.env, { waitUntil: () => {}, passThroughOnException: () => {} } as never),
    });
    const paid = await wrapFetchWithPayment(fetch, till.agent.client)(`${ORIGIN}/weather?city=Bern`);
    expect(paid.status).toBe(200);
    expect(decoded(paid.headers.get('PAYMENT-RESPONSE')!)).not.toHaveProperty('extensionResponses');
    expect((await list()).items).toEqual([]);
    await probe();
    const { items } = await list();
    expect(items).toMatchObject([
      {
        resource: `${ORIGIN}/weather`,
        description: 'Weather of the Alps',
        accepts: [{ payTo: till.payTo, amount: '10000', network: caip2 }],
      },
    ]);
    expect(items[0].extensions.bazaar.info.input).toMatchObject({ method: 'GET', queryParams: { city: 'Bern' } });
    expect((await search('alps')).resources).toEqual(items);
    expect(await entries()).toMatchObject([{ status: 'listed', method: 'GET', last_payment_at: expect.any(String) }]);
  });

  it('verify makes nothing and says what settle would, and only a settled payment makes a resource known', async () => {
    expect(await askWith('verify', bazaar())).toEqual({ status: 'processing' });
    expect(await entries()).toEqual([]);
    expect(await askWith('settle', bazaar())).toEqual({ status: 'processing' });
    expect(await entries()).toMatchObject([{ status: 'pending', resource: `${ORIGIN}/weather` }]);
    expect(await askWith('settle', bazaar())).toEqual({ status: 'processing' });
    expect(await entries()).toHaveLength(1);
    const body = await till.bodyFor();
    expect((await till.ask('verify', body)).headers.has('EXTENSION-RESPONSES')).toBe(false);
  });

  it.each([
    ['invalid_info', bazaar({ info: { input: { type: 'http', method: 'BREW' } } }), undefined],
    ['invalid_info', bazaar({ schema: { type: 'object', properties: { input: { type: 'string' } } } }), undefined],
    ['invalid_info', 'text', undefined],
    ['external_ref', bazaar({ schema: { type: 'object', properties: { input: { $ref: 'https://evil.example/schema' } } } }), undefined],
    ['origin_not_yours', bazaar(), 'https://evil.example/weather'],
    ['origin_not_yours', bazaar(), 'no url'],
  ])('%s is rejected, and calls nobody', async (code, extension, url) => {
    const received = openServers({ 'https://evil.example': () => new Response('seen') });
    expect(await askWith('settle', extension, url)).toEqual({ status: 'rejected', rejectedReason: expect.stringMatching(`^${code}: `) });
    await probe();
    expect([await entries(), received]).toEqual([[], []]);
  });

  it('the merchant’s own answer decides what is shown, without control characters and cut', async () => {
    await askWith('settle', bazaar({ info: { input: { type: 'http', method: 'GET', queryParams: { echoed: 'by a stranger' } } } }));
    const answer = {
      x402Version: 2,
      resource: {
        url: 'https://evil.example/',
        description: `A\u0000B\u202E${'x'.repeat(400)}`,
        serviceName: 'Shop',
        iconUrl: 'http://10.0.0.1/i',
      },
      accepts: [till.requirements()],
      extensions: { bazaar: bazaar({ info: { input: { type: 'http', method: 'GET', queryParams: { city: `Bern\u0007` } } } }) },
    };
    openServers({
      [ORIGIN]: () =>
        new Response(null, { status: 402, headers: { 'PAYMENT-REQUIRED': Buffer.from(JSON.stringify(answer)).toString('base64') } }),
    });
    await probe();
    const [item] = (await list()).items;
    expect(item).toMatchObject({ resource: `${ORIGIN}/weather`, description: `AB${'x'.repeat(198)}`, serviceName: 'Shop' });
    expect(item).not.toHaveProperty('iconUrl');
    expect(item.extensions.bazaar.info.input.queryParams).toEqual({ city: 'Bern' });
    expect(JSON.stringify(item)).not.toMatch(/stranger|evil/);
  });

  it.each([
    ['payee_differs', (asked: object) => ({ accepts: [{ ...asked, payTo: NETWORKS.devnet.usdcMint }], extensions: { bazaar: bazaar() } })],
    ['schema_invalid', (asked: object) => ({ accepts: [asked], extensions: {} })],
  ])('%s is the reason of a foreign or undescribed challenge', async (code, challenge) => {
    await askWith('settle', bazaar());
    const answer = { x402Version: 2, resource: { url: ORIGIN }, ...challenge(till.requirements()) };
    openServers({ [ORIGIN]: () => new Response(null, { status: 402, headers: { 'PAYMENT-REQUIRED': btoa(JSON.stringify(answer)) } }) });
    await probe();
    expect(await entries()).toMatchObject([{ status: 'not_listed', reasons: [{ code }] }]);
  });

  it('a resource ends when it is deleted, loses its origin, or is not paid for a month', async () => {
    const again = () => w.call('POST', '/v1/access/x402/listings/refresh', { key: till.merchant.key });
    await askWith('settle', bazaar());
    const [{ listing_id: id }] = await entries();
    const end = () => w.call('DELETE', `/v1/access/x402/listings/${id}`, { key: till.merchant.key });
    expect((await Promise.all([end(), end(), end()])).map(({ status }) => status).sort()).toEqual([204, 404, 404]);
    const log = await w.call('GET', '/v1/account/audit-log?action=listing.removed', { key: till.merchant.token });
    expect(log.body.items).toMatchObject([{ subject: { type: 'listing', id } }]);
    expect(await entries()).toEqual([]);
    await askWith('settle', bazaar());
    await setOrigins(w, till.merchant, ['https://other.shop.com']);
    setTime(Date.now() + 61_000);
    await probe();
    expect(await entries()).toEqual([]);
    await setOrigins(w, till.merchant, [ORIGIN]);
    await askWith('settle', bazaar());
    setTime(Date.now() + 31 * DAY + 1000);
    await again();
    await probe();
    expect(await entries()).toEqual([]);
  });

  it('the 201st resource is rejected, and none is thrown out for it', async () => {
    await askWith('settle', bazaar());
    await w.env.DB.prepare(
      `INSERT INTO listings (id, merchant_id, call, target, created_at, updated_at)
        SELECT 'filler ' || value, ?, 'GET', 'https://api.shop.com/' || value, 0, 0 FROM json_each(?)`,
    )
      .bind(till.merchant.userId, JSON.stringify(Array.from({ length: 199 }, (_, index) => index)))
      .run();
    const rejected = { status: 'rejected', rejectedReason: expect.stringMatching('^too_many_resources: ') };
    expect(await askWith('verify', bazaar(), `${ORIGIN}/another`)).toEqual(rejected);
    expect(await askWith('settle', bazaar(), `${ORIGIN}/another`)).toEqual(rejected);
    expect(await askWith('settle', bazaar())).toEqual({ status: 'processing' });
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM listings').first('n')).toBe(200);
  });
});
