import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violationsOf } from './axe.ts';
import { type Product, press, Shop, seeHeading } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const statusesOf = async (product: Product) => (await shop.paymentsOf(product)).map(({ status }) => status).sort();

describe('a buyer who changes their mind', () => {
  it('sees what it costs in the other currency before anything is begun, and changes it after, without waiting', async () => {
    const product = await shop.sell({ accepted_assets: ['USDC', 'SOL'], price: { asset: 'USDC', amount: '15' } });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, shoot, close } = await shop.visit('desktop', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await page.getByRole('radio', { name: 'SOL' }).check();
    await page.getByText('≈\u00a00.1\u00a0SOL').first().waitFor();
    expect(await page.locator('.wallet .go').innerText()).toBe('≈\u00a00.1\u00a0SOL');
    expect(await violationsOf(page)).toEqual([]);
    await shoot('60-estimate');
    await press(page, 'Show a QR code');
    await page.locator('.due', { hasText: '0.1\u00a0SOL' }).waitFor();
    await page.getByRole('radio', { name: 'USDC' }).check();
    await page.locator('.due', { hasText: '15.00\u00a0USDC' }).waitFor();
    expect(await page.locator('.wallet .go').innerText()).toBe('15.00\u00a0USDC');
    expect(await violationsOf(page)).toEqual([]);
    await shoot('61-changed');
    expect(await statusesOf(product)).toEqual(['FAILED', 'PENDING_SIGNATURE']);
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'Paid');
    expect(await statusesOf(product)).toEqual(['CONFIRMED', 'FAILED']);
    expect(offences).toEqual([]);
    await close();
  });

  it('keeps the way that was open when the currency changes after a wallet was asked', async () => {
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

  it('is not let away from a payment whose wallet is asked in another tab', async () => {
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
    expect(await statusesOf(product)).toEqual(['PENDING_SIGNATURE']);
    await close();
  });

  it('may come from a printed code', async () => {
    const product = await shop.sell();
    const { page, offences, shoot, close } = await shop.visit('desktop');
    await page.goto(`${shop.baseUrl}/p/${product.slug}/qr`);
    await page.getByRole('img', { name: 'QR code' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await page.emulateMedia({ media: 'print' });
    await shoot('64-poster');
    expect(offences).toEqual([]);
    await close();
  });

  it('goes back to the shop by one link', async () => {
    const product = await shop.sell({ cancel_url: 'https://shop.example.com/basket' });
    const { page, close } = await shop.visit('phone');
    await page.goto(shop.urlOf(product));
    expect(await page.getByRole('link', { name: 'Back to shop.example.com' }).getAttribute('href')).toBe('https://shop.example.com/basket');
    expect(await violationsOf(page)).toEqual([]);
    await close();
  });
});

describe('a buyer whose time is over', () => {
  it('and who approved nothing begins anew at once, and pays once', async () => {
    // Without a length of its own: that of the service, which is short here.
    const product = await shop.sell({ session_seconds: undefined });
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, shoot, close } = await shop.visit('phone', [{ signer }]);
    await page.goto(shop.urlOf(product));
    await press(page, 'Pay with a wallet app');
    await page.getByRole('timer').waitFor();
    await seeHeading(page, 'The time to pay is over');
    const anew = page.getByRole('button', { name: 'I have not paid: start again now' });
    await anew.waitFor();
    expect(await page.locator('progress.bar').count()).toBe(1);
    expect(await violationsOf(page)).toEqual([]);
    await shoot('62-closing');
    await anew.click();
    await seeHeading(page, 'Choose how to pay');
    await press(page, 'Pay with Test wallet');
    await seeHeading(page, 'Paid');
    expect(await statusesOf(product)).toEqual(['CONFIRMED', 'FAILED']);
    await close();
  });
});

describe('a buyer who has paid', () => {
  it('is told until when, and what to do now, and does not buy twice by accident', async () => {
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
    expect(await violationsOf(page)).toEqual([]);
    await shoot('63-paid');
    expect(offences).toEqual([]);
    // After a refresh too.
    await page.reload();
    await page.getByText(`Access until ${until}`).waitFor();
    await close();
  });
});
