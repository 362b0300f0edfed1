import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { LOCALES } from '../../../worker/pages/locales/locales.ts';
import { type Connected, firstState, type PageFacts, type Session, type State } from '../../../worker/pages/view/model.ts';
import { Panel } from '../../../worker/pages/view/panel.tsx';
import { Address } from '../../../worker/pages/view/parts.tsx';
import { plain, plainName, sayIn, shortened, without } from '../../../worker/pages/view/text.ts';
import { getPage } from '../../world/page.ts';
import { type Merchant, World } from '../../world/world.ts';

/** What a person reads of a piece of HTML; what only sets an address apart is no space. */
const textOf = (html: string): string =>
  html
    .replace(/<style[\s\S]*?<\/style>|<script[\s\S]*?<\/script>/g, '')
    .replace(/<\/?span[^>]*>/g, '')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('\u00a0', ' ');
const factsOf = (html: string): PageFacts => JSON.parse(/id="facts"[^>]*>(.*?)<\/script>/s.exec(html)![1]!) as PageFacts;
const panelOf = (facts: PageFacts, state: Partial<State>): string =>
  textOf(String(Panel({ facts, state: { ...firstState(facts), ...state }, say: sayIn(facts.text) })));

/** What the browser keeps of an answer to connect. */
const toSession = (answer: Connected): Session => ({
  paymentId: answer.payment_id,
  price: answer.price,
  fee: answer.fee ?? null,
  recipient: answer.recipient,
  memo: answer.memo,
  solanaPayUrl: answer.solana_pay_url,
  expiresAt: answer.expires_at,
  quote: answer.price_quote ? { rate: answer.price_quote.rate, expiresAt: answer.price_quote.expires_at } : null,
  txSignature: null,
});

describe('a page with a service fee', () => {
  const feeWallet = generateKeyPairSigner();
  let w: World;
  let merchant: Merchant;
  beforeAll(async () => {
    w = new World({ FEE_BPS: '250', FEE_WALLET: (await feeWallet).address });
    merchant = await w.merchant();
  });

  it('says before the wallet is asked how much goes to whom, and afterwards only what the buyer paid', async () => {
    const product = await w.product(merchant);
    const { html } = await getPage(w, `/p/${product.slug}`);
    expect(textOf(html)).toContain('less a service fee of 2.5%');
    const facts = factsOf(html);
    const session = toSession(await w.connect(product));
    const waiting = panelOf(facts, { step: 'waiting', session });
    for (const words of ['5.00 USDC', '4.875 USDC', merchant.wallet.address, '0.125 USDC', (await feeWallet).address])
      expect(waiting).toContain(words);
    const confirmed = panelOf(facts, { step: 'confirmed', session });
    expect(confirmed).toContain('You paid 5.00 USDC.');
    expect(confirmed).toMatch(/Service fee\s+0\.125 USDC/);
    expect(confirmed).not.toMatch(/received|has got/);
  });
});

describe('a page names who is paid', () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });

  it('in every asset, where a rail has a wallet of its own', async () => {
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
    expect(panelOf(facts, {})).toContain(shortened(ofUsdc));
    const inSol = panelOf(facts, { asset: 'SOL' });
    expect(inSol).toContain(shortened(ofSol));
    expect(inSol).toContain('The exact amount in SOL is shown here and fixed before you approve.');

    const session = toSession((await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { asset: 'SOL' } })).body);
    expect(session.recipient).toBe(ofSol);
    const waiting = panelOf(facts, { step: 'waiting', session, asset: 'SOL' });
    for (const words of [/[\d.]+ SOL/, /1 SOL = [\d.,]+ USDC, valid until/, ofSol]) expect(waiting).toMatch(words);
    const chosen = panelOf(facts, { session, asset: 'SOL' });
    expect(chosen).toMatch(/You can choose another currency when this price ends \(\d/);
    expect(chosen).not.toContain('Pay in');
  });

  it('by the account and its wallet, never by what the shop calls itself', async () => {
    const brand = { checkout_brand_name: 'Official Solana Foundation – verified ✔️ by Phantom 🔒🛡️' };
    await w.call('PATCH', '/v1/account/me', { key: merchant.token, body: { merchant_settings: brand } });
    const product = await w.product(merchant, { name: '✅ Weather' });
    const { html } = await getPage(w, `/p/${product.slug}`);
    expect(/<title>(.*?)<\/title>/.exec(html)![1]).toBe('Weather · “Ada’s weather”');
    expect(textOf(html)).not.toMatch(/[✔✅🔒🛡]/u);
    const session = toSession(await w.connect(product));
    const confirmed = panelOf(factsOf(html), { step: 'confirmed', session });
    expect(confirmed).toContain('“Ada’s weather”');
    expect(confirmed).toContain(shortened(session.recipient));
    expect(confirmed).not.toContain('Solana Foundation');
  });

  it('and says of test money that it is', async () => {
    const product = await w.product(merchant);
    const live = await getPage(w, `/p/${product.slug}`, {}, { ...w.env, NETWORK: 'mainnet', RPC_URL: 'https://rpc.example' });
    expect(textOf(live.html)).not.toContain('Test money');
    expect(textOf((await getPage(w, `/p/${product.slug}`)).html)).toMatch(/5\.00 USDC\s*Test money/);
  });

  it('and when a payment whose time is over may begin anew', async () => {
    const product = await w.product(merchant);
    const facts = factsOf((await getPage(w, `/p/${product.slug}`)).html);
    expect(facts.uncertainMs).toBe(180_000);
    const session = { ...toSession(await w.connect(product)), expiresAt: '2026-01-01T10:00:01.000Z' };
    expect(panelOf({ ...facts, locale: 'de', text: await LOCALES.de.load() }, { step: 'closing', session })).toMatch(
      /etwa um \d\d:04 von vorn/,
    );
  });
});

describe('the address of a page', () => {
  const w = new World();

  it('is one: a slash too many and capital letters lead to it, with their query', async () => {
    const product = await w.product(await w.merchant());
    const id = crypto.randomUUID();
    for (const [from, to] of [
      [`/p/${product.slug}/?locale=de`, `/p/${product.slug}?locale=de`],
      [`/p/${product.slug.toUpperCase()}`, `/p/${product.slug}`],
      [`/r/${id.toUpperCase()}//?a=b`, `/r/${id}?a=b`],
    ] as const) {
      const { status, headers } = await getPage(w, from);
      expect([status, headers.get('location')]).toEqual([308, to]);
    }
    expect((await getPage(w, `/p/${product.slug}`)).status).toBe(200);
  });

  it.each(['/p', '/p/', '/r/', '/p/a/b', '/r/a/b', '/p//evil.example', '/p/%2F%2Fevil.example/'])(
    'is friendly where it is none: %s',
    async (path) => {
      const { status, html, headers } = await getPage(w, path);
      expect(status).toBe(404);
      expect(headers.get('content-type')).toContain('text/html');
      expect(html).toContain('There is nothing here');
    },
  );
});

describe('amounts, addresses and names', () => {
  it.each([43, 44])('show an address of %i characters whole, with the ends that wallets show', (length) => {
    const address = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'.slice(0, length);
    const groups = [...String(Address({ address })).matchAll(/<span>(\w+)<\/span>/g)].map(([, group]) => group!);
    expect(groups.join('')).toBe(address);
    expect(`${groups.at(0)}…${groups.at(-1)}`).toBe(shortened(address));
  });

  it('are taken apart exactly, and stand without seals', () => {
    const usdc = (amount: string) => ({ asset: 'USDC', amount });
    expect(without(usdc('12.5'), usdc('0.25'))).toEqual(usdc('12.25'));
    expect(without(usdc('5'), usdc('0.125'))).toEqual(usdc('4.875'));
    expect(without(usdc('9007199254740993.000001'), usdc('1'))).toEqual(usdc('9007199254740992.000001'));
    expect(without(usdc('3'), usdc('3'))).toEqual(usdc('0'));
    expect(plainName('🛡️ \u202e✔')).toBe('…');
    expect(plain('Shop ✓✔️☑✅🔒🔐🛡️ 5')).toBe('Shop 5');
  });
});
