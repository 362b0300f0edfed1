import { generateKeyPairSigner } from '@solana/kit';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { emailTo, newEmail } from './merchant.ts';
import { type Product, press, Shop, type Size, seeHeading, type TestWallet } from './shop.ts';

const USDC = 1_000_000n;
const TITLE = 'Your purchases';
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const urlOf = (path: string): string => `${shop.baseUrl}${path}`;
const newWallet = async (): Promise<TestWallet> => ({
  signer: await shop.chain.newBuyer(100n * USDC),
  features: ['solana:signTransaction', 'solana:signMessage'],
});

async function buy(page: Page, product: Product): Promise<void> {
  await page.goto(shop.urlOf(product));
  await press(page, 'Pay with Test wallet');
  await seeHeading(page, 'Paid');
}

/** Reloads until the purchase is folded, which takes up to a minute. */
async function seePurchase(page: Page, name: string): Promise<void> {
  for (let tries = 0; tries < 40; tries++) {
    if ((await page.locator('main').innerText()).includes(name)) return;
    await new Promise((resolve) => setTimeout(resolve, 1000));
    await page.reload();
  }
  throw new Error(`no ${name} at ${page.url()}`);
}

describe('/me', () => {
  it.each<Size>(['phone', 'desktop'])(
    'a buyer signs in with the wallet that paid and signs out, with the keyboard, on a %s',
    async (size) => {
      const product = await shop.sell();
      const { page, offences, shoot, close } = await shop.visit(size, [await newWallet()]);
      await buy(page, product);
      await page.getByRole('link', { name: TITLE }).click();
      await seeHeading(page, TITLE);
      const button = page.getByRole('button', { name: 'Sign in with Test wallet' });
      await button.waitFor();
      expect(await findViolations(page)).toEqual([]);
      await shoot('90-me-sign-in');
      await button.focus();
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Sign out' }).waitFor();
      await seePurchase(page, 'Forecasts, 30 days');
      expect(await findViolations(page)).toEqual([]);
      await shoot('91-me-purchases');
      await page.locator('details summary').last().click();
      await page.locator('a[href^="/me/details"]').click();
      await page.locator('input[name="name"]').fill('Grace & Söhne');
      expect(await findViolations(page)).toEqual([]);
      await shoot('92-me-details');
      await page.locator('form.act button').last().click();
      await page.getByRole('status').waitFor();
      expect(await page.locator('input[name="name"]').inputValue()).toBe('Grace & Söhne');
      await page.goto(urlOf('/me'));
      await page.getByRole('button', { name: 'Sign out' }).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('status').filter({ hasText: 'You are signed out.' }).waitFor();
      expect(offences).toEqual([]);
      await close();
    },
  );

  it('a wallet that declines gets a message, and a browser without a wallet an explanation', async () => {
    const signer = await generateKeyPairSigner();
    const declining: TestWallet = { signer, features: ['solana:signMessage'], onAct: () => 'error:4001:User rejected the request.' };
    const { page, close } = await shop.visit('phone', [declining]);
    await page.goto(urlOf('/me'));
    await press(page, 'Sign in with Test wallet');
    await page.getByRole('alert').filter({ hasText: 'The wallet did not sign.' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await close();
    const bare = await shop.visit('phone');
    await bare.page.goto(urlOf('/me'));
    await bare.page.getByText('No Solana wallet was found').waitFor();
    expect(await findViolations(bare.page)).toEqual([]);
    await bare.close();
  });

  it('a buyer without scripts signs in by an emailed link, which works once', async () => {
    const [product, email] = [await shop.sell(), newEmail()];
    const payer = await shop.visit('desktop', [await newWallet()]);
    await payer.page.goto(shop.urlOf(product));
    await payer.page.getByLabel('E-mail for the receipt (optional)').fill(email);
    await press(payer.page, 'Pay with Test wallet');
    await seeHeading(payer.page, 'Paid');
    await payer.page.goto(urlOf('/me'));
    await press(payer.page, 'Sign in with Test wallet');
    await payer.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await seePurchase(payer.page, 'Forecasts, 30 days');
    await payer.close();

    const { page, offences, shoot, close } = await shop.visit('phone', [], { javaScriptEnabled: false });
    await page.goto(urlOf('/me'));
    expect(await page.locator('noscript p').isVisible()).toBe(true);
    await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
    await press(page, 'Send me a link');
    await page.getByText('a link is on its way').waitFor();
    const link = /https?:\S+\/me\/link\?token=\S+/.exec((await emailTo(shop, email, 'buyer_link')).text)![0];
    await page.goto(link);
    await shoot('92-me-link');
    await press(page, 'See my purchases');
    await page.getByText(`Signed in as ${email}`).waitFor();
    await page.goto(link);
    await press(page, 'See my purchases');
    await seeHeading(page, 'This link no longer works');
    expect(offences).toEqual([]);
    await close();
  });

  it('each language renders without a violation', async () => {
    const { page, close } = await shop.visit('desktop');
    for (const locale of ['es', 'de', 'fr', 'pt-BR', 'ja']) {
      await page.goto(urlOf(`/me?locale=${locale}`));
      expect(await page.evaluate('document.documentElement.lang')).toBe(locale);
      expect(await findViolations(page)).toEqual([]);
      await page.goto(urlOf(`/me/link?token=x&locale=${locale}`));
      expect(await findViolations(page)).toEqual([]);
    }
    await close();
  });
});
