import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { judgeReading, sweepDomains } from '#features/accounts/domain/domain.ts';
import type { SellerDomain } from '#platform/db/tables/office/domains.ts';
import { getPage } from '../../support/clients/page.ts';
import { inEach } from '../../support/runner/shards.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;

describe('seller domain', () => {
  const w = new World();
  let ada: Merchant;
  let asked: string[];
  let shown: () => Promise<Response>;

  beforeEach(async () => {
    ada = await w.merchant();
    asked = [];
    shown = async () => new Response('nothing', { status: 404 });
    const network = globalThis.fetch;
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (!String(input).startsWith('https://shop.com/')) return network(input, init);
      asked.push(String(input));
      expect(init?.redirect).toBe('manual');
      return shown();
    });
  });
  afterEach(() => vi.restoreAllMocks());

  const put = (domain: string, key = ada.token) => w.call('PUT', '/v1/account/domain', { key, body: { domain } });
  const read = async (key = ada.key) => (await w.call('GET', '/v1/account/domain', { key })).body;
  const rest = () => w.env.DB.prepare('UPDATE seller_domains SET checked_at = 0 WHERE merchant_id = ?').bind(ada.userId).run();
  const prove = (token: string, accountId: string = ada.userId) => {
    shown = async () => Response.json({ account_id: accountId, token });
  };
  const sweep = (now: number) => inEach(w.env, sweepDomains, { now });
  async function verify(): Promise<string> {
    const { body } = await put('shop.com');
    prove(body.token);
    await rest();
    expect((await put('shop.com')).body).toMatchObject({ status: 'verified', token: body.token });
    return body.token;
  }

  it('a domain is pending until its file holds account and token, and the next check verifies it', async () => {
    expect((await w.call('GET', '/v1/account/domain', { key: ada.key })).status).toBe(404);
    const { status, body } = await put('Shop.com');
    const controller_record = { type: 'TXT', name: '_controllers.shop.com', value: 'v=1;controller=did:web:svc.test' };
    const { token, checked_at } = body;
    expect([status, body]).toEqual([200, { domain: 'shop.com', status: 'pending', token, checked_at, controller_record }]);
    expect(asked).toEqual(['https://shop.com/.well-known/svc-merchant.json']);
    expect((await put('shop.com')).body.code).toBe('rate_limited');
    await rest();
    prove(body.token, crypto.randomUUID());
    expect((await put('shop.com')).body.status).toBe('pending');
    prove(body.token);
    await rest();
    expect((await put('shop.com')).body.status).toBe('verified');
    expect(await read()).toMatchObject({ domain: 'shop.com', status: 'verified' });
  });

  it('a repeat under the same Idempotency-Key gets the first answer without another check', async () => {
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const name = () => w.call('PUT', '/v1/account/domain', { key: ada.token, body: { domain: 'shop.com' }, headers });
    const [first, again] = [await name(), await name()];
    expect([again.status, again.body, again.headers.get('Idempotent-Replayed')]).toEqual([200, first.body, 'true']);
    expect(asked).toHaveLength(1);
  });

  it('the product page and the receipt page show the domain only while it is verified', async () => {
    const product = await w.product(ada);
    const { confirmed } = await w.purchase(product, await w.chain.wallet());
    const pages = async () => {
      const paths = [`/p/${product.slug}`, `/r/${confirmed.receipt_id}`];
      return Promise.all(
        paths.map(
          async (path) =>
            (await getPage(w, path)).html.includes('<dd>shop.com</dd>') || (await getPage(w, path)).html.includes('<bdi>shop.com</bdi>'),
        ),
      );
    };
    await put('shop.com');
    expect(await pages()).toEqual([false, false]);
    await rest();
    await verify();
    expect(await pages()).toEqual([true, true]);
    shown = async () => new Response('{}', { status: 200 });
    await sweep(Date.now() + DAY + 60_000);
    expect((await read()).status).toBe('failed');
    expect(await pages()).toEqual([false, false]);
    prove((await read()).token);
    await sweep(Date.now() + 3 * DAY);
    expect((await read()).status).toBe('verified');
    expect((await w.call('DELETE', '/v1/account/domain', { key: ada.token })).status).toBe(204);
    expect(await pages()).toEqual([false, false]);
  });

  it('one sweep checks a domain once a day, and a short outage of its server does not unverify it', async () => {
    await verify();
    asked.length = 0;
    await sweep(Date.now());
    expect(asked).toEqual([]);
    shown = async () => Promise.reject(new Error('away'));
    const later = Date.now() + DAY + 60_000;
    await Promise.all([sweep(later), sweep(later)]);
    expect([asked.length, (await read()).status]).toEqual([1, 'verified']);
    await sweep(later + 4 * DAY);
    expect((await read()).status).toBe('failed');
  });

  it('a domain needs a signed-in person and a public name, and is deleted with the account', async () => {
    expect((await put('shop.com', ada.key)).status).toBe(403);
    for (const wrong of [
      'localhost',
      '127.0.0.1',
      'https://shop.com',
      'shop.com/x',
      'shop.com:8443',
      'svc.test',
      'a b.com',
      'host.internal',
    ])
      expect([wrong, (await put(wrong)).status]).toEqual([wrong, 422]);
    expect(asked).toEqual([]);
    await verify();
    await w.call('DELETE', '/v1/account/account', { key: ada.token });
    const rows = w.env.DB.prepare('SELECT domain FROM seller_domains WHERE merchant_id = ?').bind(ada.userId);
    expect((await rows.all()).results).toEqual([]);
  });

  it('another domain replaces the first with a token of its own and status pending', async () => {
    const token = await verify();
    await rest();
    const { body } = await put('other.com');
    expect(body).toMatchObject({ domain: 'other.com', status: 'pending' });
    expect(body.token).not.toBe(token);
  });

  it.each([
    ['pending', 'differs', 'pending'],
    ['pending', 'silent', 'pending'],
    ['failed', 'silent', 'failed'],
    ['failed', 'holds', 'verified'],
    ['verified', 'silent', 'verified'],
    ['verified', 'differs', 'failed'],
  ] as const)('a %s domain with check result %s becomes %s', (status, seen, after) => {
    const now = Date.now();
    expect(judgeReading({ status, verifiedAt: now - DAY } as SellerDomain, seen, now).status).toBe(after);
  });
});
