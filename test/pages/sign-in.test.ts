import { generateKeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findViolations } from './axe.ts';
import { BUSINESS, enter, newEmail, PASSWORD, readSession, register, signIn } from './merchant.ts';
import { press, Shop, seeHeading, type TestWallet } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

const urlOf = (path: string): string => `${shop.baseUrl}${path}`;

describe('password sign-in', () => {
  it.each(['phone', 'desktop'] as const)('sign-in leads to the page that the person wanted, on a %s', async (size) => {
    const { email } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit(size);
    await page.goto(urlOf('/dashboard'));
    await page.waitForURL(/\/login\?/);
    await seeHeading(page, 'Sign in');
    expect(await page.locator('#panel').innerText()).not.toContain('Your session has ended');
    expect(await findViolations(page)).toEqual([]);
    await shoot('40-login');
    await enter(page, email);
    await seeHeading(page, 'Home');
    expect(new URL(page.url()).pathname).toBe('/dashboard');
    const text = await page.locator('main').innerText();
    for (const part of [email, 'is not confirmed', 'To your first sale']) expect(text).toContain(part);
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    await shoot('41-dashboard');
    expect(offences).toEqual([]);
    await close();
  });

  it('a wrong password and an unknown email get the same message, and the typed email stays', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('phone');
    await page.goto(urlOf('/login'));
    const problem = page.locator('.problem');
    await enter(page, newEmail());
    await problem.waitFor();
    const unknown = await problem.innerText();
    const answered = page.waitForResponse('**/v1/auth/login');
    await enter(page, email, 'not the password');
    expect((await answered).status()).toBe(401);
    await problem.waitFor();
    expect(await problem.innerText()).toBe(unknown);
    expect(unknown).toContain('E-mail and password do not belong together.');
    expect(await page.locator('#announcement').textContent()).toContain('E-mail and password do not belong together.');
    expect(await page.getByLabel('E-mail').inputValue()).toBe(email);
    expect(await findViolations(page)).toEqual([]);
    expect(await readSession(page)).toBeNull();
    await enter(page, email);
    await seeHeading(page, 'Home');
    await close();
  });

  it('input typed before the script loaded is preserved', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('phone');
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/assets/account-*.js', async (route) => {
      await released;
      return route.continue();
    });
    await page.goto(urlOf('/login'), { waitUntil: 'commit' });
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    expect(await page.getByRole('button', { name: 'Sign in', exact: true }).isDisabled()).toBe(true);
    release();
    await page.locator('button[type=submit]:enabled').waitFor();
    await page.locator('#password:focus').waitFor();
    await page.keyboard.press('Enter');
    await seeHeading(page, 'Home');
    await close();
  });

  it('an account is created on the page, and a registered email is refused with a message', async () => {
    const email = newEmail();
    const { page, shoot, close } = await shop.visit('phone');
    for (const isKnown of [false, true]) {
      await page.goto(urlOf('/login'));
      await press(page, 'Create an account with e-mail');
      await seeHeading(page, 'Create an account');
      await page.locator('#panel-title:focus').waitFor();
      await page.getByLabel('Your name or that of your business').fill(BUSINESS);
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('New password').fill('short');
      await press(page, 'Create the account');
      await page.locator('.problem', { hasText: 'A password has 8 to 128 characters.' }).waitFor();
      expect(await findViolations(page)).toEqual([]);
      await shoot('42-register');
      await page.getByLabel('New password').fill(PASSWORD);
      await press(page, 'Create the account');
      if (isKnown) await page.locator('.problem', { hasText: 'An account has this e-mail, or had it before it was deleted.' }).waitFor();
      else await seeHeading(page, 'Home');
    }
    await close();
  });

  it('the password is shown only on request, and a rate limit and a lost connection have their own messages', async () => {
    const { page, close } = await shop.visit('phone');
    await page.goto(urlOf('/login'));
    const field = page.getByLabel('Password', { exact: true });
    await page.getByLabel('Show the password').check();
    expect(await field.getAttribute('type')).toBe('text');
    await page.getByLabel('Show the password').uncheck();
    expect(await field.getAttribute('type')).toBe('password');
    const limited = { status: 429, headers: { 'retry-after': '130' }, json: { code: 'rate_limited', detail: 'slow down', meta: {} } };
    await page.route('**/v1/auth/login', (route) => route.fulfill(limited), { times: 1 });
    await enter(page, newEmail());
    await page.locator('.problem', { hasText: 'Too many tries. Try again in 3 minutes.' }).waitFor();
    await page.route('**/v1/auth/login', (route) => route.abort(), { times: 1 });
    await enter(page, newEmail());
    await page.locator('.problem', { hasText: 'No connection.' }).waitFor();
    await close();
  });
});

describe('wallet sign-in', () => {
  const ways = { 'the whole text': ['solana:signMessage'], 'a text it wrote itself': ['solana:signIn'] } as const;
  it.each(Object.keys(ways) as (keyof typeof ways)[])(
    'the first sign-in creates the account and the second finds it, with %s',
    async (way) => {
      const wallet: TestWallet = { signer: await generateKeyPairSigner(), features: [...ways[way]] };
      const ids = [];
      for (const _ of ['first', 'second']) {
        const { page, offences, shoot, close } = await shop.visit('desktop', [wallet]);
        await page.goto(urlOf('/login'));
        await page.getByRole('button', { name: 'Sign in with Test wallet' }).waitFor();
        expect(await findViolations(page)).toEqual([]);
        await shoot('43-login-wallet');
        await press(page, 'Sign in with Test wallet');
        await seeHeading(page, 'Home');
        expect(await page.locator('main').innerText()).toContain('Add an email address');
        const token = (await readSession(page))!;
        const claims = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()) as { sub: string; amr: string };
        // The text names this service, so the session has more rights than one of a bare nonce.
        expect(claims.amr).toBe('siws');
        ids.push(claims.sub);
        expect(offences).toEqual([]);
        await close();
      }
      expect(new Set(ids).size).toBe(1);
    },
  );

  it('a signature over a text that names another site is not sent', async () => {
    const wallet: TestWallet = { signer: await generateKeyPairSigner(), features: ['solana:signIn'], isBroken: true };
    const { page, close } = await shop.visit('phone', [wallet]);
    let isSent = false;
    await page.route('**/v1/auth/wallet', (route) => {
      isSent = true;
      return route.continue();
    });
    await page.goto(urlOf('/login'));
    await press(page, 'Sign in with Test wallet');
    await page.locator('.problem', { hasText: 'Test wallet reported a problem.' }).waitFor();
    expect(isSent).toBe(false);
    await close();
  });

  it('a wallet that writes a text of its own is asked to sign the service’s text instead', async () => {
    const features: TestWallet['features'] = ['solana:signIn', 'solana:signMessage'];
    const { page, close } = await shop.visit('phone', [{ signer: await generateKeyPairSigner(), features, isBroken: true }]);
    await page.goto(urlOf('/login'));
    await press(page, 'Sign in with Test wallet');
    await seeHeading(page, 'Home');
    await close();
  });

  it('a wallet request can be declined or left, and a late answer signs no one in', async () => {
    const signer = await generateKeyPairSigner();
    const declining: TestWallet = { signer, features: ['solana:signMessage'], onAct: () => 'error:4001:User rejected the request.' };
    let answer = (_signature: string): void => {};
    const asked = new Promise<string>((resolve) => {
      answer = resolve;
    });
    const silent: TestWallet = { signer, name: 'Silent wallet', features: ['solana:signMessage'], onAct: () => asked };
    const elsewhere: TestWallet = { signer, name: 'Other wallet', features: ['solana:signMessage'], chains: ['solana:mainnet'] };
    const payingOnly: TestWallet = { signer, name: 'Paying wallet' };
    const { page, shoot, close } = await shop.visit('phone', [declining, silent, elsewhere, payingOnly]);
    await page.goto(urlOf('/login'));
    await press(page, 'Sign in with Test wallet');
    await page.locator('.problem', { hasText: 'You declined in your wallet.' }).waitFor();
    expect(await page.getByRole('button', { name: 'Paying wallet' }).count()).toBe(0);
    await page.getByRole('button', { name: 'Sign in with Other wallet' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('.problem', { hasText: 'Other wallet does not offer Solana devnet' }).waitFor();
    await press(page, 'Sign in with Silent wallet');
    await seeHeading(page, 'Sign in with Silent wallet');
    await page.getByText(`names ${new URL(shop.baseUrl).host}.`).waitFor();
    expect(await findViolations(page)).toEqual([]);
    await shoot('44-wallet-asked');
    await press(page, 'Back');
    const walletAnswer = page.waitForResponse('**/v1/auth/wallet');
    answer(Buffer.alloc(64).toString('base64'));
    await walletAnswer;
    await page.waitForTimeout(300);
    await seeHeading(page, 'Sign in');
    expect(await page.locator('.problem').count()).toBe(0);
    expect(await readSession(page)).toBeNull();
    await close();
  });

  it('the demo wallet signs in on a local machine and says that its money is not real', async () => {
    const { page, offences, close } = await shop.visit('desktop', [], { demo: true });
    await page.goto(urlOf('/login'));
    await page.getByText('The money in it is not real.').waitFor();
    await press(page, 'Sign in with Demo wallet');
    await seeHeading(page, 'Home');
    expect(offences).toEqual([]);
    await close();
  });
});

describe('target after sign-in', () => {
  const OFF_SITE = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '/\n/evil.example',
    '/..//evil.example',
    '/a/..\\..//evil.example',
    '/.//evil.example',
    'javascript:alert(1)',
    ' //evil.example',
    '/dashboard#token=stolen',
    'https:evil.example',
    'evil.example',
    '/%09/evil.example',
    '/%2f/evil.example',
    '',
  ];

  it('the target is a page of this site, however another site is spelled', async () => {
    const { email } = await register(shop);
    const { page, offences, close } = await shop.visit('desktop');
    await page.goto(urlOf('/login?next=%2Fr%2Fnothing%3Flocale%3Dde'));
    await enter(page, email);
    await seeHeading(page, 'Diese Quittung gibt es nicht');
    expect(page.url()).toBe(urlOf('/r/nothing?locale=de'));
    for (const next of OFF_SITE) {
      await page.goto(urlOf(`/login?next=${encodeURIComponent(next)}`));
      const facts = JSON.parse((await page.locator('#facts').textContent())!) as { next: string };
      const target = (await page.evaluate(`new URL(${JSON.stringify(facts.next)}, location.href).href`)) as string;
      expect(new URL(target).origin, next).toBe(new URL(shop.baseUrl).origin);
      expect(facts.next, next).toMatch(/^\/(?!\/)/);
    }
    await page.goto(urlOf(`/login?next=${encodeURIComponent('//evil.example')}`));
    await page.route('**/v1/auth/login', (route) => route.fulfill({ json: { token: 'none', expires_at: '2099-01-01T00:00:00Z' } }));
    await enter(page, email);
    await page.waitForURL(/\/(?:dashboard|login)/);
    expect(offences).toEqual([]);
    await close();
  });
});

describe('sign-out', () => {
  it('sign-out ends the session in every tab, and going back shows none of its data', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('desktop');
    await signIn(shop, page, email);
    const first = (await readSession(page))!;
    const tab = await page.context().newPage();
    await signIn(shop, tab, email);
    const credentials = [first, (await readSession(tab))!];
    await press(page, 'Sign out');
    await seeHeading(page, 'Sign in');
    await page.getByText('You are signed out.').waitFor();
    await tab.reload();
    await seeHeading(tab, 'Sign in');
    const readAccount = (credential: string) => shop.api.call('GET', '/v1/account/me', { credential });
    await expect.poll(async () => (await Promise.all(credentials.map(readAccount))).map(({ status }) => status)).toEqual([401, 401]);
    await page.goBack();
    await page.waitForTimeout(500);
    expect(await page.locator('body').innerText()).not.toContain(email);
    await close();
  });
});

describe('sign-in page', () => {
  const TITLES = {
    en: 'Sign in',
    es: 'Iniciar sesión',
    de: 'Anmelden',
    fr: 'Se connecter',
    'pt-BR': 'Entrar',
    ja: 'ログイン',
  };

  it.each(Object.entries(TITLES))('sign-in is in %s, fits 320 pixels and passes axe in light or dark', async (locale, title) => {
    const { email } = await register(shop);
    const colorScheme = locale === 'de' || locale === 'ja' ? 'dark' : 'light';
    const { page, offences, shoot, close } = await shop.visit('phone', [], { locale, viewport: { width: 320, height: 640 }, colorScheme });
    await page.goto(urlOf('/login'));
    await seeHeading(page, title);
    await page.locator('button[type=submit]:enabled').waitFor();
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await shoot(`53-login-${locale}`);
    await page.locator('[name=email]').fill(email);
    await page.locator('[name=password]').fill(PASSWORD);
    await page.keyboard.press('Enter');
    await seeHeading(page, 'Home');
    expect(await findViolations(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    await shoot(`54-dashboard-${locale}`);
    expect(offences).toEqual([]);
    await close();
  });

  it('every page of an email link says without JavaScript that JavaScript is needed', async () => {
    const { page, close } = await shop.visit('phone', [], { javaScriptEnabled: false });
    for (const path of ['/verify-email', '/reset-password']) {
      await page.goto(urlOf(path));
      expect(await page.locator('body').innerText()).toContain('This page needs JavaScript.');
    }
    // A password needs none.
    await page.goto(urlOf('/login'));
    expect(await page.locator('body').innerText()).toContain('Passkeys, wallets, other services and new accounts need JavaScript.');
    await close();
  });
});
