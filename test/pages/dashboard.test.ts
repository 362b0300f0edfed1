import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { enter, readSession, register, signIn } from './merchant.ts';
import { press, Shop, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const readKeys = (token: string) => shop.api.must<{ name: string; sandbox_mode: boolean }[]>('GET', '/v1/keys', { credential: token });

describe('dashboard', () => {
  it('a new key is shown once with a copy button, and never again after a reload', async () => {
    const { email, token } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit('desktop', [], { permissions: ['clipboard-read', 'clipboard-write'] });
    await signIn(shop, page, email);
    await page.getByLabel('Name of the key').fill('My server');
    await page.getByLabel('Live key').check();
    await press(page, 'Make a key');
    await seeHeading(page, 'Your new key: My server');
    await page.locator('#made-key:focus').waitFor();
    const rawKey = (await page.locator('#raw-key').textContent())!;
    expect(rawKey).toMatch(/^svc_live_/);
    expect(await findViolations(page)).toEqual([]);
    await shoot('51-key-made');
    await press(page, 'Copy: Your new key: My server');
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(rawKey);
    expect(await shop.api.must<{ key_id: string }>('GET', '/v1/account/me', { credential: rawKey })).toHaveProperty('key_id');
    const stored = 'JSON.stringify([Object.values(sessionStorage), Object.values(localStorage)])';
    expect(await page.evaluate(stored)).not.toContain(rawKey);
    await press(page, 'Done, I saved it');
    const shown = async () => await page.evaluate<string>('document.documentElement.outerHTML');
    expect(await shown()).not.toContain(rawKey);
    await page.reload();
    await page.getByText('My server').waitFor();
    expect(await shown()).not.toContain(rawKey);
    expect((await readKeys(token)).map(({ name, sandbox_mode }) => [name, sandbox_mode])).toEqual([['My server', false]]);
    expect(offences).toEqual([]);
    await close();
  });

  it('a new key is gone after navigating back, and is selected if the browser blocks copying', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('phone');
    await signIn(shop, page, email);
    await page.getByLabel('Name of the key').fill('Test server');
    await press(page, 'Make a key');
    const rawKey = (await page.locator('#raw-key').textContent())!;
    expect(rawKey).toMatch(/^svc_test_/);
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })");
    await press(page, 'Copy: Your new key: Test server');
    await page.getByText('copy it yourself').waitFor();
    expect(await page.evaluate('getSelection().toString().trim()')).toBe(rawKey);
    await page.goto(`${shop.baseUrl}/p/nothing`);
    await page.goBack();
    await page.getByText('Test server').waitFor();
    expect(await page.evaluate('document.documentElement.outerHTML')).not.toContain(rawKey);
    await close();
  });

  it('a retry after a lost answer makes one key, and a refusal names its reason', async () => {
    const { email, token } = await register(shop);
    const { page, close } = await shop.visit('phone');
    await signIn(shop, page, email);
    let isLost = false;
    await page.route('**/v1/keys', async (route) => {
      if (route.request().method() !== 'POST' || isLost) return route.continue();
      isLost = true;
      await route.fetch();
      return route.abort();
    });
    await page.getByLabel('Name of the key').fill('server');
    await press(page, 'Make a key');
    await page.locator('.problem', { hasText: 'No connection.' }).waitFor();
    await press(page, 'Make a key');
    await seeHeading(page, 'Your new key: server');
    expect(await readKeys(token)).toHaveLength(1);
    await press(page, 'Done, I saved it');
    const refused = { code: 'invalid_authorization', detail: 'sign in', meta: { reason: 'sign_in_required' } };
    await page.route('**/v1/keys', (route) => route.fulfill({ status: 403, json: refused }), { times: 1 });
    await page.getByLabel('Name of the key').fill('another');
    await press(page, 'Make a key');
    const problem = page.locator('.problem', { hasText: 'Sign in once more, then repeat it.' });
    await problem.waitFor();
    expect(await findViolations(page)).toEqual([]);
    await problem.getByRole('link', { name: 'Sign in' }).click();
    await page.getByText('This needs a person who signed in just now.').waitFor();
    await enter(page, email);
    await seeHeading(page, 'Account');
    await close();
  });

  it('products of both modes are listed, and an ended session is announced on the sign-in page', async () => {
    const { email, token } = await register(shop);
    const body = { name: '<b>Forecasts</b>\u202e', price: { asset: 'USDC', amount: '12.5' }, payout_wallet: shop.wallet };
    const live = await shop.api.must<{ checkout_url: string }>('POST', '/v1/products', { credential: token, body });
    await shop.api.must('POST', '/v1/products?mode=sandbox', { credential: token, body: { ...body, name: 'Trial' } });
    const { page, offences, shoot, close } = await shop.visit('phone', [], { viewport: { width: 320, height: 640 }, colorScheme: 'dark' });
    await signIn(shop, page, email);
    await page.getByText('<b>Forecasts</b>').waitFor();
    const text = await page.locator('main').innerText();
    for (const part of ['12.50\u00a0USDC · Live', 'Trial', '12.50\u00a0USDC · Test']) expect(text).toContain(part);
    expect(text).not.toContain('\u202e');
    expect(await page.getByRole('link', { name: 'Checkout page: <b>Forecasts</b>' }).getAttribute('href')).toBe(live.checkout_url);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    expect(await findViolations(page)).toEqual([]);
    await shoot('52-dashboard-narrow-dark');
    // A password changed elsewhere ends this session too.
    const security = { current_password: 'correct horse battery', new_password: 'battery staple 9' };
    await shop.api.must('PATCH', '/v1/account/me/security', { credential: token, body: security });
    await page.reload();
    await page.getByText('Your session has ended. Sign in again.').waitFor();
    expect(await readSession(page)).toBeNull();
    expect(offences).toEqual([]);
    await close();
  });

  it('an expired session is refreshed, and a list that cannot be loaded shows an error with a retry', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('desktop');
    await signIn(shop, page, email);
    const first = (await readSession(page)) as string;
    const { token } = JSON.parse(first) as { token: string };
    await page.evaluate(
      `sessionStorage.setItem('svc:session', ${JSON.stringify(JSON.stringify({ token, expires_at: '2020-01-01T00:00:00Z' }))})`,
    );
    const renewed = page.waitForResponse('**/v1/auth/refresh');
    await page.reload();
    expect((await renewed).status()).toBe(200);
    await seeHeading(page, 'Account');
    expect(JSON.parse((await readSession(page)) as string).expires_at).not.toContain('2020');
    await page.route('**/v1/products', (route) => route.abort(), { times: 1 });
    await page.reload();
    await page.locator('.problem', { hasText: 'No connection.' }).waitFor();
    await press(page, 'Load again');
    await seeHeading(page, 'Account');
    await close();
  });
});

describe('merchant pages', () => {
  const TITLES = {
    en: ['Sign in', 'Dashboard'],
    es: ['Iniciar sesión', 'Panel'],
    de: ['Anmelden', 'Dashboard'],
    fr: ['Se connecter', 'Tableau de bord'],
    'pt-BR': ['Entrar', 'Painel'],
    ja: ['ログイン', 'ダッシュボード'],
  };

  it.each(Object.entries(TITLES))(
    'sign-in and dashboard are in %s, fit 320 pixels and pass axe in light or dark',
    async (locale, [login, dashboard]) => {
      const { email } = await register(shop);
      const colorScheme = locale === 'de' || locale === 'ja' ? 'dark' : 'light';
      const { page, offences, shoot, close } = await shop.visit('phone', [], {
        locale,
        viewport: { width: 320, height: 640 },
        colorScheme,
      });
      await page.goto(`${shop.baseUrl}/login`);
      await seeHeading(page, login!);
      await page.locator('button[type=submit]:enabled').waitFor();
      expect(await findViolations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await shoot(`53-login-${locale}`);
      await page.locator('[name=email]').fill(email);
      await page.locator('[name=password]').fill('correct horse battery');
      await page.keyboard.press('Enter');
      await page.locator('#account').waitFor();
      await seeHeading(page, dashboard!);
      expect(await findViolations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await shoot(`54-dashboard-${locale}`);
      expect(offences).toEqual([]);
      await close();
    },
  );

  it('every merchant page says without JavaScript that JavaScript is needed', async () => {
    const { page, close } = await shop.visit('phone', [], { javaScriptEnabled: false });
    for (const path of ['/dashboard', '/verify-email', '/reset-password']) {
      await page.goto(`${shop.baseUrl}${path}`);
      expect(await page.locator('body').innerText()).toContain('This page needs JavaScript.');
    }
    // A password needs none.
    await page.goto(`${shop.baseUrl}/login`);
    expect(await page.locator('body').innerText()).toContain('Passkeys, wallets, other services and new accounts need JavaScript.');
    await close();
  });
});
