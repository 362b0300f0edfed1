import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { enter, register } from './merchant.ts';
import { press, Shop, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const DAY = 86_400_000;

/** Adds fields to GET /v1/account/me. The states behind them need emails that no browser receives. */
async function addAccountFields(page: Page, fields: object): Promise<void> {
  await page.route('**/v1/account/me', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), ...fields } });
  });
}
async function open(page: Page, email: string, title = 'Account'): Promise<void> {
  await page.goto(`${shop.baseUrl}/login`);
  await enter(page, email);
  await seeHeading(page, title);
}

describe('dashboard notices', () => {
  it.each([
    ['bounced', 'came back, so none is sent there any more.', 'Otherwise give another address with PATCH /v1/account/me/security.'],
    ['complained', 'was reported as spam', 'follow its link, and they come again.'],
  ])(
    'a notice says that the email address %s, gives the next step and a button that sends the confirmation email',
    async (problem, what, next) => {
      const { email } = await register(shop);
      const { page, offences, shoot, close } = await shop.visit('phone', [], { viewport: { width: 320, height: 640 } });
      await addAccountFields(page, { email_verified: true, email_problem: problem });
      await open(page, email);
      const note = page.locator('.notice', { hasText: what });
      await note.waitFor();
      expect(await note.innerText()).toContain(email);
      expect(await note.innerText()).toContain(next);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      expect(await findViolations(page)).toEqual([]);
      await shoot(`62-address-${problem}`);
      await press(page, 'Send confirmation e-mail');
      await page.getByText(`An e-mail is on its way to ${email}.`).waitFor();
      expect(offences).toEqual([]);
      await close();
    },
  );

  it('no notice is shown while emails are delivered', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('desktop');
    await open(page, email);
    expect(await page.locator('.notice').count()).toBe(0);
    await close();
  });

  it('a takeover notice lists the access that was revoked, and disappears after a month', async () => {
    const { email } = await register(shop);
    const claimed = { at: new Date(Date.now() - DAY).toISOString(), keys: 2, endpoints: 1, providers: 0, wallets: 3 };
    const { page, offences, shoot, close } = await shop.visit('phone');
    await addAccountFields(page, { claimed });
    await open(page, email, 'This account is yours now');
    await page.getByText('API keys: 2. Webhook endpoints: 1. Linked sign-in providers: 0. Payout wallets: 3.').waitFor();
    await page.getByText('Name your payout wallet, make new keys and enable your endpoints before you sell.').waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('63-claimed');
    await page.unrouteAll({ behavior: 'wait' });
    await addAccountFields(page, { claimed: { ...claimed, at: new Date(Date.now() - 31 * DAY).toISOString() } });
    await page.reload();
    await seeHeading(page, 'Account');
    expect(await page.locator('#claimed').count()).toBe(0);
    expect(offences).toEqual([]);
    await close();
  });
});
