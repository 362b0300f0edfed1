import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from '../support/people/authenticator-app.ts';
import { findViolations } from './axe.ts';
import { PASSWORD, readSession, register, signIn } from './merchant.ts';
import { press, Shop, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const urlOf = (path: string): string => `${shop.baseUrl}${path}`;
const choose = (page: Page, name: string): Promise<void> => page.getByRole('link', { name, exact: true }).click();
const seeProblem = (page: Page, message: string): Promise<void> => page.locator('.problem', { hasText: message }).waitFor();
/** Offences other than requests to the provider itself. */
const elsewhere = (offences: string[]): string[] =>
  offences.filter((one) => !/^asked http:\/\/127\.0\.0\.1:\d+\/(?:openid|github)\//.test(one));

describe.each(['Google', 'GitHub'])('sign-in with %s', (title) => {
  const size = title === 'Google' ? 'phone' : 'desktop';

  it('an unknown person is asked to create an account, the next sign-in finds it, and no address contains the token', async () => {
    for (const isKnown of [false, true]) {
      const { page, offences, shoot, close } = await shop.visit(size);
      await page.goto(urlOf('/login?next=%2Fdashboard%3Flocale%3Den'));
      await page.getByRole('button', { name: `Sign in with ${title}` }).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await shoot(`45-login-providers-${title}`);
      await press(page, `Sign in with ${title}`);
      await choose(page, title === 'Google' ? 'Ada' : 'Bob');
      if (!isKnown) {
        await seeHeading(page, 'Create an account');
        await seeProblem(page, `No account here belongs to this account at ${title}.`);
        expect(await page.locator('#announcement').textContent()).toContain(`at ${title}`);
        expect(await findViolations(page)).toEqual([]);
        expect(new URL(page.url()).hash).toBe('');
        await press(page, `Create an account with ${title}`);
        await choose(page, title === 'Google' ? 'Ada' : 'Bob');
      }
      await seeHeading(page, 'Home');
      expect(page.url()).toBe(urlOf('/dashboard?locale=en'));
      expect(await readSession(page)).not.toBeNull();
      expect(await findViolations(page)).toEqual([]);
      for (let steps = 0; steps < 2; steps++) {
        await page.goBack();
        expect(page.url()).not.toContain('token');
      }
      expect(elsewhere(offences)).toEqual([]);
      await close();
    }
  });

  it('a person with an authenticator app enters its code after the provider, and no address contains the ticket', async () => {
    const { page, offences, close } = await shop.visit(size);
    await page.goto(urlOf('/login'));
    await press(page, `Sign in with ${title}`);
    await choose(page, title === 'Google' ? 'Ada' : 'Bob');
    await seeHeading(page, 'Home');
    const token = (await readSession(page))!;
    const { secret } = await shop.api.must<{ secret: string }>('POST', '/v1/account/totp', { credential: token });
    const app = new App(secret);
    await shop.api.must('POST', '/v1/account/totp/confirm', { credential: token, body: { code: await app.codeBefore() } });
    await page.evaluate('sessionStorage.clear()');
    await page.goto(urlOf('/login'));
    await press(page, `Sign in with ${title}`);
    await choose(page, title === 'Google' ? 'Ada' : 'Bob');
    await seeHeading(page, 'One more step');
    expect(new URL(page.url()).hash).toBe('');
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(1);
    await page.getByLabel('Code', { exact: true }).fill(app.code());
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await seeHeading(page, 'Home');
    const proven = (await readSession(page))!;
    await shop.api.must('DELETE', '/v1/account/totp', { credential: proven });
    expect(elsewhere(offences)).toEqual([]);
    await close();
  });

  it('a declined sign-in, an unverified address and going back each leave the person signed out', async () => {
    const { page, close } = await shop.visit(size);
    await page.goto(urlOf('/login'));
    await press(page, `Sign in with ${title}`);
    await choose(page, 'Cancel');
    await seeProblem(page, `Nothing was allowed at ${title}`);
    await press(page, `Sign in with ${title}`);
    await choose(page, 'Eve, unverified');
    await seeProblem(page, `${title} could not prove that this e-mail address is yours`);
    await press(page, `Sign in with ${title}`);
    await page.getByRole('heading', { name: 'Who are you?' }).waitFor();
    await page.goBack();
    await page.locator('button[type=submit]:enabled').waitFor();
    expect(await readSession(page)).toBeNull();
    await close();
  });

  it.each([true, false])('the provider is linked and unlinked on the security screen, with JavaScript: %s', async (javaScriptEnabled) => {
    const { email } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit(size, [], { javaScriptEnabled });
    await page.goto(urlOf('/login?next=/dashboard/security'));
    const form = javaScriptEnabled ? page.locator('main') : page.locator('noscript form');
    await form.getByLabel('E-mail').fill(email);
    await form.getByLabel('Password', javaScriptEnabled ? { exact: true } : {}).fill(PASSWORD);
    await form.getByRole('button', javaScriptEnabled ? { name: 'Sign in', exact: true } : {}).click();
    await seeHeading(page, 'Security');
    const go = async (person: string) => {
      await page.getByRole('button', { name: `Link ${title}` }).click();
      if (javaScriptEnabled && person === 'Cancel') expect(await findViolations(page)).toEqual([]);
      await choose(page, `Continue at ${title}`);
      await choose(page, person);
      await seeHeading(page, 'Security');
    };
    await go('Cancel');
    await page.getByText('Nothing was allowed at the provider').waitFor();
    await go(title === 'Google' ? 'Ada' : 'Bob');
    await page.getByText('belongs to another account here').waitFor();
    await go('Eve, unverified');
    await page.getByText(`You can sign in with ${title} now.`).waitFor();
    if (javaScriptEnabled) {
      expect(await findViolations(page)).toEqual([]);
      await shoot(`61-security-linked-${title}`);
    }
    await page.getByRole('button', { name: `Unlink ${title}` }).click();
    await page.getByRole('button', { name: `Link ${title}` }).waitFor();
    expect(await page.getByText(`You can sign in with ${title} now.`).isVisible()).toBe(false);
    expect(elsewhere(offences)).toEqual([]);
    await close();
  });
});

describe('session token in the address', () => {
  it('a token opens no session, and does not change that of the person who is signed in', async () => {
    const { email } = await register(shop);
    const stranger = await register(shop);
    const { page, close } = await shop.visit('phone');
    await page.goto(urlOf(`/login#token=${stranger.token}`));
    await seeHeading(page, 'Sign in');
    expect(await readSession(page)).toBeNull();
    await signIn(shop, page, email);
    const before = await readSession(page);
    await page.goto(urlOf(`/login?again#token=${stranger.token}`));
    await seeHeading(page, 'Sign in');
    expect(await readSession(page)).toBe(before);
    await close();
  });
});
