import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findViolations } from './axe.ts';
import { type Product, Shop } from './shop.ts';

const USDC = 1_000_000n;
const SCRIPT = '<script>window.stolen=1</script><img src=x onerror="window.stolen=1">';
const shortOf = (address: string) => `${address.slice(0, 4)}…${address.slice(-4)}`;

describe('untrusted merchant input on hosted pages', () => {
  const shop = new Shop();
  beforeAll(
    () =>
      shop.open({
        checkout_brand_name: `Official Solana Foundation ✔${SCRIPT}`.slice(0, 80),
        checkout_accent_hex: '#ffffff',
        checkout_success_button_label: '</script><script>stolen=1',
        checkout_logo_url: 'https://cdn.shop.example/"onerror="stolen=1',
        default_support_url: 'https://support.example/?javascript:alert(1)',
      }),
    60_000,
  );
  afterAll(() => shop.close());

  it.each(['phone', 'desktop'] as const)('hostile texts run no script, hide no wallet and break no layout on a %s', async (size) => {
    const product = await shop.sell({
      name: `\u202eUSDC 0.00 diap${SCRIPT} ${'W'.repeat(60)}`.slice(0, 160),
      description: `${SCRIPT}\u202e\u0000${'x'.repeat(400)}\n]]></script>-->`,
      unit_name: '<b>free</b>',
      usage_units: 3,
    });
    const { page, offences, shoot, close } = await shop.visit(size, [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    // The merchant's image host is the only foreign origin that the page may request.
    await page.route('https://cdn.shop.example/**', (route) => route.fulfill({ status: 404, body: '' }));
    await page.goto(shop.urlOf(product));
    await page.getByRole('button', { name: 'Pay with Test wallet' }).waitFor();
    expect(await page.evaluate('typeof stolen')).toBe('undefined');
    expect(await page.locator('.offer small').innerText()).toContain('Ada’s Weather Ltd');
    expect(await page.locator('.about').innerText()).toContain(shop.wallet);
    expect(await page.locator('body').innerText()).not.toMatch(/[\u202a-\u202e\u2066-\u2069]{2}|\u202e/);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    expect(offences.filter((offence) => !offence.startsWith('asked https://cdn.shop.example/'))).toEqual([]);
    await shoot('16-hostile');
    const payee = page.locator('.payee');
    expect(await payee.innerText()).toContain(shortOf(shop.wallet));
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    // The page's own texts name the account and its wallet, not the shop's brand.
    const said = await page.locator('.panel').innerText();
    expect(said).toContain('“Ada’s Weather Ltd”');
    expect(said).toContain(shortOf(shop.wallet));
    expect(`${said} ${await page.title()}`).not.toContain('Solana Foundation');
    expect(await page.locator('body').innerText()).not.toContain('✔');
    expect(await page.evaluate('typeof stolen')).toBe('undefined');
    await page.getByRole('link', { name: 'Open the receipt' }).click();
    await page.getByRole('heading', { name: 'This receipt is genuine' }).waitFor();
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    expect(await page.evaluate('typeof stolen')).toBe('undefined');
    await close();
  });
});

describe('checkout page for every buyer', () => {
  const shop = new Shop();
  let product: Product;
  beforeAll(async () => {
    await shop.open({ checkout_brand_name: 'Ada’s Weather', checkout_accent_hex: '#ffd400' });
    product = await shop.sell({ description: 'Hourly forecasts.', price: { asset: 'USDC', amount: '1234.5' } });
  }, 60_000);
  afterAll(() => shop.close());

  it.each([
    ['en', '1,234.50', 'Choose how to pay'],
    ['es', '1234,50', 'Elija cómo pagar'],
    ['de', '1.234,50', 'Wie möchten Sie zahlen?'],
    ['fr', '1\u202f234,50', 'Choisissez comment payer'],
    ['pt-BR', '1.234,50', 'Escolha como pagar'],
    ['ja', '1,234.50', 'お支払い方法を選んでください'],
  ])('the page is in %s up to the receipt', async (locale, amount, title) => {
    const signer = await shop.chain.newBuyer(2000n * USDC);
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer }], { locale });
    await page.goto(shop.urlOf(product, '?locale=fr'));
    await page.getByRole('heading', { name: 'Choisissez comment payer' }).waitFor();
    await page.goto(shop.urlOf(product));
    await page.getByRole('heading', { name: title }).waitFor();
    expect(await page.locator('.offer .amount').innerText()).toContain(amount);
    expect(await page.evaluate('document.documentElement.lang')).toBe(locale);
    expect(await findViolations(page)).toEqual([]);
    await shoot(`17-language-${locale}`);
    await page.locator('.way').last().getByRole('button').first().click();
    await page.getByRole('timer').waitFor();
    await page.locator('.by-hand summary').click();
    expect(await findViolations(page)).toEqual([]);
    await page.locator('button.wallet').click();
    await page.locator('.step-confirmed').waitFor({ timeout: 30_000 });
    expect(await page.locator('.panel').innerText()).toContain(amount);
    expect(await page.locator('main').innerText()).not.toMatch(/[{}]|undefined/);
    expect(await findViolations(page)).toEqual([]);
    await shoot(`17-paid-${locale}`);
    expect(offences).toEqual([]);
    await close();
  });

  it('the offer is readable without JavaScript', async () => {
    const { page, shoot, close } = await shop.visit('phone', [], { javaScriptEnabled: false });
    await page.goto(shop.urlOf(product));
    const text = await page.locator('body').innerText();
    for (const part of ['Ada’s Weather', '1,234.50', 'Forecasts, 30 days', 'How paying works', shop.wallet, 'allow JavaScript'])
      expect(text).toContain(part);
    await shoot('18-no-script');
    await close();
  });

  it('a buyer can pay with the keyboard alone', async () => {
    const signer = await shop.chain.newBuyer(2000n * USDC);
    const { page, close } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await page.getByRole('button', { name: 'Pay with Test wallet' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.className')).toBe('skip');
    expect(await page.locator('.skip').innerText()).toBe('Skip to the payment');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.id')).toBe('receipt-email');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Pay with Test wallet');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    await page.locator('#panel-title:focus').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Open the receipt');
    await close();
  });

  it.each(['light', 'dark'] as const)('the page fits 320 pixels in the %s scheme', async (colorScheme) => {
    const options = { viewport: { width: 320, height: 640 }, colorScheme };
    const signer = await shop.chain.newBuyer(1n);
    const elsewhere = { signer, name: 'Wallet eines anderen Netzwerks', chains: ['solana:mainnet'] };
    const { page, shoot, close } = await shop.visit('phone', [{ signer }, elsewhere], options);
    await page.goto(shop.urlOf(product, '?locale=de'));
    await page.getByRole('button', { name: 'Mit Test wallet zahlen' }).waitFor();
    const other = page.getByRole('button', { name: 'Mit Wallet eines anderen' });
    expect((await other.boundingBox())!.height).toBeLessThan(160);
    await other.focus();
    await page.keyboard.press('Enter');
    await page.locator('.problem', { hasText: 'bietet Solana Devnet (Testgeld) nicht an' }).waitFor();
    await page.getByRole('button', { name: 'Mit einer Wallet-App zahlen' }).click();
    await page.getByText('Von Hand senden').click();
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    expect(await findViolations(page)).toEqual([]);
    await shoot(`19-narrow-${colorScheme}`);
    await close();
  });

  it('the countdown is not announced every second', async () => {
    const { page, close } = await shop.visit('phone');
    await page.goto(shop.urlOf(product));
    await page.getByRole('button', { name: 'Pay with a wallet app' }).click();
    const said = (await page.evaluate(`new Promise((resolve) => {
      const said = [];
      const place = document.getElementById('announcement');
      new MutationObserver(() => said.push(place.textContent)).observe(place, { childList: true, characterData: true, subtree: true });
      setTimeout(() => resolve(said), 3500);
    })`)) as string[];
    expect(said.length).toBeLessThanOrEqual(1);
    expect(await page.getByRole('timer').getAttribute('aria-live')).toBe('off');
    await close();
  });

  it('amount, wallet, fee and rate are shown before the approval', async () => {
    const sold = await shop.sell({ accepted_assets: ['USDC', 'SOL'], price: { asset: 'USDC', amount: '15' } });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer, onAct: () => new Promise<string>(() => {}) }]);
    const feeWallet = (await shop.chain.newBuyer(0n)).address;
    await page.route('**/connect', async (route) => {
      const response = await route.fetch();
      const fee = { recipient: feeWallet, asset: 'SOL', amount: '0.002', base_units: '2000000' };
      return route.fulfill({ response, json: { ...((await response.json()) as object), fee } });
    });
    await page.goto(shop.urlOf(sold));
    await page.getByRole('radio', { name: 'SOL' }).check();
    await page.getByText('At the current rate.').waitFor();
    const { y, height } = (await page.locator('.payee').boundingBox())!;
    expect(y + height).toBeLessThan(844);
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByText(/^1 SOL = 150\.00/).waitFor();
    const waiting = await page.locator('.panel').innerText();
    for (const part of ['0.1\u00a0SOL', '0.098\u00a0SOL', shop.wallet, '0.002\u00a0SOL', feeWallet]) expect(waiting).toContain(part);
    expect(await findViolations(page)).toEqual([]);
    await shoot('29-waiting-sol');
    await page.getByRole('button', { name: 'Choose another way' }).click();
    await page.locator('.problem', { hasText: 'First close the request in Test wallet' }).waitFor();
    expect(await page.getByRole('radio', { name: 'USDC' }).isEnabled()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    await shoot('30-asset-fixed');
    expect(offences).toEqual([]);
    await close();
  });

  it.each(['phone', 'desktop'] as const)('a number is never broken across lines and a long description folds, on a %s', async (size) => {
    const name = 'A subscription to every forecast there is, for all places on earth and some beyond';
    const sold = await shop.sell({
      name,
      price: { asset: 'USDC', amount: '9999999999.123456' },
      description: 'All about the weather. '.repeat(200),
    });
    const { page, shoot, close } = await shop.visit(size, [{ signer: await shop.chain.newBuyer(1n) }]);
    for (const width of [320, size === 'phone' ? 390 : 1280]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(shop.urlOf(sold, '?locale=de'));
      const rows = await page.evaluate(`(() => {
        const range = document.createRange();
        range.selectNode([...document.querySelector('.offer .amount').childNodes].find(({ nodeType }) => nodeType === 3));
        return range.getClientRects().length;
      })()`);
      expect(rows).toBe(1);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    }
    const foldable = page.locator('.foldable');
    expect((await foldable.boundingBox())!.height).toBeLessThan(200);
    expect(await findViolations(page)).toEqual([]);
    await shoot('31-long');
    await page.getByText('Alles anzeigen').click();
    expect((await foldable.boundingBox())!.height).toBeGreaterThan(400);
    await page.getByText('Weniger anzeigen').waitFor();
    await close();
  });

  it('a receipt prints without its page controls', async () => {
    const { page, shoot, close } = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(2000n * USDC) }], {
      colorScheme: 'dark',
    });
    await page.goto(shop.urlOf(product));
    await page.getByRole('button', { name: 'Pay with Test wallet' }).click();
    await page.getByRole('link', { name: 'Open the receipt' }).click({ timeout: 30_000 });
    await page.evaluate('window.print = () => { window.isPrinted = true; }');
    await page.getByRole('button', { name: 'Print or save as PDF' }).click();
    expect(await page.evaluate('window.isPrinted')).toBe(true);
    await shoot('32-receipt-dark');
    await page.emulateMedia({ media: 'print' });
    for (const unwanted of ['footer', '#print', '.by-yourself', '.papers', '.seller >> nth=0'])
      expect(await page.locator(`${unwanted} >> visible=true`).count()).toBe(0);
    expect(await page.locator('main').innerText()).toContain(page.url().split('?')[0]!.split('/').slice(3).join('/'));
    await shoot('33-receipt-print');
    await close();
  });

  it('an unknown product shows a helpful page', async () => {
    const { page, offences, shoot, close } = await shop.visit('phone');
    const response = await page.goto(`${shop.baseUrl}/p/no-such-thing`);
    expect(response!.status()).toBe(404);
    await page.getByRole('heading', { name: 'There is nothing here' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(offences).toEqual([]);
    await shoot('20-not-found');
    await close();
  });

  it('the demo wallet pays a purchase and says what it is', async () => {
    const cheap = await shop.sell({ price: { asset: 'USDC', amount: '0.5' } });
    const { page, offences, shoot, close } = await shop.visit('desktop', [], { demo: true });
    await page.goto(shop.urlOf(cheap));
    await page.getByText('The money in it is not real.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('21-demo');
    const asked = page.getByRole('dialog', { name: 'Demo wallet' });
    const pay = () => page.getByRole('button', { name: 'Pay with Demo wallet' }).click();
    await pay();
    await asked.waitFor();
    expect(await asked.innerText()).toContain('0.50\u00a0USDC');
    expect(await asked.innerText()).toContain(shop.wallet);
    expect(await findViolations(page)).toEqual([]);
    await shoot('21-demo-asks');
    await asked.getByRole('button', { name: 'Decline' }).click();
    await page.locator('.problem', { hasText: 'You declined in your wallet. Nothing was paid.' }).waitFor();
    await pay();
    await asked.getByRole('button', { name: 'Too little money' }).click();
    await page.locator('.problem', { hasText: 'There is not enough USDC in this wallet.' }).waitFor();
    await pay();
    await asked.waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.problem', { hasText: 'You declined in your wallet.' }).waitFor();
    expect((await shop.readPayments(cheap)).map(({ status }) => status)).toEqual(['PENDING_SIGNATURE']);
    await pay();
    await asked.getByRole('button', { name: 'Approve' }).click();
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor({ timeout: 30_000 });
    expect(offences).toEqual([]);
    expect(inject('rpcUrl')).toContain('127.0.0.1');
    await close();
  });
});
