import { gzipSync } from 'node:zlib';
import type { KeyPairSigner } from '@solana/kit';
import { beforeEach, describe, expect, it } from 'vitest';
import { LOCALE_NAMES } from '#core/locales.ts';
import { HOUR, MINUTE } from '#core/time.ts';
import { loadMeTexts } from '../../../worker/pages/locales/dictionaries.ts';
import { signText } from '../../support/chain/wallet.ts';
import { PageBrowser, signInToPages } from '../../support/clients/page-browser.ts';
import { forgedToken } from '../../support/fuzz/values.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { MailWorld } from '../../support/servers/mail.ts';
import type { Body, Merchant } from '../../support/world.ts';

const COOKIE = '__Host-svc_buyer';
let w: MailWorld;
let ada: Merchant;
let weather: Body;
let grace: KeyPairSigner;
let browser: PageBrowser;
/** Addresses that no other test uses, because links are counted by address. */
let people = 0;
const address = (): string => `reader-${++people}@example.com`;

beforeEach(async () => {
  w = new MailWorld();
  ada = await w.merchant();
  weather = await w.product(ada, { name: 'Weather', access_period_days: 30 });
  grace = await w.chain.wallet();
  browser = new PageBrowser(w);
});

const fold = () => w.sweepAlone('analytics');
const signProof = async (wallet: KeyPairSigner): Promise<Record<string, string>> => {
  const { body } = await w.call('POST', '/v1/buyer/wallet/nonce', { body: { wallet_address: wallet.address } });
  return { wallet_address: wallet.address, signed_message: await signText(wallet, body.message), message_nonce: body.message_nonce };
};
async function signIn(wallet: KeyPairSigner): Promise<PageBrowser> {
  const signedIn = new PageBrowser(w);
  expect((await signedIn.post('/me/wallet', await signProof(wallet))).location).toBe('/me');
  return signedIn;
}
/** Path of a new portal link. */
const portalPath = async (body: object, key = ada.key): Promise<string> => {
  const made = await w.call('POST', '/v1/customers/portal-sessions', { key, body, headers: { 'Idempotency-Key': crypto.randomUUID() } });
  const { pathname, search } = new URL(made.body.url);
  return pathname + search;
};
/** Path of the link in the newest email. */
async function emailedPath(email: string): Promise<string> {
  expect((await browser.post('/me/email', { email })).location).toBe('/me?why=linkSent');
  for (const message of w.mail.splice(0)) await w.post([message]);
  const [token] = (await w.posted()).taken.flatMap(({ body }) => /me\/link\?token=([\w.-]+)/.exec(body.text)?.[1] ?? []).slice(-1);
  return `/me/link?token=${token}`;
}
const tokenIn = (path: string): string => new URL(path, 'https://svc.test').searchParams.get('token')!;
/** A purchase at which the buyer gave an address. */
async function emailedPurchase(): Promise<string> {
  const email = address();
  await w.purchase(weather, grace, { email });
  await fold();
  return email;
}
const findMembership = async (signedIn: PageBrowser): Promise<string> =>
  (await w.call('GET', '/v1/buyer/access', { key: signedIn.cookies.get(COOKIE)! })).body.items[0].membership_id;

describe('sign-in with a wallet at /me', () => {
  it('a signed message sets a cookie that is HttpOnly, Secure and of this host, and leads to the purchases', async () => {
    await w.purchase(weather, grace);
    await fold();
    const { status, location, response, text } = await browser.post('/me/wallet', await signProof(grace));
    expect([status, location, text]).toEqual([303, '/me', '']);
    expect(response.headers.getSetCookie()[0]).toMatch(
      /^__Host-svc_buyer=[\w.-]+; Max-Age=8\d{4}; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
    const shown = await browser.get('/me');
    expect(shown.status).toBe(200);
    expect(shown.text).toContain('Weather');
    expect(shown.text).not.toContain(browser.cookies.get(COOKIE)!);
  });

  it('the page is never stored, indexed or framed, sends no referrer, and its forms go to this site', async () => {
    for (const { response, text } of [
      await browser.get('/me'),
      await (await signIn(grace)).get('/me'),
      await browser.get('/me/link?token=x'),
    ]) {
      expect(response.headers.get('Cache-Control')).toBe('no-store');
      expect(response.headers.get('Referrer-Policy')).toBe('no-referrer');
      expect(response.headers.get('Content-Security-Policy')).toMatch(/form-action 'self'; frame-ancestors 'none'/);
      expect(text).toContain('<meta name="robots" content="noindex"/>');
    }
  });

  it('a used message is refused with 401 and an alert, and sets no cookie', async () => {
    const proof = await signProof(grace);
    await new PageBrowser(w).post('/me/wallet', proof);
    const { status, text } = await browser.post('/me/wallet', proof);
    expect([status, browser.cookies.size]).toEqual([401, 0]);
    expect(text).toContain('role="alert"');
  });

  it('the API ignores the cookie', async () => {
    const signedIn = await signIn(grace);
    expect((await signedIn.get('/v1/buyer')).status).toBe(401);
    expect((await signedIn.get('/v1/buyer/purchases')).status).toBe(401);
  });

  it('a merchant’s token opens no purchases, and a buyer’s opens no dashboard', async () => {
    const merchant = await signInToPages(w, ada.email);
    browser.cookies.set(COOKIE, merchant.cookies.get('__Host-svc_session')!);
    const { text } = await browser.get('/me');
    expect(text).toContain('Your session has ended');
    expect(browser.cookies.has(COOKIE)).toBe(false);
    expect((await merchant.get('/me')).text).toContain('With the wallet that paid');
    const buyer = await signIn(grace);
    expect((await buyer.get('/dashboard/team')).location).toMatch(/^\/login/);
    buyer.cookies.set('__Host-svc_session', buyer.cookies.get(COOKIE)!);
    expect((await buyer.get('/dashboard/team')).location).toMatch(/^\/login/);
  });
});

describe('forms of /me from elsewhere', () => {
  const STRANGE = [{ Origin: 'https://evil.example' }, { Origin: '' }, { Origin: 'null' }];

  it('a form from another site, or from nowhere, gets a 403 page and has no effect', async () => {
    const email = await emailedPurchase();
    const path = await emailedPath(email);
    const signedIn = await signIn(grace);
    const proof = await signProof(grace);
    const forms: [string, Record<string, string>][] = [
      ['/me/wallet', proof],
      ['/me/email', { email }],
      ['/me/link', { token: tokenIn(path) }],
      ['/me/deliver', { membership_id: await findMembership(signedIn) }],
      ['/me/sign-out', {}],
    ];
    for (const [action, form] of forms)
      for (const headers of STRANGE) {
        const { status, text, response } = await signedIn.post(action, form, headers);
        expect([action, status, response.headers.getSetCookie()]).toEqual([action, 403, []]);
        expect(text).toContain('was not sent by a page of this site');
      }
    expect(w.mail).toEqual([]);
    expect((await signedIn.get('/me')).text).toContain('Weather');
    for (const [action, form] of [forms[0]!, forms[2]!]) expect((await browser.post(action, form)).location).toBe('/me');
  });
});

describe('emailed link of a buyer', () => {
  it('opening it shows a button and uses nothing up, its button signs in once, and afterwards it is a 410 page', async () => {
    const path = await emailedPath(await emailedPurchase());
    for (let opened = 0; opened < 2; opened++) {
      const { status, text } = await browser.get(path);
      expect([status, browser.cookies.size]).toEqual([200, 0]);
      expect(text).toContain('See my purchases');
    }
    const { status, location } = await browser.post('/me/link', { token: tokenIn(path) });
    expect([status, location]).toEqual([303, '/me']);
    expect((await browser.get('/me')).text).toContain('Weather');
    const again = new PageBrowser(w);
    const used = await again.post('/me/link', { token: tokenIn(path) });
    expect([used.status, again.cookies.size]).toEqual([410, 0]);
    expect(used.text).toContain('This link no longer works');
  });

  it('after 30 minutes it is a 410 page, and a forged one a 404 page', async () => {
    const token = tokenIn(await emailedPath(await emailedPurchase()));
    for (const forged of [forgedToken(token), '', 'x'.repeat(9000)])
      expect([404, 422]).toContain((await browser.post('/me/link', { token: forged })).status);
    setTime(Date.now() + 31 * MINUTE);
    const late = await browser.post('/me/link', { token });
    letTimeRun();
    expect([late.status, browser.cookies.size]).toEqual([410, 0]);
  });

  it('an address that no purchase names gets the same answer and no email, and no address is shown as a token', async () => {
    const { status, location } = await browser.post('/me/email', { email: 'nobody@example.com' });
    expect([status, location]).toEqual([303, '/me?why=linkSent']);
    const refused = await browser.post('/me/email', { email: 'no"<b>address' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('value="no&quot;&lt;b&gt;address"');
  });
});

describe('portal link', () => {
  const customer = { customer_ref: 'user-1' };

  it('it signs in as often as needed for ten minutes, afterwards it is a 410 page, and a forged one a 404 page', async () => {
    await w.purchase(weather, grace, customer);
    const path = await portalPath({ customer, return_url: 'https://svc.test/docs' });
    for (let opened = 0; opened < 2; opened++) {
      const fresh = new PageBrowser(w);
      expect(await fresh.get(path)).toMatchObject({ status: 303, location: '/me' });
      const { text } = await fresh.get('/me');
      expect(text).toContain('Weather');
      expect(text).toContain('href="https://svc.test/docs"');
      expect(text).not.toContain('TEST');
    }
    expect((await browser.get(forgedToken(path))).status).toBe(404);
    setTime(Date.now() + 11 * MINUTE);
    const late = await browser.get(path);
    letTimeRun();
    expect([late.status, browser.cookies.size]).toEqual([410, 0]);
    expect(late.text).toContain('This link no longer works');
  });

  it('it leads to the receipts or subscriptions if the seller says so, and opens in the seller’s language', async () => {
    await w.purchase(weather, grace, customer);
    expect((await browser.get(await portalPath({ customer, flow: 'receipts' }))).location).toBe('/me#receipts');
    expect((await browser.get(await portalPath({ customer, flow: 'cancel', locale: 'de' }))).location).toBe('/me#subscriptions');
    expect((await browser.get('/me')).text).toContain('<html lang="de">');
  });

  it('a link of a suspended account is a 410 page', async () => {
    await w.purchase(weather, grace, customer);
    const path = await portalPath({ customer });
    await w.env.DB.prepare("UPDATE accounts SET status = 'suspended' WHERE id = ?").bind(ada.userId).run();
    expect((await browser.get(path)).status).toBe(410);
  });

  it('a session of the sandbox says that everything is a test', async () => {
    const tester = { ...ada, key: ada.sandboxKey };
    const product = await w.product(tester, { name: 'Trial', access_period_days: 30 });
    const { payment_id } = (await w.connect(product, customer)) as Body;
    const { body: paid } = await w.call('POST', '/v1/testing/pay', { key: ada.sandboxKey, body: { payment_id } });
    expect((await w.confirm(payment_id, paid.tx_signature)).status).toBe(200);
    await browser.get(await portalPath({ customer }, ada.sandboxKey));
    const { text } = await browser.get('/me');
    expect(text).toContain('TEST · Test data');
    expect(text).toContain('data-mode="sandbox"');
    expect(text).toContain('Trial');
  });
});

describe('purchases at /me', () => {
  it('the buyer sees what is active, the receipt and its PDF', async () => {
    const { confirmed } = await w.purchase(weather, grace);
    await fold();
    const { text } = await (await signIn(grace)).get('/me');
    expect(text).toContain('<caption>Active</caption>');
    expect(text).toContain('<caption>Receipts</caption>');
    expect(text).toContain(`/r/${confirmed.receipt_id}?locale=en"`);
    expect(text).toContain(`/me/receipts/${confirmed.receipt_id}/pdf"`);
    expect(text).toContain('<td data-name="Amount"><span class="unbroken">5.00\u00a0USDC</span></td>');
  });

  it('names of products and sellers are text, whatever they contain', async () => {
    const eve = await w.merchant();
    const hostile = `<img src=x onerror=alert(1)>"'&`;
    expect((await w.call('PATCH', '/v1/account/me', { key: eve.token, body: { display_name: hostile } })).status).toBe(200);
    await w.purchase(await w.product(eve, { name: hostile, access_period_days: 30 }), grace, { customer_ref: hostile });
    await fold();
    const { text } = await (await signIn(grace)).get('/me');
    expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;');
    expect(text).not.toContain('<img');
  });

  it('the buyer has a delivery retried, and the membership of another buyer is a 404 page', async () => {
    await w.purchase(weather, grace);
    await fold();
    const signedIn = await signIn(grace);
    const membership_id = await findMembership(signedIn);
    expect((await signedIn.post('/me/deliver', { membership_id })).location).toBe('/me?why=tryingAgain');
    expect((await signedIn.get('/me?why=tryingAgain')).text).toContain('The delivery is tried again now.');
    const alan = await signIn(await w.chain.wallet());
    for (const id of [membership_id, crypto.randomUUID()]) {
      const { status, text } = await alan.post('/me/deliver', { membership_id: id });
      expect(status).toBe(404);
      expect(text).toContain('role="alert"');
    }
    expect(await browser.post('/me/deliver', { membership_id })).toMatchObject({ status: 303, location: '/me?why=ended' });
  });

  it('a page with 20 purchases is at most 20 KB compressed', async () => {
    for (let bought = 0; bought < 21; bought++) await w.purchase(weather, grace);
    await fold();
    const signedIn = await signIn(grace);
    const { text } = await signedIn.get('/me');
    expect(gzipSync(text).length).toBeLessThan(20 * 1024);
    expect(gzipSync(/<style[^>]*>(.*?)<\/style>/s.exec(text)![1]!).length).toBeLessThan(12 * 1024);
    expect(text).toContain('href="/me?page=2"');
    const older = await signedIn.get('/me?page=2');
    expect(older.text).toContain('href="/me?page=1"');
    expect(older.text).not.toContain('href="/me?page=3"');
    expect((await signedIn.get('/me?page=9999')).text).toContain('role="alert"');
  });
});

describe('end of a session at /me', () => {
  it('signing out ends the token, clears the cookie and says so', async () => {
    const signedIn = await signIn(grace);
    const token = signedIn.cookies.get(COOKIE)!;
    expect((await signedIn.post('/me/sign-out', {})).location).toBe('/me?why=signedOut');
    expect(signedIn.cookies.has(COOKIE)).toBe(false);
    expect((await signedIn.get('/me?why=signedOut')).text).toContain('You are signed out.');
    expect((await w.call('GET', '/v1/buyer', { key: token })).status).toBe(401);
  });

  it('a session that ended or expired clears the cookie and says so', async () => {
    const [ended, expired] = [await signIn(grace), await signIn(grace)];
    await w.call('POST', '/v1/buyer/logout', { key: ended.cookies.get(COOKIE)! });
    const { text } = await ended.get('/me');
    expect([text.includes('Your session has ended.'), ended.cookies.size]).toEqual([true, 0]);
    setTime(Date.now() + 25 * HOUR);
    const late = await expired.get('/me');
    letTimeRun();
    expect([late.text.includes('Your session has ended.'), expired.cookies.size]).toEqual([true, 0]);
  });
});

describe('languages of /me', () => {
  it.each(LOCALE_NAMES)('the pages render in %s, signed out and signed in', async (locale) => {
    const say = await loadMeTexts(locale);
    const signedIn = await signIn(grace);
    for (const one of [browser, signedIn]) {
      const { text, response } = await one.get(`/me?locale=${locale}`);
      expect(text).toContain(`<html lang="${locale}">`);
      expect(response.headers.get('Content-Language')).toBe(locale);
      expect(text).toContain(`<h1>${say.title}</h1>`);
    }
    expect((await browser.post(`/me/email?locale=${locale}`, { email: address() })).location).toBe(`/me?locale=${locale}&why=linkSent`);
  });
});

describe('chosen language of /me', () => {
  it('a choice lasts for later visits, goes before the seller’s, and the links to other pages have it', async () => {
    const { confirmed } = await w.purchase(weather, grace, { customer_ref: 'user-2' });
    await fold();
    expect((await browser.get('/me?locale=fr')).response.headers.getSetCookie()).toEqual([
      '__Host-svc_language=fr; Max-Age=31536000; Path=/; HttpOnly; Secure; SameSite=Lax',
    ]);
    await browser.get(await portalPath({ customer: { customer_ref: 'user-2' }, locale: 'de' }));
    const { text, response } = await browser.get('/me');
    expect(text).toContain('<html lang="fr">');
    expect(text).toContain(`/r/${confirmed.receipt_id}?locale=fr"`);
    expect(response.headers.getSetCookie()).toEqual([]);
  });
});

describe('rate of /me', () => {
  it('the 61st form of a minute is a 429 page with Retry-After', async () => {
    browser = new PageBrowser(new MailWorld({ RATE_MULTIPLIER: '1' }));
    setTime(Math.ceil(Date.now() / MINUTE) * MINUTE);
    for (let sent = 0; sent < 60; sent++) expect((await browser.post('/me/sign-out', {})).status).toBe(303);
    const { status, response } = await browser.post('/me/sign-out', {});
    const { status: read } = await browser.get('/me');
    letTimeRun();
    expect([status, Number(response.headers.get('Retry-After')) > 0, read]).toEqual([429, true, 200]);
  });
});
