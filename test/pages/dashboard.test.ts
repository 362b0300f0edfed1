import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violationsOf } from './axe.ts';
import { enter, register, sessionOf, signIn } from './merchant.ts';
import { press, Shop, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const keysOf = (token: string) => shop.api.must<{ name: string; sandbox_mode: boolean }[]>('GET', '/v1/keys', { credential: token });

describe('the dashboard', () => {
  it('makes a key, shows it once with a button that copies it, and never again', async () => {
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
    expect(await violationsOf(page)).toEqual([]);
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
    expect((await keysOf(token)).map(({ name, sandbox_mode }) => [name, sandbox_mode])).toEqual([['My server', false]]);
    expect(offences).toEqual([]);
    await close();
  });

  it('shows no key to whoever goes back to it, and selects it where the browser lets nothing be copied', async () => {
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

  it('makes one key where the answer to the first try was lost, and says what stands in the way of another', async () => {
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
    expect(await keysOf(token)).toHaveLength(1);
    await press(page, 'Done, I saved it');
    const refused = { code: 'invalid_authorization', detail: 'sign in', meta: { reason: 'sign_in_required' } };
    await page.route('**/v1/keys', (route) => route.fulfill({ status: 403, json: refused }), { times: 1 });
    await page.getByLabel('Name of the key').fill('another');
    await press(page, 'Make a key');
    const problem = page.locator('.problem', { hasText: 'Sign in once more, then repeat it.' });
    await problem.waitFor();
    expect(await violationsOf(page)).toEqual([]);
    await problem.getByRole('link', { name: 'Sign in' }).click();
    await page.getByText('This needs a person who signed in just now.').waitFor();
    await enter(page, email);
    await seeHeading(page, 'Account');
    await close();
  });

  it('lists what is sold in both modes, and what has ended is said before anything else', async () => {
    const { email, token } = await register(shop);
    const body = { name: '<b>Forecasts</b>\u202e', price: { asset: 'USDC', amount: '12.5' }, payout_wallet: shop.wallet };
    const live = await shop.api.must<{ checkout_url: string }>('POST', '/v1/products', { credential: token, body });
    await shop.api.must('POST', '/v1/products?mode=sandbox', { credential: token, body: { ...body, name: 'Trial' } });
    const { page, offences, shoot, close } = await shop.visit('phone', [], { viewport: { width: 320, height: 640 }, colorScheme: 'dark' });
    await signIn(shop, page, email);
    await page.getByText('<b>Forecasts</b>').waitFor();
    const text = await page.locator('main').innerText();
    for (const words of ['12.50\u00a0USDC · Live', 'Trial', '12.50\u00a0USDC · Test']) expect(text).toContain(words);
    expect(text).not.toContain('\u202e');
    expect(await page.getByRole('link', { name: 'Checkout page: <b>Forecasts</b>' }).getAttribute('href')).toBe(live.checkout_url);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    expect(await violationsOf(page)).toEqual([]);
    await shoot('52-dashboard-narrow-dark');
    // A password that was changed elsewhere ends this session too.
    const security = { current_password: 'correct horse battery', new_password: 'battery staple 9' };
    await shop.api.must('PATCH', '/v1/account/me/security', { credential: token, body: security });
    await page.reload();
    await page.getByText('Your session has ended. Sign in again.').waitFor();
    expect(await sessionOf(page)).toBeNull();
    expect(offences).toEqual([]);
    await close();
  });

  it('renews a session that has expired meanwhile, and says what cannot be loaded', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('desktop');
    await signIn(shop, page, email);
    const first = (await sessionOf(page)) as string;
    const { token } = JSON.parse(first) as { token: string };
    await page.evaluate(
      `sessionStorage.setItem('svc:session', ${JSON.stringify(JSON.stringify({ token, expires_at: '2020-01-01T00:00:00Z' }))})`,
    );
    const renewed = page.waitForResponse('**/v1/auth/refresh');
    await page.reload();
    expect((await renewed).status()).toBe(200);
    await seeHeading(page, 'Account');
    expect(JSON.parse((await sessionOf(page)) as string).expires_at).not.toContain('2020');
    await page.route('**/v1/products', (route) => route.abort(), { times: 1 });
    await page.reload();
    await page.locator('.problem', { hasText: 'No connection.' }).waitFor();
    await press(page, 'Load again');
    await seeHeading(page, 'Account');
    await close();
  });
});

describe('every merchant', () => {
  const TITLES = {
    en: ['Sign in', 'Dashboard'],
    es: ['Iniciar sesión', 'Panel'],
    de: ['Anmelden', 'Dashboard'],
    fr: ['Se connecter', 'Tableau de bord'],
    'pt-BR': ['Entrar', 'Painel'],
    ja: ['ログイン', 'ダッシュボード'],
  };

  it.each(Object.entries(TITLES))(
    'is spoken to in %s, on a narrow screen as well, by light and dark',
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
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await shoot(`53-login-${locale}`);
      await page.locator('[name=email]').fill(email);
      await page.locator('[name=password]').fill('correct horse battery');
      // The keyboard is enough.
      await page.keyboard.press('Enter');
      await page.locator('#account').waitFor();
      await seeHeading(page, dashboard!);
      expect(await violationsOf(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await shoot(`54-dashboard-${locale}`);
      expect(offences).toEqual([]);
      await close();
    },
  );

  it('is told without JavaScript what the pages need', async () => {
    const { page, close } = await shop.visit('phone', [], { javaScriptEnabled: false });
    for (const path of ['/login', '/dashboard', '/verify-email', '/reset-password']) {
      await page.goto(`${shop.baseUrl}${path}`);
      expect(await page.locator('body').innerText()).toContain('This page needs JavaScript.');
    }
    await close();
  });
});
