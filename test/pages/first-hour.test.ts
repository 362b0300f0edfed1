import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BUSINESS, emailTo, linkIn, newEmail, PASSWORD } from './merchant.ts';
import { Shop, type Size, seeHeading } from './shop.ts';

const CLICKS_MAX = 12;
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

/** Counts the clicks of a person. */
class Clicks {
  count = 0;

  async press(page: Page, role: 'button' | 'link', name: string | RegExp): Promise<void> {
    this.count++;
    await page.getByRole(role, { name, exact: true }).first().click();
  }
}

describe('first hour of a merchant', () => {
  it.each<Size>(['phone', 'desktop'])('twelve clicks lead from the front page to the first sale on Home, on a %s', async (size) => {
    const clicks = new Clicks();
    const email = newEmail();
    const { page, offences, shoot, close } = await shop.visit(size);
    await page.goto(shop.baseUrl);
    await clicks.press(page, 'link', 'Sell something');
    await seeHeading(page, 'Create an account');
    await page.getByLabel('Your name or that of your business').fill(BUSINESS);
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('New password').fill(PASSWORD);
    await shoot('90-register');
    await clicks.press(page, 'button', 'Create the account');
    await seeHeading(page, 'Home');
    await shoot('91-home-empty');

    await page.goto(linkIn(await emailTo(shop, email, 'verify_email')));
    await clicks.press(page, 'button', 'Confirm the address');
    await seeHeading(page, 'Your address is confirmed');
    await clicks.press(page, 'link', 'To the dashboard');
    await seeHeading(page, 'Home');
    expect(await page.locator('main').innerText()).toContain('Done: Confirm your email address');

    await clicks.press(page, 'link', 'Name the wallet that buyers pay to');
    await page.getByLabel('Payout wallet').first().fill(shop.wallet);
    await clicks.press(page, 'button', 'Set wallet');
    await page.getByRole('status').filter({ hasText: 'saved' }).waitFor();
    await clicks.press(page, 'link', BUSINESS);
    await clicks.press(page, 'link', 'Create a template');
    await page.getByLabel('Name', { exact: true }).fill('Forecasts, 30 days');
    await page.getByLabel('Price', { exact: true }).fill('12.5');
    await page.getByLabel('Days of access').fill('30');
    await shoot('92-template-new');
    await clicks.press(page, 'button', 'Create template');
    await seeHeading(page, 'Template');
    await shoot('93-template');
    const address = await page.locator('dd a[href*="/p/"]').first().innerText();

    const signer = await shop.chain.newBuyer(100_000_000n);
    const buyer = await shop.visit(size, [{ signer }]);
    await buyer.page.goto(address);
    await clicks.press(buyer.page, 'button', /^Pay with Test wallet/);
    await seeHeading(buyer.page, 'Paid');
    await buyer.close();

    await clicks.press(page, 'link', BUSINESS);
    await seeHeading(page, '12.5 USDC in 30 days');
    expect(await page.getByText('To your first sale').count()).toBe(0);
    await shoot('94-home-sold');
    expect(clicks.count).toBeLessThanOrEqual(CLICKS_MAX);
    expect(offences).toEqual([]);
    await close();
  });
});
