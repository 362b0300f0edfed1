import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { emailTo, enter, linkIn, newEmail, signIn } from './merchant.ts';
import { press, Shop, seeHeading } from './shop.ts';

const USDC = 1_000_000n;
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

/** Buys a USDC-priced product with SOL and opens its receipt. */
async function buy(page: Page): Promise<string> {
  const product = await shop.sell({ name: 'Forecasts & “more”', accepted_assets: ['USDC', 'SOL'], price: { asset: 'USDC', amount: '15' } });
  await page.goto(shop.urlOf(product));
  await page.getByRole('radio', { name: 'SOL' }).check();
  await press(page, 'Pay with Test wallet');
  await page.getByRole('link', { name: 'Open the receipt' }).click({ timeout: 30_000 });
  await seeHeading(page, 'This receipt is genuine');
  return new URL(page.url()).pathname;
}

describe('receipt page', () => {
  it('the page links the PDF, email and explorer, shows price and rate, and prints without its buttons', async () => {
    const signer = await shop.chain.newBuyer(100n * USDC);
    const { page, offences, shoot, close } = await shop.visit('desktop', [{ signer }]);
    const path = await buy(page);
    const receiptId = path.split('/')[2]!;
    const text = await page.locator('main').innerText();
    expect(await page.locator('h1').innerText()).toBe('Forecasts & “more”');
    expect(text).toMatch(/Access until/);
    expect(text.indexOf('Access until')).toBeLessThan(text.indexOf('This receipt is genuine'));
    expect(await page.getByText('Check it yourself').isVisible()).toBe(false);
    await page.getByText('How do I know?').click();
    await page.getByText('Check it yourself').waitFor();
    await page.getByText('Your own browser checked the signature too.').waitFor();
    expect(text).toMatch(/15\.00\u00a0USDC at 150\.00\u00a0USDC for one SOL, by \S+ at /);
    expect(await findViolations(page)).toEqual([]);
    await shoot('55-receipt');
    const pdf = await fetch(`${shop.baseUrl}${await page.getByRole('link', { name: 'Open as PDF' }).getAttribute('href')}`);
    expect([pdf.status, pdf.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect(
      Buffer.from(await pdf.arrayBuffer())
        .subarray(0, 5)
        .toString(),
    ).toBe('%PDF-');
    const mailto = new URL((await page.getByRole('link', { name: 'Send by e-mail' }).getAttribute('href'))!);
    expect([mailto.protocol, mailto.searchParams.get('subject'), mailto.searchParams.get('body')]).toEqual([
      'mailto:',
      'Receipt: Forecasts & “more”',
      `${shop.baseUrl}${path}`,
    ]);
    const explorer = page.getByRole('link', { name: 'Look it up on the network' });
    expect(await explorer.getAttribute('href')).toMatch(/^https:\/\/explorer\.solana\.com\/tx\/[1-9A-HJ-NP-Za-km-z]+\?cluster=devnet$/);
    expect(await explorer.getAttribute('rel')).toBe('noopener noreferrer');
    await page.evaluate('window.print = () => { window.isPrinted = true; }');
    await press(page, 'Print or save as PDF');
    expect(await page.evaluate('window.isPrinted')).toBe(true);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const unwanted of ['footer', '.papers', '.seller', '.by-yourself'])
      expect(await page.locator(unwanted).first().isVisible()).toBe(false);
    for (const part of ['15.00', receiptId, signer.address])
      expect((await page.locator('main').innerText()).replace(/\s/g, '')).toContain(part);
    expect(await page.evaluate("getComputedStyle(document.querySelector('.sheet')).backgroundColor")).toBe('rgb(255, 255, 255)');
    await shoot('56-receipt-print');
    expect(offences).toEqual([]);
    await close();
  });

  it.each(['light', 'dark'] as const)('the page fits 320 pixels in three languages with the %s scheme', async (colorScheme) => {
    const options = { viewport: { width: 320, height: 640 }, colorScheme };
    const { page, shoot, close } = await shop.visit('phone', [{ signer: await shop.chain.newBuyer(100n * USDC) }], options);
    const path = await buy(page);
    for (const locale of ['de', 'ja', 'fr']) {
      await page.goto(`${shop.baseUrl}${path}?locale=${locale}`);
      await page.locator('#print').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      expect(await findViolations(page)).toEqual([]);
      await shoot(`57-receipt-${locale}-${colorScheme}`);
    }
    await close();
  });

  it('the seller signs in from the page and emails the proof, and no other account can', async () => {
    const { page, offences, close } = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(100n * USDC) }]);
    const path = await buy(page);
    const link = linkIn(await emailTo(shop, shop.email, 'verify_email'));
    await shop.api.must('POST', '/v1/account/email/verify', { body: { token: link.split('#token=')[1] } });
    await page.locator('.seller a').click();
    await enter(page, shop.email);
    await seeHeading(page, 'Receipt');
    const to = newEmail();
    await page.locator('#send_proof-email').fill(to);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'The proof is on its way.' }).waitFor();
    const sent = await emailTo(shop, to, 'receipt_proof');
    expect(sent.text).toContain(`${shop.baseUrl}${path}`);
    await shop.sell();
    await signIn(shop, page, shop.email);
    await page.goto(`${shop.baseUrl}/dashboard/receipts/${path.split('/').at(-1)}`);
    await page.getByText('Look in the test data').waitFor();
    expect(offences.filter((one) => !String(one).includes('404'))).toEqual([]);
    await close();
  });
});
