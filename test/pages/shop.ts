import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { getAddressEncoder, getBase64Encoder, getTransactionDecoder, type KeyPairSigner, signBytes } from '@solana/kit';
import { build } from 'esbuild';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { Api } from '../../local/cli/api.ts';
import { type Bill, sign, WalletChain } from '../../local/demo/wallet.ts';
import type { WalletPlan } from './page-wallet.ts';

const SCREENS = join(import.meta.dirname, '../../dist/screens');
const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';
const ARGS =
  '--no-sandbox --disable-dev-shm-usage --disable-gpu --disable-quic --disable-background-networking --disable-component-update --disable-sync --no-first-run';

export const CONNECTOR_SECRET = 'connector-secret-of-the-browser-tests';

export const SIZES = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2,
    isMobile: true,
    hasTouch: true,
    userAgent: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148',
  },
} as const satisfies Record<string, BrowserContextOptions>;
export type Size = keyof typeof SIZES;

/** Widths at which each state is drawn if SHOTS is set, in light and dark. */
const EVERY_WIDTH = [320, 390, 1280];
const EVERY_SCHEME = ['light', 'dark'] as const;

/** Draws the state of a page at every width and in every scheme. Throws if the page is wider than its window. */
async function shootAll(page: Page, path: string, scheme: 'light' | 'dark'): Promise<void> {
  const before = page.viewportSize()!;
  for (const width of EVERY_WIDTH)
    for (const colorScheme of EVERY_SCHEME) {
      await page.setViewportSize({ width, height: 800 });
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${path}-${width}-${colorScheme}.png`, fullPage: true });
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      if (wide !== width) throw new Error(`${path} is ${wide} wide in a window of ${width}`);
    }
  await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: scheme });
}

/** Opens the dashboard's menu if a narrow screen has a link in it. Returns whether it did. */
export async function openMenu(page: Page, name: string | RegExp): Promise<boolean> {
  const link = page.getByRole('link', { name, exact: true, includeHidden: true }).first();
  await link.waitFor({ state: 'attached' });
  if (await link.isVisible()) return false;
  await page.getByRole('button', { name: 'Menu', exact: true }).click();
  return true;
}

export async function follow(page: Page, name: string | RegExp): Promise<void> {
  await openMenu(page, name);
  await page.getByRole('link', { name, exact: true }).first().click();
}

export interface Product {
  product_id: string;
  slug: string;
}

/** Answers a wallet request. `error:<code>:<message>` makes the wallet throw. */
type Act = (transaction: string) => Promise<string> | string;
export interface TestWallet extends Partial<Omit<WalletPlan, 'address' | 'publicKey'>> {
  signer: KeyPairSigner;
  onAct?: Act;
}

export interface Visit {
  page: Page;
  /** Policy violations, requests to foreign origins and thrown errors. */
  offences: string[];
  shoot(name: string): Promise<void>;
  close(): Promise<void>;
}

const signText = async ({ keyPair }: KeyPairSigner, text: string): Promise<string> =>
  Buffer.from(await signBytes(keyPair.privateKey, Buffer.from(text, 'base64'))).toString('base64');

export const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name }).click();
export const seeHeading = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { name, exact: true }).waitFor({ timeout: 30_000 });

let walletScript: Promise<string> | undefined;
async function bundleWallet(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'page-wallet.ts')],
    bundle: true,
    write: false,
    format: 'iife',
  });
  return outputFiles[0]!.text;
}

/** Waits until the page shows this text, and loads it again meanwhile as a person does. */
export async function reloadUntil(page: Page, text: string): Promise<void> {
  const read = async () => {
    await page.reload();
    return page.locator('main').innerText();
  };
  await expect.poll(read, { timeout: 30_000, interval: 500 }).toContain(text);
}

export class Shop {
  readonly baseUrl = inject('baseUrl');
  readonly api = new Api(this.baseUrl);
  readonly chain = new WalletChain(inject('rpcUrl'));
  /** Wallet that merchants are paid to. */
  seller!: KeyPairSigner;
  wallet = '';
  /** Email of the merchant of the newest product. */
  email = '';
  #token = '';
  #settings: Record<string, string> = {};
  /** Merchant token by product. The free plan allows three products, so several merchants are used. */
  readonly #keys = new Map<string, string>();
  #browser: Browser | undefined;

  async open(settings: Record<string, string> = {}): Promise<void> {
    mkdirSync(SCREENS, { recursive: true });
    this.#browser = await chromium.launch({ executablePath: EXECUTABLE, args: ARGS.split(' ') });
    this.seller = await this.chain.newBuyer(0n);
    this.wallet = this.seller.address;
    this.#settings = settings;
  }

  async close(): Promise<void> {
    await this.#browser?.close();
  }

  urlOf({ slug }: Product, query = ''): string {
    return `${this.baseUrl}/p/${slug}${query}`;
  }

  async #newMerchant(): Promise<string> {
    this.email = `shop-${crypto.randomUUID()}@example.com`;
    const body = { email: this.email, password: 'correct horse battery', display_name: 'Ada’s Weather Ltd' };
    this.#token = (await this.api.must<{ token: string }>('POST', '/v1/auth/register', { body })).token;
    const settings = { merchant_settings: this.#settings };
    if (Object.keys(this.#settings).length > 0) await this.api.must('PATCH', '/v1/account/me', { credential: this.#token, body: settings });
    const made = await this.api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: this.#token, body: { name: 'shop' } });
    return made.raw_key;
  }

  async sell(terms: Record<string, unknown> = {}): Promise<Product> {
    return this.#sellWith(await this.#newMerchant(), terms);
  }

  async sellInSandbox(terms: Record<string, unknown> = {}): Promise<Product> {
    await this.#newMerchant();
    const body = { name: 'tests', sandbox_mode: true };
    const { raw_key: key } = await this.api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: this.#token, body });
    return this.#sellWith(key, terms);
  }

  async #sellWith(key: string, terms: Record<string, unknown>): Promise<Product> {
    const body = {
      name: 'Forecasts, 30 days',
      price: { asset: 'USDC', amount: '12.5' },
      access_period_days: 30,
      usage_units: null,
      payout_wallet: this.wallet,
      session_seconds: 900,
      ...terms,
    };
    const product = await this.api.must<Product>('POST', '/v1/products', { credential: key, body });
    this.#keys.set(product.product_id, key);
    return product;
  }

  callAs<T>(product: Product, method: string, path: string, body?: unknown): Promise<T> {
    const credential = this.#keys.get(product.product_id)!;
    return this.api.must<T>(method, path, { credential, body, idempotencyKey: crypto.randomUUID() });
  }

  async handOff(product: Product): Promise<string> {
    const body = { customer_ref: 'customer-4711', email: 'grace@example.com' };
    return (await this.callAs<{ url: string }>(product, 'POST', `/v1/products/${product.product_id}/handoffs`, body)).url;
  }

  async connector(provider: string, body: unknown): Promise<void> {
    const response = await fetch(`${this.baseUrl}/v1/integrations/connectors/${provider}/identity`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-svc-connector-secret': `${CONNECTOR_SECRET}:${provider}` },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }

  async readPayments(product: Product): Promise<{ payment_id: string; status: string }[]> {
    const path = `/v1/payments?product_id=${product.product_id}`;
    const credential = this.#keys.get(product.product_id)!;
    return (await this.api.must<{ items: { payment_id: string; status: string }[] }>('GET', path, { credential })).items;
  }

  /** Opens a browser with these wallets. The demo wallet is excluded unless requested. */
  async visit(size: Size, wallets: TestWallet[] = [], options: BrowserContextOptions & { demo?: boolean } = {}): Promise<Visit> {
    const { demo = false, ...rest } = options;
    const context = await this.#browser!.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...SIZES[size], ...rest });
    const page = await context.newPage();
    const offences: string[] = [];
    page.on('pageerror', (error) => offences.push(`threw ${error.message}`));
    page.on('console', (message) => {
      if (/Content Security Policy|Refused to/i.test(message.text())) offences.push(message.text());
    });
    const ours = [new URL(this.baseUrl).origin, ...(demo ? [new URL(inject('rpcUrl')).origin] : [])];
    page.on('request', (request) => {
      const url = new URL(request.url());
      if (['http:', 'https:'].includes(url.protocol) && !ours.includes(url.origin)) offences.push(`asked ${url.href}`);
    });
    if (!demo) await page.route('**/assets/demo-wallet-*.js', (route) => route.fulfill({ contentType: 'text/javascript', body: '' }));
    await this.#giveWallets(context, wallets);
    const shoot = async (name: string) => {
      const path = join(SCREENS, `${name}-${size}`);
      if (process.env.SHOTS) await shootAll(page, path, rest.colorScheme === 'dark' ? 'dark' : 'light');
      else await page.screenshot({ path: `${path}.png`, fullPage: true });
    };
    // Requests in the page's last moment are ignored.
    const close = async () => {
      for (const tab of context.pages()) await tab.unrouteAll({ behavior: 'ignoreErrors' });
      await context.unrouteAll({ behavior: 'ignoreErrors' });
      await context.close();
    };
    return { page, offences, shoot, close };
  }

  async #giveWallets(context: BrowserContext, wallets: TestWallet[]): Promise<void> {
    walletScript ??= bundleWallet();
    const named = wallets.map((wallet, index) => ({ ...wallet, name: wallet.name ?? `Test wallet${index > 0 ? ` ${index + 1}` : ''}` }));
    await context.exposeFunction('walletActs', async (name: string, act: string, transaction: string) => {
      const wallet = named.find((one) => one.name === name)!;
      if (wallet.onAct) return wallet.onAct(transaction);
      if (act === 'text') return signText(wallet.signer, transaction);
      return act === 'sign' ? sign(wallet.signer, transaction) : this.sendBy(wallet.signer, transaction);
    });
    const plans: WalletPlan[] = named.map(({ name, signer, chains, features, accounts, isBroken }) => ({
      name,
      address: signer.address,
      publicKey: [...getAddressEncoder().encode(signer.address)],
      chains: chains ?? ['solana:mainnet', 'solana:devnet'],
      features: features ?? ['solana:signTransaction'],
      accounts: accounts ?? 'one',
      isBroken: isBroken ?? false,
    }));
    await context.addInitScript({ content: `globalThis.walletPlans=${JSON.stringify(plans)};${await walletScript}` });
  }

  /** Signs and sends without the service, as some wallets do. Returns the signature's bytes. */
  async sendBy(signer: KeyPairSigner, transaction: string): Promise<string> {
    const signed = await sign(signer, transaction);
    await this.chain.call('sendTransaction', signed, { encoding: 'base64' });
    const { signatures } = getTransactionDecoder().decode(getBase64Encoder().encode(signed));
    return Buffer.from(Object.values(signatures)[0]!).toString('base64');
  }
  /** Sends `units` of USDC by hand for a product, with the right memo. */
  async sendByHand(
    { page }: Visit,
    product: Product,
    signer: KeyPairSigner,
    units: bigint,
  ): Promise<{ paymentId: string; signature: string }> {
    await page.goto(this.urlOf(product));
    const answered = page.waitForResponse('**/connect');
    await press(page, 'Show a QR code');
    const bill = (await (await answered).json()) as Bill & { payment_id: string };
    return { paymentId: bill.payment_id, signature: await this.chain.pay(signer, bill, units) };
  }
}
