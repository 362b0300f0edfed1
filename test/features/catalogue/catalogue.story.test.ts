import { HTTPFacilitatorClient } from '@x402/core/http';
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec, withBazaar } from '@x402/extensions';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { feePayerOf, openShop, type Shop } from '../../support/people/agent.ts';
import {
  catalogueOf,
  DISCOVERY,
  describeProduct,
  FORECAST,
  ORIGIN,
  openListedShop,
  openServers,
  protectedBy,
  setOrigins,
} from '../../support/people/listed-shop.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const HOUR = 3_600_000;

describe('public catalogue', () => {
  const w = new World();
  const { list, search } = catalogueOf(w);
  const probe = () => w.sweepAlone('listings');
  const listEntries = async ({ merchant, product }: Shop) =>
    (await w.call('GET', `/v1/access/x402/listings?product_id=${product.product_id}`, { key: merchant.key })).body.items;
  const refresh = ({ merchant }: Shop) => w.call('POST', '/v1/access/x402/listings/refresh', { key: merchant.key });

  beforeEach(async () => {
    await w.env.DB.prepare('DELETE FROM listings').run();
  });
  afterEach(() => {
    vi.restoreAllMocks();
    letTimeRun();
  });

  it('a described route is pending until the service has seen its 402, then public clients list and find it', async () => {
    const shop = await openListedShop(w);
    const [entry] = await listEntries(shop);
    expect(entry).toMatchObject({
      kind: 'product',
      product_id: shop.product.product_id,
      resource: `${ORIGIN}/forecast/:city`,
      method: 'GET',
      status: 'pending',
      reasons: [{ code: 'look_pending', fix: null }],
    });
    expect((await list()).items).toEqual([]);
    const received = openServers({ [ORIGIN]: protectedBy(shop) });
    await probe();
    expect(received.map(({ method, url }) => [method, url])).toEqual([['GET', `${ORIGIN}/forecast/Bern?days=3`]]);
    expect(received[0]!.headers.get('user-agent')).toBe('svc-catalogue/1');
    expect((await listEntries(shop))[0]).toMatchObject({ status: 'listed', reasons: [], listed_until: expect.any(String) });

    openServers({
      'https://svc.test': async ({ url }) => Response.json((await w.call('GET', url.slice('https://svc.test'.length))).body),
    });
    const client = withBazaar(new HTTPFacilitatorClient({ url: 'https://svc.test/v1/access/x402/facilitator' }));
    const page = await client.extensions.bazaar.listResources({ limit: 5 });
    const found = await client.extensions.bazaar.search({ query: 'ALPS weath' });
    expect(page.pagination).toEqual({ limit: 5, offset: 0, total: 1 });
    expect(found.resources).toEqual(page.items);
    const [item] = page.items;
    expect(item).toMatchObject({
      resource: `${ORIGIN}/forecast/:city`,
      type: 'http',
      x402Version: 2,
      description: FORECAST.summary,
      mimeType: 'application/json',
      serviceName: DISCOVERY.service_name,
      tags: DISCOVERY.tags,
      accepts: [{ scheme: 'exact', amount: '10000', payTo: shop.merchant.wallet.address, extra: { feePayer: feePayerOf(w) } }],
    });
    expect(item!.accepts[0]!.extra).not.toHaveProperty('memo');
    const bazaar = item!.extensions!.bazaar as never;
    expect([validateDiscoveryExtension(bazaar), validateDiscoveryExtensionSpec(bazaar)]).toEqual([{ valid: true }, { valid: true }]);
  });

  it('the catalogue shows the price and payee of now', async () => {
    const shop = await openListedShop(w);
    openServers({ [ORIGIN]: protectedBy(shop) });
    await probe();
    await w.call('PATCH', `/v1/products/${shop.product.product_id}`, {
      key: shop.merchant.key,
      body: { price: { asset: 'USDC', amount: '0.02' } },
    });
    expect((await list()).items[0].accepts[0].amount).toBe('20000');
    expect((await list(`?payTo=${shop.merchant.wallet.address}`)).items).toHaveLength(1);
    expect((await list(`?payTo=${feePayerOf(w)}`)).items).toEqual([]);
  });

  it('a shop has a document of its listed routes, and an unknown origin has none', async () => {
    const document = (origin: string) => w.call('GET', `/v1/access/x402/openapi?origin=${encodeURIComponent(origin)}`);
    const shop = await openListedShop(w);
    expect((await document(ORIGIN)).status).toBe(404);
    openServers({ [ORIGIN]: protectedBy(shop) });
    await probe();
    const { status, body } = await document(ORIGIN);
    expect([status, body.openapi, Object.keys(body.paths)]).toEqual([200, '3.1.0', ['/forecast/{city}']]);
    expect(body.paths['/forecast/{city}'].get['x-payment-info']).toEqual({
      price: { mode: 'fixed', currency: 'USD', amount: '0.01' },
      protocols: [{ x402: {} }],
    });
    for (const origin of ['https://other.shop.com', `${ORIGIN}/`, 'nonsense']) expect((await document(origin)).status).toBe(404);
  });

  it.each([
    [
      'the product is archived',
      (shop: Shop) => w.call('POST', `/v1/products/${shop.product.product_id}/archive`, { key: shop.merchant.key }),
    ],
    ['it is not to be listed', (shop: Shop) => describeProduct(w, shop, { ...DISCOVERY, listed: false })],
    ['its description is removed', (shop: Shop) => describeProduct(w, shop, null)],
    ['its route is removed', (shop: Shop) => describeProduct(w, shop, { ...DISCOVERY, routes: [{ ...FORECAST, path: '/other/:city' }] })],
    ['its origin is removed', (shop: Shop) => setOrigins(w, shop.merchant, ['https://other.shop.com'])],
    [
      'the rail is disabled',
      (shop: Shop) =>
        w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', {
          key: shop.merchant.key,
          body: { enabled: false },
          headers: { 'Idempotency-Key': crypto.randomUUID() },
        }),
    ],
    ['the account is deleted', (shop: Shop) => w.call('DELETE', '/v1/account/account', { key: shop.merchant.token })],
  ])('a listing ends at once when %s', async (_, end) => {
    const shop = await openListedShop(w);
    openServers({ [ORIGIN]: protectedBy(shop) });
    await probe();
    expect((await list()).items).toHaveLength(1);
    expect((await end(shop)).status).toBeLessThan(300);
    expect((await list()).items).toEqual([]);
    expect((await search('weather')).resources).toEqual([]);
  });

  const execute = (sql: string, ...values: unknown[]) =>
    testEnv.DB.prepare(sql)
      .bind(...values)
      .run();
  const setStatus = ({ merchant }: Shop, status: string) => execute('UPDATE accounts SET status = ? WHERE id = ?', status, merchant.userId);
  const archive = ({ merchant, product }: Shop, verb: string) =>
    w.call('POST', `/v1/products/${product.product_id}/${verb}`, { key: merchant.key });
  const switchRail = ({ merchant }: Shop, enabled: boolean) =>
    w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', {
      key: merchant.key,
      body: { enabled },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    });
  const subjectOf = ({ product }: Shop) => `product:${product.product_id}`;
  const ENDS: [string, (shop: Shop) => Promise<unknown>, (shop: Shop) => Promise<unknown>][] = [
    ['a suspended account', (shop) => setStatus(shop, 'suspended'), (shop) => setStatus(shop, 'active')],
    [
      'a product that the operator switched off',
      (shop) => execute('INSERT INTO switched_off VALUES (?, 0)', subjectOf(shop)),
      (shop) => execute('DELETE FROM switched_off WHERE subject = ?', subjectOf(shop)),
    ],
    ['a disabled rail', (shop) => switchRail(shop, false), (shop) => switchRail(shop, true)],
    ['an archived product', (shop) => archive(shop, 'archive'), (shop) => archive(shop, 'unarchive')],
    [
      'a price in another asset',
      ({ product }) => execute("UPDATE products SET asset = 'SOL' WHERE id = ?", product.product_id),
      ({ product }) => execute("UPDATE products SET asset = 'USDC' WHERE id = ?", product.product_id),
    ],
  ];

  it.each(ENDS)('%s lists nothing, also after another probe, and is listed again once that ends', async (_, end, begin) => {
    const shop = await openListedShop(w);
    const challenge = await shop.challenge({ customer: { customer_ref: 'a stranger' }, resource: { url: `${ORIGIN}/forecast/Bern` } });
    // The shop repeats its challenge, whatever the service says.
    openServers({ [ORIGIN]: () => new Response(null, { status: 402, headers: { 'PAYMENT-REQUIRED': challenge } }) });
    await probe();
    expect((await list()).items).toHaveLength(1);
    await end(shop);
    expect((await list()).items).toEqual([]);
    await refresh(shop);
    if (_ !== 'a price in another asset') {
      await w.env.DB.prepare('UPDATE listings SET next_probe_at = 0 WHERE next_probe_at IS NOT NULL').run();
      await probe();
      expect((await list()).items).toEqual([]);
    }
    await begin(shop);
    await w.env.DB.prepare('UPDATE listings SET next_probe_at = 0 WHERE next_probe_at IS NOT NULL').run();
    await probe();
    expect((await list()).items).toHaveLength(1);
  });

  it.each(ENDS)('%s is not listed by a probe that began before', async (_, end) => {
    const shop = await openListedShop(w);
    const answer = protectedBy(shop);
    openServers({
      [ORIGIN]: async (request) => {
        const response = await answer(request);
        await end(shop);
        return response;
      },
    });
    await probe();
    expect((await list()).items).toEqual([]);
    expect((await search('weather')).resources).toEqual([]);
  });

  it('many due listings of one merchant delay no other merchant', async () => {
    const [shop, many] = [await openListedShop(w), await openListedShop(w, {}, ['https://crowd.shop.com'])];
    await execute(
      `INSERT INTO listings (id, merchant_id, product_id, call, target, next_probe_at, created_at, updated_at)
        SELECT 'crowd ' || j.value, l.merchant_id, l.product_id, 'GET', '/' || j.value, -1, 0, 0 FROM listings l, json_each(?) j WHERE l.product_id = ?`,
      JSON.stringify(Array.from({ length: 100 }, (_, index) => index)),
      many.product.product_id,
    );
    openServers({ [ORIGIN]: protectedBy(shop), 'https://crowd.shop.com': () => new Response(null, { status: 500 }) });
    await probe();
    expect((await list()).items).toMatchObject([{ resource: `${ORIGIN}/forecast/:city` }]);
  });

  it('another challenge ends a listing at once, and a bad answer after 72 hours', async () => {
    const [shop, stranger] = [await openListedShop(w), await openShop(w)];
    const answers = { answer: protectedBy(shop) };
    openServers({ [ORIGIN]: (request) => answers.answer(request) });
    await probe();
    answers.answer = () => new Response('down', { status: 500 });
    await refresh(shop);
    await probe();
    expect((await listEntries(shop))[0]).toMatchObject({ status: 'listed', reasons: [{ code: 'status_not_402' }] });
    const seenAt = Date.parse((await listEntries(shop))[0].listed_until) - 72 * HOUR;
    setTime(seenAt + 72 * HOUR - 1000);
    expect((await list()).items).toHaveLength(1);
    setTime(seenAt + 72 * HOUR);
    expect((await list()).items).toEqual([]);
    letTimeRun();
    answers.answer = protectedBy(stranger);
    await refresh(shop);
    await probe();
    expect((await listEntries(shop))[0]).toMatchObject({ status: 'not_listed', reasons: [{ code: 'challenge_not_yours' }] });
    expect((await list()).items).toEqual([]);
  });

  it.each([
    ['redirected', () => new Response(null, { status: 302, headers: { Location: 'https://evil.example' } })],
    ['status_not_402', () => new Response('{}', { status: 200 })],
    ['challenge_unreadable', () => new Response(null, { status: 402 })],
    ['challenge_unreadable', () => new Response(null, { status: 402, headers: { 'PAYMENT-REQUIRED': 'e30=' } })],
    ['unreachable', () => Promise.reject(new TypeError('refused'))],
  ])('%s is the reason of an answer without a challenge', async (code, answer) => {
    const shop = await openListedShop(w);
    const received = openServers({ [ORIGIN]: answer });
    await probe();
    expect(received).toHaveLength(1);
    const [entry] = await listEntries(shop);
    expect(entry).toMatchObject({ status: 'not_listed', looked_at: expect.any(String), reasons: [{ code, fix: { method: 'POST' } }] });
    expect((await list()).items).toEqual([]);
  });

  it('each obstacle is named with its fix, and readiness shows the first without blocking', async () => {
    const shop = await openListedShop(w, {}, []);
    const reasons = async (who = shop) =>
      (await listEntries(who)).flatMap((entry: { reasons: { code: string }[] }) => entry.reasons.map(({ code }) => code));
    await probe();
    expect(await reasons()).toEqual(['no_origin']);
    const readiness = async () => {
      const { body } = await w.call('GET', `/v1/access/setup/readiness?product_id=${shop.product.product_id}`, { key: shop.merchant.key });
      return [body.ready, body.checks.find(({ code }: { code: string }) => code === 'listed')];
    };
    expect(await readiness()).toMatchObject([true, { status: 'warn', fix: { method: 'PUT', body: { origins: [expect.any(String)] } } }]);
    await setOrigins(w, shop.merchant, [ORIGIN]);
    expect(await reasons()).toEqual(['look_pending']);
    await describeProduct(w, shop, { ...DISCOVERY, routes: [] });
    expect(await reasons()).toEqual(['no_route']);
    await describeProduct(w, shop, { ...DISCOVERY, routes: [{ method: 'GET', path: '/:city' }] });
    await probe();
    expect(await reasons()).toEqual(['example_missing']);
    await describeProduct(w, shop, { listed: true, routes: [{ tool_name: 'weather', path: '/mcp', input_schema: { type: 'object' } }] });
    expect(await reasons()).toEqual(['mcp_not_looked_at']);
    await w.call('PATCH', `/v1/products/${shop.product.product_id}`, { key: shop.merchant.key, body: { live_mode_confirmed: false } });
    expect(await reasons()).toEqual(['not_ready', 'mcp_not_looked_at']);
    await w.call('POST', `/v1/products/${shop.product.product_id}/archive`, { key: shop.merchant.key });
    expect(await reasons()).toEqual(['product_archived']);
    await describeProduct(w, shop, null);
    expect(await reasons()).toEqual(['not_opted_in']);
    expect(await readiness()).toMatchObject([expect.any(Boolean), { status: 'skip' }]);
    expect((await w.call('GET', '/v1/access/x402/listings', { key: shop.merchant.sandboxKey })).body.items).toEqual([]);
  });

  it('a listing belongs to its merchant, and one of a product is not deleted', async () => {
    const [shop, stranger] = [await openListedShop(w), await w.merchant()];
    const [{ listing_id: id }] = await listEntries(shop);
    const remove = (key: string) => w.call('DELETE', `/v1/access/x402/listings/${id}`, { key });
    expect((await w.call('GET', '/v1/access/x402/listings', { key: stranger.key })).body.items).toEqual([]);
    expect([(await remove(stranger.key)).status, (await remove(shop.merchant.sandboxKey)).status]).toEqual([404, 404]);
    expect(await remove(shop.merchant.key)).toMatchObject({ status: 409, body: { code: 'state_conflict' } });
  });

  it('a merchant refreshes ten times an hour', async () => {
    const shop = await openListedShop(w);
    for (let count = 0; count < 10; count++) expect(await refresh(shop)).toMatchObject({ status: 202, body: { scheduled: 1 } });
    expect(await refresh(shop)).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  });

  it('parameters out of range and unknown cursors are refused, and filters that match nothing give an empty page', async () => {
    for (const query of ['?limit=0', '?limit=101', '?limit=x', '?offset=10001', '?offset=-1'])
      expect([query, (await w.call('GET', `/v1/access/x402/facilitator/discovery/resources${query}`)).status]).toEqual([query, 422]);
    for (const query of ['', '?query=', '?query=a&limit=51', `?query=${'a'.repeat(201)}`, '?query=a&cursor=x', '?query=a&cursor=MS4w'])
      expect([query, (await w.call('GET', `/v1/access/x402/facilitator/discovery/search${query}`)).status]).toEqual([query, 422]);
    for (const query of ['?type=mcp', '?scheme=upto', '?network=eip155:1', '?extensions=none', '?payTo=nobody'])
      expect(await list(query)).toMatchObject({ items: [], pagination: { total: 0 } });
    expect(await search('%_"*')).toMatchObject({ resources: [], pagination: { cursor: null } });
  });
});
