import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from '../support/people/authenticator-app.ts';
import { findViolations } from './axe.ts';
import { addAuthenticator, enter, readSession, register } from './merchant.ts';
import { Shop, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

/** Browsers have no passkeys on an IP address. */
const named = (path: string): string => `${shop.baseUrl.replace('127.0.0.1', 'localhost')}${path}`;

interface Guarded {
  email: string;
  app: App;
  codes: string[];
}

/** A merchant with an authenticator app. The step of the code that confirmed it is used up. */
async function registerWithApp(): Promise<Guarded> {
  const { email, token } = await register(shop);
  const { secret } = await shop.api.must<{ secret: string }>('POST', '/v1/account/totp', { credential: token });
  const app = new App(secret);
  const body = { code: await app.codeBefore() };
  const { recovery_codes } = await shop.api.must<{ recovery_codes: string[] }>('POST', '/v1/account/totp/confirm', {
    credential: token,
    body,
  });
  return { email, app, codes: recovery_codes };
}

async function enterCode(page: Page, code: string): Promise<void> {
  await page.getByLabel('Code', { exact: true }).fill(code);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Registers a passkey of the page's authenticator, as an app of the merchant would. */
const registerPasskey = (page: Page, token: string): Promise<number> =>
  page.evaluate(`(async () => {
    const call = (path, body) => fetch(path, {
      method: 'POST',
      headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const { ceremony_id, options } = await (await call('/v1/account/passkeys/options')).json();
    const credential = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) });
    return (await call('/v1/account/passkeys', { ceremony_id, response: credential.toJSON() })).status;
  })()`);

describe('second step of a sign-in', () => {
  it.each(['phone', 'desktop'] as const)('a person with an authenticator app enters its code after the password, on a %s', async (size) => {
    const { email, app } = await registerWithApp();
    const { page, offences, shoot, close } = await shop.visit(size);
    await page.goto(`${shop.baseUrl}/login`);
    await enter(page, email);
    await seeHeading(page, 'One more step');
    expect(await findViolations(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
    await shoot('45-second-step');
    await enterCode(page, app.wrong());
    await page.locator('.problem').waitFor();
    expect(await page.locator('.problem').innerText()).toContain('This code is wrong');
    expect(await readSession(page)).toBeNull();
    await enterCode(page, app.code());
    await seeHeading(page, 'Home');
    expect(offences).toEqual([]);
    await close();
  });

  it('a recovery code replaces one of the app, also in capitals and with spaces', async () => {
    const { email, codes } = await registerWithApp();
    const { page, close } = await shop.visit('phone');
    await page.goto(`${shop.baseUrl}/login`);
    await enter(page, email);
    await seeHeading(page, 'One more step');
    await enterCode(page, ` ${codes[0]!.toUpperCase()} `);
    await seeHeading(page, 'Home');
    await close();
  });

  it('a passkey signs in without an email, and after a password', async () => {
    const { email, token } = await register(shop);
    const { page, offences, close } = await shop.visit('desktop');
    await addAuthenticator(page);
    await page.goto(named('/login'));
    await seeHeading(page, 'Sign in');
    expect(await registerPasskey(page, token)).toBe(201);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await seeHeading(page, 'Home');
    await page.evaluate('sessionStorage.clear()');
    await page.goto(named('/login'));
    await enter(page, email);
    await seeHeading(page, 'One more step');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await seeHeading(page, 'Home');
    expect(offences.filter((offence) => !offence.startsWith(`asked ${named('/')}`))).toEqual([]);
    await close();
  });

  it('a browser without a passkey says so, and the other ways work', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('phone');
    await page.goto(`${shop.baseUrl}/login`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.locator('.problem').waitFor();
    expect(await page.locator('.problem').innerText()).toContain('The passkey was not accepted.');
    await enter(page, email);
    await seeHeading(page, 'Home');
    await close();
  });
});
