import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from '../support/people/authenticator-app.ts';
import { findViolations } from './axe.ts';
import { emailTo, enter, linkIn, newEmail, PASSWORD, readSession, register, signIn } from './merchant.ts';
import { press, Shop, seeHeading } from './shop.ts';

const NEW_PASSWORD = 'battery staple 9';
const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const urlOf = (path: string): string => `${shop.baseUrl}${path}`;

/** Returns every text in which a page could leave a token: address, document and storage. */
const readTraces = (page: Page): Promise<string> =>
  page.evaluate(
    "[location.href, document.documentElement.outerHTML, ...Object.values(sessionStorage), ...Object.values(localStorage)].join(' ')",
  );

/** Records the URLs and Referer headers that the page requests. */
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

/** Sends the form of a new password, and returns the body that the page posts. */
async function bodyOfReset(page: Page): Promise<unknown> {
  const posted = page.waitForRequest((request) => request.url().endsWith('/v1/auth/password/reset'));
  await press(page, 'Set the password');
  return (await posted).postDataJSON();
}

/** Reads the address in the page. The token is removed only after the page's script has run. */
const readAddress = (page: Page): Promise<string> => page.evaluate('location.href');

describe('password reset page', () => {
  it('the emailed link sets a new password once, ends every session, and leaves its token in no address or storage', async () => {
    const { email, token: session } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit('phone');
    const requests = recordRequests(page);
    await askForPassword(page, email);
    expect(await page.locator('main').innerText()).toContain(email);
    expect(await findViolations(page)).toEqual([]);
    await shoot('45-letter-asked');
    const link = linkIn(await emailTo(shop, email, 'reset_password'));
    const token = link.split('#token=')[1]!;
    expect(link.startsWith(urlOf('/reset-password#token='))).toBe(true);
    await page.goto(link);
    await seeHeading(page, 'Choose a new password');
    await expect.poll(() => readAddress(page)).toBe(urlOf('/reset-password'));
    expect(await findViolations(page)).toEqual([]);
    await shoot('46-reset');
    await page.getByRole('link', { name: 'Deutsch' }).click();
    await seeHeading(page, 'Neues Passwort wählen');
    await page.reload();
    expect(await readAddress(page)).not.toContain(token);
    await page.getByRole('link', { name: 'English' }).click();
    const endOthers = page.getByLabel('Also end all other access');
    await page.getByLabel('New password').fill('short');
    expect(await bodyOfReset(page)).toMatchObject({ end_others: false });
    await page.locator('.problem', { hasText: 'A password has 8 to 128 characters.' }).waitFor();
    await page.getByLabel('New password').fill(NEW_PASSWORD);
    await endOthers.check();
    expect(await bodyOfReset(page)).toMatchObject({ end_others: true });
    await seeHeading(page, 'Your new password is set');
    expect(await findViolations(page)).toEqual([]);
    await shoot('47-reset-done');
    expect(await readTraces(page)).not.toContain(token);
    expect(requests.filter((request) => request.includes(token.slice(-20)))).toEqual([]);
    await expect(shop.api.must('GET', '/v1/account/me', { credential: session })).rejects.toThrow(/401/);
    await page.goBack();
    expect(await readAddress(page)).not.toContain(token);

    await page.goto('about:blank');
    await page.goto(link);
    await page.getByLabel('New password').fill('another one entirely');
    await press(page, 'Set the password');
    await seeHeading(page, 'This link no longer works');
    expect(await findViolations(page)).toEqual([]);
    await shoot('48-link-used');
    expect(await readTraces(page)).not.toContain(token);
    await page.getByRole('link', { name: 'Send a new e-mail' }).click();
    await seeHeading(page, 'Forgotten password');
    await page.goto(urlOf('/login'));
    await enter(page, email, NEW_PASSWORD);
    await seeHeading(page, 'Home');
    expect(await page.locator('main').innerText()).toContain('Done: Confirm your email address');
    expect(offences).toEqual([]);
    await close();
  });

  it('the answer is the same for an unknown address, and a service without email shows an error', async () => {
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
    expect(await findViolations(page)).toEqual([]);
    await close();
  });
});

describe('sign-in link page', () => {
  /** Calls the service from a network that the browser does not share. */
  const call = (path: string, body: object): Promise<Response> =>
    fetch(urlOf(path), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'cf-connecting-ip': '203.0.113.5' },
      body: JSON.stringify(body),
    });

  it('after many wrong passwords a new network signs in by the emailed link, once, and its token is left nowhere', async () => {
    const email = newEmail();
    expect((await call('/v1/auth/register', { email, password: PASSWORD, display_name: 'Ada' })).status).toBe(201);
    for (let tries = 0; tries < 25; tries++)
      await Promise.all(Array.from({ length: 4 }, () => call('/v1/auth/login', { email, password: 'a wrong password' })));
    const { page, offences, shoot, close } = await shop.visit('phone');
    await page.goto(urlOf('/login'));
    await enter(page, email, PASSWORD);
    await page.locator('.problem', { hasText: 'Many wrong passwords were tried for this account.' }).waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await readSession(page)).toBeNull();
    const link = linkIn(await emailTo(shop, email, 'sign_in_link'));
    const token = link.split('#token=')[1]!;
    const requests = recordRequests(page);
    await page.goto(link);
    await seeHeading(page, 'Sign in with this link');
    await expect.poll(() => readAddress(page)).toBe(urlOf('/sign-in'));
    expect(await findViolations(page)).toEqual([]);
    await shoot('51-sign-in-link');
    expect(await readSession(page)).toBeNull();
    await page.getByRole('button', { name: 'Sign in' }).focus();
    await page.keyboard.press('Enter');
    await seeHeading(page, 'Home');
    expect(await readTraces(page)).not.toContain(token);
    expect(requests.filter((request) => request.includes(token.slice(-20)))).toEqual([]);
    await page.goto('about:blank');
    await page.goto(link);
    await press(page, 'Sign in');
    await seeHeading(page, 'This link no longer works');
    expect(await findViolations(page)).toEqual([]);
    expect(offences).toEqual([]);
    await close();
  });

  it('a person with an authenticator app enters its code after the link', async () => {
    const email = newEmail();
    const made = await call('/v1/auth/register', { email, password: PASSWORD, display_name: 'Ada' });
    const { token } = (await made.json()) as { token: string };
    const { secret } = await shop.api.must<{ secret: string }>('POST', '/v1/account/totp', { credential: token });
    const app = new App(secret);
    await shop.api.must('POST', '/v1/account/totp/confirm', { credential: token, body: { code: await app.codeBefore() } });
    for (let tries = 0; tries < 25; tries++)
      await Promise.all(Array.from({ length: 4 }, () => call('/v1/auth/login', { email, password: 'a wrong password' })));
    const { page, offences, close } = await shop.visit('phone');
    await page.goto(urlOf('/login'));
    await enter(page, email, PASSWORD);
    await page.locator('.problem', { hasText: 'Many wrong passwords were tried for this account.' }).waitFor();
    await page.goto(linkIn(await emailTo(shop, email, 'sign_in_link')));
    await press(page, 'Sign in');
    await seeHeading(page, 'One more step');
    expect(await readSession(page)).toBeNull();
    await page.getByLabel('Code', { exact: true }).fill(app.code());
    await press(page, 'Sign in');
    await seeHeading(page, 'Home');
    expect(await page.evaluate("sessionStorage.getItem('svc:factor')")).toBeNull();
    expect(offences).toEqual([]);
    await close();
  });
});

describe('email verification page', () => {
  it('the link confirms the address only after a press, and a second visit says that it was used', async () => {
    const { email, token: session } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit('desktop');
    await signIn(shop, page, email);
    await page.getByRole('link', { name: 'Send the email again' }).click();
    await press(page, 'Send confirmation email');
    await page.getByText('The email is on its way.').waitFor();
    const link = linkIn(await emailTo(shop, email, 'verify_email'));
    const token = link.split('#token=')[1]!;
    const isVerified = async () => {
      const { email_verified } = await shop.api.must<{ email_verified: boolean }>('GET', '/v1/account/me', { credential: session });
      return email_verified;
    };
    const requests = recordRequests(page);
    await page.goto(link);
    await seeHeading(page, 'Confirm your e-mail address');
    await expect.poll(() => readAddress(page)).toBe(urlOf('/verify-email'));
    expect(await findViolations(page)).toEqual([]);
    await shoot('49-verify');
    // Link scanners that open every link of an email must not confirm the address.
    expect(await isVerified()).toBe(false);
    await page.getByRole('button', { name: 'Confirm the address' }).focus();
    await page.keyboard.press('Enter');
    await seeHeading(page, 'Your address is confirmed');
    await page.locator('#panel-title:focus').waitFor();
    expect(await isVerified()).toBe(true);
    expect(await findViolations(page)).toEqual([]);
    expect(await readTraces(page)).not.toContain(token);
    expect(requests.filter((request) => request.includes(token.slice(-20)))).toEqual([]);
    await page.goto('about:blank');
    await page.goto(link);
    await press(page, 'Confirm the address');
    await seeHeading(page, 'This link no longer works');
    await page.getByText('there is nothing left to do').waitFor();
    await page.getByRole('link', { name: 'To the dashboard' }).click();
    await page.getByText('Done: Confirm your email address').waitFor();
    expect(offences).toEqual([]);
    await close();
  });

  it('“This was not me” removes the address from the account, which the page names with its creation date', async () => {
    const { email, token: session } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit('phone');
    await page.goto(linkIn(await emailTo(shop, email, 'verify_email')));
    await page.getByText(/^Account: .+ Created: .*\d{4}/).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('49-verify-not-me');
    await press(page, 'This was not me');
    await seeHeading(page, 'The address was taken off the account');
    expect(await findViolations(page)).toEqual([]);
    // Nobody can sign in to it any more, so it has ended.
    await expect(shop.api.must('GET', '/v1/account/me', { credential: session })).rejects.toThrow(/40[13]/);
    expect(offences).toEqual([]);
    await close();
  });

  it('an expired link, a truncated link and a lost connection each show their message', async () => {
    const { page, shoot, close } = await shop.visit('phone');
    const old = `${crypto.randomUUID()}.${(Date.now() - 1000).toString(36)}.${'A'.repeat(43)}`;
    await page.goto(urlOf(`/verify-email#token=${old}`));
    await page.route('**/v1/account/email/verify', (route) => route.abort(), { times: 1 });
    await press(page, 'Confirm the address');
    await page.locator('.problem', { hasText: 'No connection.' }).waitFor();
    await press(page, 'Confirm the address');
    await seeHeading(page, 'This link is too old');
    expect(await findViolations(page)).toEqual([]);
    await shoot('50-link-old');
    for (const cut of ['/verify-email', '/verify-email#token=', '/reset-password#token=%3Cscript%3E', '/reset-password#payment=1']) {
      await page.goto('about:blank');
      await page.goto(urlOf(cut));
      await seeHeading(page, 'The link is not complete');
    }
    expect(await findViolations(page)).toEqual([]);
    await page.evaluate(`location.hash = '#token=${old}'`);
    await seeHeading(page, 'Choose a new password');
    await expect.poll(() => readAddress(page)).toBe(urlOf('/reset-password'));
    expect(await readSession(page)).toBeNull();
    await close();
  });
});
