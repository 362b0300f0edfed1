// @module-tag quick
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { chooseLocale, LOCALE_NAMES, type Locale } from '#core/locales.ts';
import { TEXTS } from '#emails/emails.ts';
import { PAGE_ASSETS } from '../../../worker/pages/assets.ts';
import account from '../../../worker/pages/locales/account/en.json';
import { loadAccountTexts, loadDictionary, loadSigningTexts, loadSubscribingTexts } from '../../../worker/pages/locales/dictionaries.ts';
import en from '../../../worker/pages/locales/en.json';
import signing from '../../../worker/pages/locales/signing/en.json';
import subscribing from '../../../worker/pages/locales/subscribing/en.json';
import { contrast, paletteOf, parseHex, SURFACES } from '../../../worker/pages/parts/colour.ts';
import { formatMoney, plain } from '../../../worker/pages/parts/text.ts';
import { directivesOf, getPage } from '../../support/clients/page.ts';
import { OUTSIDE_ON_MAINNET } from '../../support/runner/env.ts';
import { type Merchant, strangerAddress, World } from '../../support/world.ts';

const w = new World();
let merchant: Merchant;
beforeAll(async () => {
  merchant = await w.merchant();
});

const get = (path: string, headers: Record<string, string> = {}, env = w.env) => getPage(w, path, headers, env);

const brand = (settings: Record<string, string>) =>
  w.call('PATCH', '/v1/account/me', { key: merchant.token, body: { merchant_settings: settings } });

describe('/p/{slug}', () => {
  it('the HTML without scripts names product, price, seller and payee', async () => {
    const product = await w.product(merchant, { description: 'Forecasts', usage_units: 1000, unit_name: 'calls' });
    const { status, html } = await get(`/p/${product.slug}`);
    expect(status).toBe(200);
    const text = html.replace(/<style[\s\S]*?<\/style>|<script[\s\S]*?<\/script>|<\/?span[^>]*>/g, '').replace(/<[^>]+>/g, ' ');
    for (const content of [
      'Weather API',
      '5.00',
      'USDC',
      '1,000 calls',
      'About $5.00',
      'Ada’s weather',
      merchant.wallet.address,
      'Solana devnet',
    ])
      expect(text).toContain(content);
  });

  it('the page states the network cost, and its link preview has title and price', async () => {
    const product = await w.product(merchant, { name: 'Weather <API>', access_period_days: 30, usage_units: null });
    const { html } = await get(`/p/${product.slug}`);
    expect(html).toContain('about 0.002 SOL once');
    expect(html).toContain('<meta property="og:title" content="Weather &lt;API&gt;"');
    expect(html).toMatch(/<meta property="og:description" content="5\.00.USDC · Sold by /);
    const facts = JSON.parse(/<script type="application\/json" id="facts"[^>]*>([^<]+)</.exec(html)![1]!);
    expect(facts.gains).toEqual(['Access for 30 days']);
  });

  it('the page allows only its own scripts, with a new nonce in each answer', async () => {
    const product = await w.product(merchant);
    const first = await get(`/p/${product.slug}`);
    const nonce = /script-src 'nonce-([\w-]{24})'/.exec(first.headers.get('content-security-policy')!)![1]!;
    expect(directivesOf(first.headers)).toEqual({
      'default-src': ["'none'"],
      'script-src': [`'nonce-${nonce}'`],
      'style-src': [`'nonce-${nonce}'`],
      'img-src': ["'self'", 'https:', 'data:'],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    });
    expect(first.html).not.toMatch(/\son\w+=|style="|javascript:/i);
    const scripts = [...first.html.matchAll(/<script([^>]*)>/g)].map(([, attributes]) => attributes!);
    for (const attributes of scripts) expect(attributes).toContain(`nonce="${nonce}"`);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
      'cross-origin-opener-policy': 'same-origin-allow-popups',
      'strict-transport-security': expect.stringContaining('max-age='),
    });
    expect((await get(`/p/${product.slug}`)).headers.get('content-security-policy')).not.toContain(nonce);
  });

  it('FRAME_ANCESTORS names the sites that may frame the page', async () => {
    const product = await w.product(merchant);
    const { headers } = await get(`/p/${product.slug}`, {}, { ...w.env, FRAME_ANCESTORS: 'https://shop.example https://b.example' });
    expect(directivesOf(headers)['frame-ancestors']).toEqual(['https://shop.example', 'https://b.example']);
    expect(headers.get('x-frame-options')).toBeNull();
  });

  it('the demo wallet needs DEMO_WALLET and is never offered for real money', async () => {
    const product = await w.product(merchant);
    expect((await get(`/p/${product.slug}`)).html).not.toMatch(/demo-wallet/);
    const local = await get(`/p/${product.slug}`, {}, { ...w.env, DEMO_WALLET: 'true' });
    expect(local.html).toContain(PAGE_ASSETS.demoWallet);
    expect(directivesOf(local.headers)['connect-src']).toEqual(["'self'", new URL(w.env.RPC_URL as string).origin]);
    const refused = [{ NETWORK: 'mainnet' }, { RPC_URL: 'https://api.devnet.solana.com' }];
    for (const setting of refused)
      expect((await get(`/p/${product.slug}`, {}, { ...w.env, DEMO_WALLET: 'true', ...setting })).html).not.toMatch(/demo-wallet/);
  });

  it.each(['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', '</script><script>alert(1)</script>', '\u202egnp.exe'])(
    'a hostile name is escaped: %s',
    async (name) => {
      await brand({ checkout_brand_name: name, checkout_success_button_label: name.slice(0, 40) });
      const product = await w.product(merchant, { name, description: name });
      const { html } = await get(`/p/${product.slug}?handoff=${encodeURIComponent(name)}`);
      expect(html).not.toMatch(/<script>|<img src=x|alert\(1\)<\/script>|\u202e/);
      expect(html).toContain('Ada’s weather');
      await brand({ checkout_brand_name: '', checkout_success_button_label: '' });
    },
  );

  it('an unknown product, receipt or subscription answers a 404 HTML page', async () => {
    const paths = {
      '/p/nothing': 'There is nothing here',
      '/p/%3Cscript%3E': 'There is nothing here',
      '/r/nothing': 'There is no such receipt',
      '/s/nsa_nothing': 'There is no such subscription',
    };
    for (const [path, content] of Object.entries(paths)) {
      const { status, html, headers } = await get(path);
      expect(status).toBe(404);
      expect(headers.get('content-type')).toContain('text/html');
      expect(html).toContain(content);
    }
  });

  it('an unknown path answers an HTML page to a browser and JSON to a program and in the API', async () => {
    const inBrowser = { headers: { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8', 'Accept-Language': 'de' } };
    for (const path of ['/nope', '/mine', '/p.html', '/wp-login.php']) {
      const { status, body, headers } = await w.call<string>('GET', path, inBrowser);
      expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
      expect(body).toContain('Diese Seite gibt es nicht');
      for (const door of ['href="/"', 'href="/login"', 'href="/docs"']) expect(body).toContain(door);
      expect((await w.call('GET', path)).body).toMatchObject({ code: 'not_found', meta: { reason: 'unknown_path' } });
    }
    expect((await w.call('GET', '/v1/nope', inBrowser)).body).toMatchObject({ code: 'not_found' });
    expect((await w.call('POST', '/nope', { ...inBrowser, body: {} })).body).toMatchObject({ code: 'not_found' });
  });

  it('a sandbox product is marked as a test and offers the test wallet, and a live product does not', async () => {
    const product = await w.product({ ...merchant, key: merchant.sandboxKey });
    const node = { RPC_URL: 'https://node.example', PRICE_URL: 'https://price.example' };
    const mainnet = { ...OUTSIDE_ON_MAINNET, ...node, NETWORK: 'mainnet', RATE_MULTIPLIER: '1' };
    // Each request has its own address, because the mainnet rate limit would count those of other tests.
    for (const setting of [{}, { DEMO_WALLET: 'true' }, mainnet]) {
      const { html, headers, status } = await get(
        `/p/${product.slug}`,
        { 'CF-Connecting-IP': strangerAddress() },
        { ...w.env, ...setting },
      );
      expect(status).toBe(200);
      for (const content of ['This is a test.', 'test-frame', 'Test money', '"isPayable":true', PAGE_ASSETS.testWallet])
        expect(html).toContain(content);
      expect(html).not.toContain(PAGE_ASSETS.demoWallet);
      expect(directivesOf(headers)['connect-src']).toEqual(["'self'"]);
    }
    const live = await get(`/p/${(await w.product(merchant)).slug}`);
    for (const content of ['class="test-mark"', 'test-frame"', PAGE_ASSETS.testWallet]) expect(live.html).not.toContain(content);
  });

  it('a trailing slash redirects, and an overlong path answers 404', async () => {
    const product = await w.product(merchant);
    const moved = await get(`/p/${product.slug}//`);
    expect([moved.status, moved.headers.get('location')]).toEqual([308, `/p/${product.slug}`]);
    expect((await get(`/p/${product.slug}${'/'.repeat(15_000)}`)).status).toBe(404);
  });

  it('an archived product cannot be bought, and its page still serves buyers with a pending payment', async () => {
    const product = await w.product(merchant);
    await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: merchant.key });
    const { status, html } = await get(`/p/${product.slug}`);
    expect(status).toBe(404);
    expect(html).toContain('This is no longer for sale.');
    expect(html).toContain('"isPayable":false');
    expect(html).toContain(PAGE_ASSETS.checkout);
  });

  it.each(['', '%20', 'token)', 'token%20', 'a'.repeat(2049)])(
    'a damaged hand-off shows an error instead of a purchase: %s',
    async (token) => {
      const product = await w.product(merchant);
      const { status, html } = await get(`/p/${product.slug}?handoff=${token}`);
      expect(status).toBe(200);
      expect(html).toContain('This link is not valid.');
      expect(html).not.toContain(PAGE_ASSETS.checkout);
    },
  );

  it('no query parameter sets a link of the page', async () => {
    const product = await w.product(merchant);
    const { html } = await get(`/p/${product.slug}?redirect_url=https://evil.example&success_url=//evil.example&next=//evil.example`);
    const hrefs = [...html.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, target]) => target!);
    for (const target of hrefs) expect(target).toMatch(/^(?:\/(?!\/)|#|data:,|https:\/\/(?!evil))/);
  });
});

describe('/r/{receipt_id}', () => {
  it('the receipt page shows the proof and its verdict', async () => {
    const product = await w.product(merchant);
    const buyer = await w.chain.wallet(20_000_000n);
    const { signature, confirmed } = await w.purchase(product, buyer);
    const { status, html } = await get(`/r/${confirmed.receipt_id}`);
    expect(status).toBe(200);
    for (const content of ['This receipt is genuine', signature, buyer.address, merchant.wallet.address, '5.00'])
      expect(html).toContain(content);
    const forged = await get(`/r/${confirmed.receipt_id}`, {}, { ...w.env, RECEIPT_KEYS: 'A'.repeat(43) });
    expect(forged.html).toContain('This receipt is not valid');
    expect(html).not.toContain('@example.com');
  });
});

const flatten = (content: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(content).flatMap(([key, value]: [string, string | object]) =>
      typeof value === 'string' ? [[key, value]] : Object.entries(flatten(value)).map(([path, text]) => [`${key}.${path}`, text]),
    ),
  );

describe('languages', () => {
  const TABLES: [string, Record<string, string>, (locale: Locale) => Promise<Record<string, string>>][] = [
    ['buyers', en, loadDictionary],
    ['merchants', account, loadAccountTexts],
    ['subscribers', subscribing, loadSubscribingTexts],
    ['signers', signing, loadSigningTexts],
    ['readers of letters', flatten(TEXTS.en), async (locale) => flatten(TEXTS[locale])],
  ];
  it.each(LOCALE_NAMES)('%s has every text, with the same placeholders', async (locale) => {
    for (const [readers, english, load] of TABLES) {
      const text = await load(locale);
      expect(Object.keys(text).sort(), readers).toEqual(Object.keys(english).sort());
      const valuesOf = (content: string) => [...new Set(content.match(/\{\w+\}/g) ?? [])].sort();
      for (const [key, content] of Object.entries(text)) {
        expect(content.trim(), key).not.toBe('');
        // A translation may omit a repeated placeholder, but not add one.
        expect(valuesOf(content), `${locale} ${key}`).toEqual(valuesOf(english[key]!));
      }
    }
  });

  it('the locale is chosen by parameter, then by Accept-Language, then English', () => {
    expect(chooseLocale(undefined, undefined)).toBe('en');
    expect(chooseLocale(undefined, 'xx, pt-PT;q=0.9, de;q=0.8')).toBe('pt-BR');
    expect(chooseLocale('ja', 'de')).toBe('ja');
    expect(chooseLocale('tlh', 'fr-CA, en')).toBe('fr');
    expect(chooseLocale(undefined, 'de;q=0, es;q=0.1')).toBe('es');
    fc.assert(fc.property(fc.string(), fc.string(), (asked, accepted) => LOCALE_NAMES.includes(chooseLocale(asked, accepted))));
  });

  it('amounts are formatted exactly at any length', () => {
    expect(formatMoney('en', { asset: 'USDC', amount: '12.5' })).toBe('12.50\u00a0USDC');
    expect(formatMoney('de', { asset: 'SOL', amount: '9007199254740993.123456789' })).toBe('9.007.199.254.740.993,123456789\u00a0SOL');
  });
});

describe('colours', () => {
  it('text is readable with every accent colour', () => {
    const hex = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
    fc.assert(
      fc.property(hex, fc.constantFrom('light', 'dark'), (accent, scheme) => {
        const palette = paletteOf(accent, scheme);
        const of = (colour: string) => parseHex(colour)!;
        expect(contrast(of(palette.onAccent), of(palette.accent))).toBeGreaterThanOrEqual(4.5);
        const surfaces = [SURFACES[scheme], ...(scheme === 'light' ? ['#ffffff'] : []), palette.accentSoft];
        for (const surface of surfaces) expect(contrast(of(palette.accentText), of(surface))).toBeGreaterThanOrEqual(4.5);
        expect(contrast(of(palette.accentEdge), of(SURFACES[scheme]))).toBeGreaterThanOrEqual(3);
      }),
      { numRuns: 2000 },
    );
  });

  it('foreign text loses control and format characters', () => {
    expect(plain('a\u202eb\u0000c\u200bd\n e')).toBe('a b c d e');
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => !/[\p{Cc}\p{Cf}]/u.test(plain(text))));
  });
});
