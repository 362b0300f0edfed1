import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { type PageFacts, type PagePayment, toPagePayment } from '../../../worker/pages/checkout/facts.ts';
import { Panel } from '../../../worker/pages/checkout/panel.tsx';
import { CHOOSING, firstCarried, type PageState, type StepState } from '../../../worker/pages/checkout/state.ts';
import type { PaymentStatus } from '../../../worker/pages/checkout/wire.ts';
import { loadDictionary } from '../../../worker/pages/locales/dictionaries.ts';
import { Address } from '../../../worker/pages/parts/parts.tsx';
import { drawCode } from '../../../worker/pages/parts/qr.ts';
import { plain, plainName, sayIn, shortened, without } from '../../../worker/pages/parts/text.ts';
import { getPage } from '../../support/clients/page.ts';
import { OUTSIDE_ON_MAINNET } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Visible text of an HTML fragment. Spans that group an address add no space. */
const textOf = (html: string): string =>
  html
    .replace(/<style[\s\S]*?<\/style>|<script[\s\S]*?<\/script>/g, '')
    .replace(/<\/?span[^>]*>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('\u00a0', ' ');
const factsOf = (html: string): PageFacts => JSON.parse(/id="facts"[^>]*>(.*?)<\/script>/s.exec(html)![1]!) as PageFacts;
const panelOf = (facts: PageFacts, step: StepState, shared: Partial<PageState> = {}): string =>
  textOf(String(Panel({ facts, state: { ...firstCarried(facts), ...shared, ...step } as PageState, say: sayIn(facts.text) })));

const choosing = (payment: PagePayment | null): StepState => ({ ...CHOOSING, payment, status: null, openRequest: null });
const waiting = (payment: PagePayment): StepState => ({
  step: 'waiting',
  request: { attempt: 1, walletName: 'Test wallet', payment, sends: false },
  payment,
  status: null,
  secondsLeft: null,
});
const confirmed = (payment: PagePayment): StepState => ({
  step: 'confirmed',
  payment,
  status: { status: 'CONFIRMED', price: payment.price } as PaymentStatus,
  openRequest: null,
  redirectUrl: null,
  isLeaving: false,
  copied: null,
});
const closing = (payment: PagePayment): StepState => ({
  step: 'closing',
  payment,
  status: null,
  openRequest: null,
  secondsToCertain: null,
  isBusy: false,
  problem: null,
});

describe('checkout page with a service fee', () => {
  const feeWallet = generateKeyPairSigner();
  let w: World;
  let merchant: Merchant;
  beforeAll(async () => {
    w = new World({ FEE_BPS: '250', FEE_WALLET: (await feeWallet).address });
    merchant = await w.merchant();
  });

  it('the page states each recipient and amount before the wallet opens, and afterwards only what the buyer paid', async () => {
    const product = await w.product(merchant);
    const { html } = await getPage(w, `/p/${product.slug}`);
    expect(textOf(html)).toContain('less a service fee of 2.5%');
    const facts = factsOf(html);
    const payment = toPagePayment(await w.connect(product));
    const asked = panelOf(facts, waiting(payment));
    for (const expected of ['5.00 USDC', '4.875 USDC', merchant.wallet.address, '0.125 USDC', (await feeWallet).address])
      expect(asked).toContain(expected);
    const paid = panelOf(facts, confirmed(payment));
    expect(paid).toContain('You paid 5.00 USDC.');
    expect(paid).toMatch(/Service fee\s+0\.125 USDC/);
    expect(paid).not.toMatch(/received|has got/);
  });
});

describe('payee on the checkout page', () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });

  it('each asset shows its own wallet if its rail has one', async () => {
    const ofSol = (await generateKeyPairSigner()).address;
    const ofUsdc = merchant.wallet.address;
    for (const [railId, payout_wallet] of Object.entries({ solana_usdc: ofUsdc, solana_sol: ofSol })) {
      const headers = { 'Idempotency-Key': crypto.randomUUID() };
      const body = { payout_wallet };
      expect((await w.call('PUT', `/v1/access/rail-settings/${railId}`, { key: merchant.token, headers, body })).status).toBe(200);
    }
    const product = await w.product(merchant, { accepted_assets: ['USDC', 'SOL'], payout_wallet: undefined });
    const { html } = await getPage(w, `/p/${product.slug}`);
    const facts = factsOf(html);
    expect(facts.payees).toEqual({ USDC: ofUsdc, SOL: ofSol });
    expect(textOf(html)).toMatch(new RegExp(`Wallet for payments in USDC\\s+${ofUsdc}\\s+Wallet for payments in SOL\\s+${ofSol}`));
    expect(panelOf(facts, choosing(null))).toContain(shortened(ofUsdc));
    const inSol = panelOf(facts, choosing(null), { asset: 'SOL' });
    expect(inSol).toContain(shortened(ofSol));
    expect(facts.estimates).toEqual({ SOL: { asset: 'SOL', amount: '0.033333334', base_units: '33333334' } });
    expect(inSol).toMatch(/≈ 0\.03333 SOL\s+At the current rate/);
    expect(panelOf({ ...facts, estimates: {} }, choosing(null), { asset: 'SOL' })).toContain('The exact amount in SOL is shown here');

    const payment = toPagePayment((await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { asset: 'SOL' } })).body);
    expect(payment.recipient).toBe(ofSol);
    const asked = panelOf(facts, waiting(payment), { asset: 'SOL' });
    for (const expected of [/[\d.]+ SOL/, /1 SOL = [\d.,]+ USDC, valid until/, ofSol]) expect(asked).toMatch(expected);
    const chosen = panelOf(facts, choosing(payment), { asset: 'SOL' });
    expect(chosen).toContain('Pay in');
  });

  it('the page names the account and its wallet, never the brand name', async () => {
    const brand = { checkout_brand_name: 'Official Solana Foundation – verified ✔️ by Phantom 🔒🛡️' };
    await w.call('PATCH', '/v1/account/me', { key: merchant.token, body: { merchant_settings: brand } });
    const product = await w.product(merchant, { name: '✅ Weather' });
    const { html } = await getPage(w, `/p/${product.slug}`);
    expect(/<title>(.*?)<\/title>/.exec(html)![1]).toBe('Weather · “Ada’s weather”');
    expect(textOf(html)).not.toMatch(/[✔✅🔒🛡]/u);
    const payment = toPagePayment(await w.connect(product));
    const paid = panelOf(factsOf(html), confirmed(payment));
    expect(paid).toContain('“Ada’s weather”');
    expect(paid).toContain(shortened(payment.recipient));
    expect(paid).not.toContain('Solana Foundation');
  });

  it('the page links back to the shop except while a wallet is open, also for an archived product', async () => {
    const product = await w.product(merchant, { cancel_url: 'https://shop.example/basket?of=7' });
    const { html } = await getPage(w, `/p/${product.slug}`);
    expect(html).toContain('<a class="way-back" href="https://shop.example/basket?of=7" rel="noreferrer">Back to shop.example</a>');
    const facts = factsOf(html);
    const payment = toPagePayment(await w.connect(product));
    expect(panelOf(facts, choosing(payment))).toContain('Back to shop.example');
    for (const step of [waiting(payment), confirmed(payment), closing(payment)]) expect(panelOf(facts, step)).not.toContain('Back to');
    await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: merchant.key });
    expect((await getPage(w, `/p/${product.slug}`)).html).toContain('Back to shop.example');
    expect((await getPage(w, `/p/${(await w.product(merchant)).slug}`)).html).not.toContain('class="way-back"');
  });

  it('the print page and the SVG contain a code of the product link only', async () => {
    const product = await w.product(merchant, { name: 'Weather <b>' });
    const { status, html } = await getPage(w, `/p/${product.slug}/qr?locale=de`);
    expect(status).toBe(200);
    for (const expected of ['Weather &lt;b&gt;', '5,00', `https://svc.test/p/${product.slug}`, 'Zum Bezahlen scannen'])
      expect(html).toContain(expected);
    const { path } = drawCode(`https://svc.test/p/${product.slug}`, 'M');
    expect(html).toContain(`<path d="${path}"`);
    const file = await getPage(w, `/p/${product.slug}/qr.svg`);
    expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
    expect(file.html).toContain(`<path d="${path}"/>`);
    await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: merchant.key });
    expect([(await getPage(w, `/p/${product.slug}/qr`)).status, (await getPage(w, `/p/${product.slug}/qr.svg`)).status]).toEqual([
      404, 404,
    ]);
  });

  it('test money is marked as test money', async () => {
    const product = await w.product(merchant);
    const live = await getPage(
      w,
      `/p/${product.slug}`,
      {},
      { ...w.env, ...OUTSIDE_ON_MAINNET, NETWORK: 'mainnet', RPC_URL: 'https://rpc.example' },
    );
    expect(textOf(live.html)).not.toContain('Test money');
    expect(textOf((await getPage(w, `/p/${product.slug}`)).html)).toMatch(/5\.00 USDC\s*Test money/);
  });

  it('the closing step states when a payment can start again', async () => {
    const product = await w.product(merchant);
    const facts = factsOf((await getPage(w, `/p/${product.slug}`)).html);
    expect(facts.uncertainMs).toBe(180_000);
    const payment = { ...toPagePayment(await w.connect(product)), expiresAt: '2026-01-01T10:00:01.000Z' };
    expect(panelOf({ ...facts, locale: 'de', text: await loadDictionary('de') }, closing(payment))).toMatch(/etwa um \d\d:04 von vorn/);
  });
});

describe('page URLs', () => {
  const w = new World();

  it('a trailing slash and uppercase redirect to the canonical path with its query', async () => {
    const product = await w.product(await w.merchant());
    const id = crypto.randomUUID();
    for (const [from, to] of [
      [`/p/${product.slug}/?locale=de`, `/p/${product.slug}?locale=de`],
      [`/p/${product.slug.toUpperCase()}`, `/p/${product.slug}`],
      [`/r/${id.toUpperCase()}//?a=b`, `/r/${id}?a=b`],
      ['/not-me/', '/not-me'],
      ['/invitation/?locale=de', '/invitation?locale=de'],
    ] as const) {
      const { status, headers } = await getPage(w, from);
      expect([status, headers.get('location')]).toEqual([308, to]);
    }
    expect((await getPage(w, `/p/${product.slug}`)).status).toBe(200);
  });

  it.each(['/p', '/p/', '/r/', '/p/a/b', '/r/a/b', '/p//evil.example', '/p/%2F%2Fevil.example/'])(
    'an unknown page answers a 404 HTML page: %s',
    async (path) => {
      const { status, html, headers } = await getPage(w, path);
      expect(status).toBe(404);
      expect(headers.get('content-type')).toContain('text/html');
      expect(html).toContain(path.startsWith('/r') ? 'There is no such receipt' : 'There is nothing here');
    },
  );
});

describe('amounts, addresses and names', () => {
  it.each([43, 44])('an address of %i characters is shown in full, and its groups match the shortened form', (length) => {
    const address = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'.slice(0, length);
    const groups = [...String(Address({ address })).matchAll(/<span>(\w+)<\/span>/g)].map(([, group]) => group!);
    expect(groups.join('')).toBe(address);
    expect(`${groups.at(0)}…${groups.at(-1)}`).toBe(shortened(address));
  });

  it('amounts are subtracted exactly, and names lose check marks and locks', () => {
    const usdc = (amount: string) => ({ asset: 'USDC', amount });
    expect(without(usdc('12.5'), usdc('0.25'))).toEqual(usdc('12.25'));
    expect(without(usdc('5'), usdc('0.125'))).toEqual(usdc('4.875'));
    expect(without(usdc('9007199254740993.000001'), usdc('1'))).toEqual(usdc('9007199254740992.000001'));
    expect(without(usdc('3'), usdc('3'))).toEqual(usdc('0'));
    expect(plainName('🛡️ \u202e✔')).toBe('…');
    expect(plain('Shop ✓✔️☑✅🔒🔐🛡️ 5')).toBe('Shop 5');
  });
});
