import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violationsOf } from './axe.ts';
import { enter, letterTo, linkIn, newEmail, register, sessionOf, signIn } from './merchant.ts';
import { press, Shop, seeHeading } from './shop.ts';

const NEW_PASSWORD = 'battery staple 9';
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const urlOf = (path: string): string => `${shop.baseUrl}${path}`;

/** Everywhere that a page could leave a token behind: its address, its document, and what the browser stores of it. */
const tracesOf = (page: Page): Promise<string> =>
  page.evaluate(
    "[location.href, document.documentElement.outerHTML, ...Object.values(sessionStorage), ...Object.values(localStorage)].join(' ')",
  );

/** What was asked for while a page was open: addresses, and the headers that name where the question came from. */
function recordRequests(page: Page): string[] {
  const seen: string[] = [];
  page.on('request', (request) => seen.push(`${request.url()} ${request.headers().referer ?? ''}`));
  return seen;
}

async function askForPassword(page: Page, email: string): Promise<void> {
  await page.goto(urlOf('/login'));
  await press(page, 'Forgotten your password?');
  await seeHeading(page, 'Forgotten password');
  await page.getByLabel('E-mail').fill(email);
  await press(page, 'Send the e-mail');
  await seeHeading(page, 'Check your inbox');
}

/** As the page itself has it. Its first words stand there before its script, which takes the token out. */
const addressOf = (page: Page): Promise<string> => page.evaluate('location.href');

describe('a forgotten password', () => {
  it('leads over a letter to a new one, which ends every session; its link works once and is nowhere to be found', async () => {
    const { email, token: session } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit('phone');
    const requests = recordRequests(page);
    await askForPassword(page, email);
    expect(await page.locator('main').innerText()).toContain(email);
    expect(await violationsOf(page)).toEqual([]);
    await shoot('45-letter-asked');
    const link = linkIn(await letterTo(shop, email, 'reset_password'));
    const token = link.split('#token=')[1]!;
    expect(link.startsWith(urlOf('/reset-password#token='))).toBe(true);
    await page.goto(link);
    await seeHeading(page, 'Choose a new password');
    await expect.poll(() => addressOf(page)).toBe(urlOf('/reset-password'));
    expect(await violationsOf(page)).toEqual([]);
    await shoot('46-reset');
    // Loaded again, and in another language: the link is still good, and the address still does not hold it.
    await page.getByRole('link', { name: 'Deutsch' }).click();
    await seeHeading(page, 'Neues Passwort wählen');
    await page.reload();
    expect(await addressOf(page)).not.toContain(token);
    await page.getByRole('link', { name: 'English' }).click();
    await page.getByLabel('New password').fill('short');
    await press(page, 'Set the password');
    await page.locator('.problem', { hasText: 'A password has 8 to 128 characters.' }).waitFor();
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await press(page, 'Set the password');
    await seeHeading(page, 'Your new password is set');
    expect(await violationsOf(page)).toEqual([]);
    await shoot('47-reset-done');
    expect(await tracesOf(page)).not.toContain(token);
    expect(requests.filter((request) => request.includes(token.slice(-20)))).toEqual([]);
    await expect(shop.api.must('GET', '/v1/account/me', { credential: session })).rejects.toThrow(/401/);
    await page.goBack();
    expect(await addressOf(page)).not.toContain(token);

    await page.goto('about:blank');
    await page.goto(link);
    await page.getByLabel('New password').fill('another one entirely');
    await press(page, 'Set the password');
    await seeHeading(page, 'This link no longer works');
    expect(await violationsOf(page)).toEqual([]);
    await shoot('48-link-used');
    expect(await tracesOf(page)).not.toContain(token);
    await page.getByRole('link', { name: 'Send a new e-mail' }).click();
    await seeHeading(page, 'Forgotten password');
    await page.goto(urlOf('/login'));
    await enter(page, email, NEW_PASSWORD);
    await seeHeading(page, 'Account');
    expect(await page.locator('main').innerText()).toContain('(confirmed)');
    expect(offences).toEqual([]);
    await close();
  });

  it('is answered alike for an address that nobody has, and in words where there is no mail', async () => {
    const { page, close } = await shop.visit('phone');
    await askForPassword(page, newEmail());
    await page.route('**/v1/auth/password/forgot', (route) =>
      route.fulfill({ status: 503, json: { code: 'mail_not_configured', detail: 'no mail', meta: {} } }),
    );
    await press(page, 'Back');
    await press(page, 'Forgotten your password?');
    await page.getByLabel('E-mail').fill(newEmail());
    await press(page, 'Send the e-mail');
    await page.locator('.problem', { hasText: 'This service sends no e-mail.' }).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await close();
  });
});

describe('an address', () => {
  it('is confirmed by the link of its letter, when a person presses and not before; the second time says so', async () => {
    const { email, token: session } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit('desktop');
    await signIn(shop, page, email);
    await press(page, 'Send confirmation e-mail');
    await page.getByText(`An e-mail is on its way to ${email}.`).waitFor();
    const link = linkIn(await letterTo(shop, email, 'verify_email'));
    const token = link.split('#token=')[1]!;
    const isVerified = async () => {
      const { email_verified } = await shop.api.must<{ email_verified: boolean }>('GET', '/v1/account/me', { credential: session });
      return email_verified;
    };
    const requests = recordRequests(page);
    await page.goto(link);
    await seeHeading(page, 'Confirm your e-mail address');
    await expect.poll(() => addressOf(page)).toBe(urlOf('/verify-email'));
    expect(await violationsOf(page)).toEqual([]);
    await shoot('49-verify');
    // A program that opens every link of a letter confirms nothing.
    expect(await isVerified()).toBe(false);
    await page.getByRole('button', { name: 'Confirm the address' }).focus();
    await page.keyboard.press('Enter');
    await seeHeading(page, 'Your address is confirmed');
    await page.locator('#panel-title:focus').waitFor();
    expect(await isVerified()).toBe(true);
    expect(await violationsOf(page)).toEqual([]);
    expect(await tracesOf(page)).not.toContain(token);
    expect(requests.filter((request) => request.includes(token.slice(-20)))).toEqual([]);
    await page.goto('about:blank');
    await page.goto(link);
    await press(page, 'Confirm the address');
    await seeHeading(page, 'This link no longer works');
    await page.getByText('there is nothing left to do').waitFor();
    await page.getByRole('link', { name: 'To the dashboard' }).click();
    await page.getByText('(confirmed)').waitFor();
    expect(offences).toEqual([]);
    await close();
  });

  it('is taken off an account that its reader did not make: the page names that account and the day it was made', async () => {
    const { email, token: session } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit('phone');
    await page.goto(linkIn(await letterTo(shop, email, 'verify_email')));
    await page.getByText(/^Account: .+ Created: .*\d{4}/).waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await shoot('49-verify-not-me');
    await press(page, 'This was not me');
    await seeHeading(page, 'The address was taken off the account');
    expect(await violationsOf(page)).toEqual([]);
    const account = await shop.api.must<{ email: string | null }>('GET', '/v1/account/me', { credential: session });
    expect(account.email).toBeNull();
    expect(offences).toEqual([]);
    await close();
  });

  it('is told in words when its link is too old, is cut off, or there is no connection', async () => {
    const { page, shoot, close } = await shop.visit('phone');
    const old = `${crypto.randomUUID()}.${(Date.now() - 1000).toString(36)}.${'A'.repeat(43)}`;
    await page.goto(urlOf(`/verify-email#token=${old}`));
    await page.route('**/v1/account/email/verify', (route) => route.abort(), { times: 1 });
    await press(page, 'Confirm the address');
    await page.locator('.problem', { hasText: 'No connection.' }).waitFor();
    await press(page, 'Confirm the address');
    await seeHeading(page, 'This link is too old');
    expect(await violationsOf(page)).toEqual([]);
    await shoot('50-link-old');
    for (const cut of ['/verify-email', '/verify-email#token=', '/reset-password#token=%3Cscript%3E', '/reset-password#payment=1']) {
      await page.goto('about:blank');
      await page.goto(urlOf(cut));
      await seeHeading(page, 'The link is not complete');
    }
    expect(await violationsOf(page)).toEqual([]);
    // Another link, opened where the page stands already.
    await page.evaluate(`location.hash = '#token=${old}'`);
    await seeHeading(page, 'Choose a new password');
    await expect.poll(() => addressOf(page)).toBe(urlOf('/reset-password'));
    expect(await sessionOf(page)).toBeNull();
    await close();
  });
});
