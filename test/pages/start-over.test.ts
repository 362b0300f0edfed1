import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { type Product, press, Shop, seeHeading } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const readStatuses = async (product: Product) => (await shop.readPayments(product)).map(({ status }) => status).sort();

describe('checkout page: changing the choice', () => {
  it('the page shows the price in the other currency before a payment begins, and switches it at once afterwards', async () => {
    const product = await shop.sell({ accepted_assets: ['USDC', 'SOL'], price: { asset: 'USDC', amount: '15' } });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, shoot, close } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await page.getByRole('radio', { name: 'SOL' }).check();
    await page.getByText('≈\u00a00.1\u00a0SOL').first().waitFor();
    expect(await page.locator('.wallet .go').innerText()).toBe('≈\u00a00.1\u00a0SOL');
    expect(await findViolations(page)).toEqual([]);
    await shoot('60-estimate');
    await press(page, 'Show a QR code');
    await page.locator('.due', { hasText: '0.1\u00a0SOL' }).waitFor();
    await page.getByRole('radio', { name: 'USDC' }).check();
    await page.locator('.due', { hasText: '15.00\u00a0USDC' }).waitFor();
    expect(await page.locator('.wallet .go').innerText()).toBe('15.00\u00a0USDC');
    expect(await findViolations(page)).toEqual([]);
    await shoot('61-changed');
    expect(await readStatuses(product)).toEqual(['FAILED', 'PENDING_SIGNATURE']);
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'Paid');
    expect(await readStatuses(product)).toEqual(['CONFIRMED', 'FAILED']);
    expect(offences).toEqual([]);
    await close();
  });

  it('a currency change after the wallet was asked leaves the chosen way of paying open', async () => {
    const product = await shop.sell({ accepted_assets: ['USDC', 'SOL'], price: { asset: 'USDC', amount: '15' } });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, close } = await shop.visit('desktop', [{ signer, onAct: () => 'error:4001:User rejected the request.' }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with Test wallet');
    await page.locator('.problem', { hasText: 'You declined in your wallet.' }).waitFor();
    await page.getByRole('radio', { name: 'SOL' }).check();
    await page.locator('.wallet .go', { hasText: '0.1\u00a0SOL' }).waitFor();
    await page.getByRole('button', { name: 'Show a QR code' }).waitFor();
    expect(await page.getByRole('img', { name: 'QR code' }).count()).toBe(0);
    expect(offences).toEqual([]);
    await close();
  });

  it('a currency change is refused while a wallet is asked in another tab', async () => {
    const product = await shop.sell({ accepted_assets: ['USDC', 'SOL'], price: { asset: 'USDC', amount: '15' } });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, close } = await shop.visit('desktop', [{ signer, onAct: () => new Promise<string>(() => {}) }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'Approve the payment in Test wallet');
    const other = await page.context().newPage();
    await other.goto(shop.urlOf(product));
    await other.getByRole('radio', { name: 'SOL' }).click();
    await other.locator('.problem', { hasText: 'being paid in another tab' }).waitFor();
    expect(await other.getByRole('radio', { name: 'USDC' }).isChecked()).toBe(true);
    expect(await readStatuses(product)).toEqual(['PENDING_SIGNATURE']);
    await close();
  });

  it('the printable QR page shows the code without accessibility findings', async () => {
    const product = await shop.sell();
    const { page, offences, shoot, close } = await shop.visit('desktop');
    await page.goto(`${shop.baseUrl}/p/${product.slug}/qr`);
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await page.emulateMedia({ media: 'print' });
    await shoot('64-poster');
    expect(offences).toEqual([]);
    await close();
  });

  it('a link leads back to the cancel_url of the product', async () => {
    const product = await shop.sell({ cancel_url: 'https://shop.example.com/basket' });
    const { page, close } = await shop.visit('phone');
    await page.goto(shop.urlOf(product));
    expect(await page.getByRole('link', { name: 'Back to shop.example.com' }).getAttribute('href')).toBe('https://shop.example.com/basket');
    expect(await findViolations(page)).toEqual([]);
    await close();
  });
});

describe('checkout page: session over', () => {
  it('a buyer who approved nothing can start again at once, and pays once', async () => {
    // Without session_seconds the service's own session length applies, which is short here.
    const product = await shop.sell({ session_seconds: undefined });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, shoot, close } = await shop.visit('phone', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with a wallet app');
    await page.getByRole('timer').waitFor();
    await seeHeading(page, 'The time to pay is over');
    const startOver = page.getByRole('button', { name: 'I have not paid: start again now' });
    await startOver.waitFor();
    expect(await page.locator('progress.bar').count()).toBe(1);
    expect(await findViolations(page)).toEqual([]);
    await shoot('62-closing');
    await startOver.click();
    await seeHeading(page, 'Choose how to pay');
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'Paid');
    expect(await readStatuses(product)).toEqual(['CONFIRMED', 'FAILED']);
    await close();
  });
});

describe('checkout page: paid', () => {
  it('the paid page shows the access end and the next step, hides the second purchase, and survives a reload', async () => {
    const product = await shop.sell({ access_period_days: 30 });
    const { page, offences, shoot, close } = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'Paid');
    const until = new Intl.DateTimeFormat('en', { year: 'numeric', month: 'long', day: 'numeric' }).format(Date.now() + 30 * 86_400_000);
    await page.getByText(`Access until ${until}`).waitFor();
    await page.getByText('The seller knows.').waitFor();
    expect(await page.getByRole('heading', { name: 'How paying works' }).isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: 'Buy once more' }).isVisible()).toBe(false);
    await page.getByText('Transaction', { exact: true }).click();
    expect(await page.getByRole('link', { name: 'Look it up on the network' }).getAttribute('href')).toMatch(
      /explorer\.solana\.com\/tx\/\w{80,}/,
    );
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await press(page, 'Copy the link to the receipt');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(new RegExp(`^${shop.baseUrl}/r/[0-9a-f-]{36}$`));
    expect(await findViolations(page)).toEqual([]);
    await shoot('63-paid');
    expect(offences).toEqual([]);
    await page.reload();
    await page.getByText(`Access until ${until}`).waitFor();
    await close();
  });
});
