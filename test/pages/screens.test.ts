import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { App } from '../support/people/authenticator-app.ts';
import { findViolations } from './axe.ts';
import { addAuthenticator, BUSINESS, PASSWORD, register, signIn } from './merchant.ts';
import { follow, press, reloadUntil, Shop, seeHeading } from './shop.ts';

const shop = new Shop();
beforeAll(() => shop.open(), 60_000);
afterAll(() => shop.close());

/** Browsers have no passkeys on an IP address. */
const named = (path: string): string => `${shop.baseUrl.replace('127.0.0.1', 'localhost')}${path}`;

/** Links of the navigation and headings of their screens, in groups that one visit reads. */
const SCREENS = {
  'of sales': [
    ['Templates', 'Templates'],
    ['Create template', 'New template'],
    ['Payments', 'Payments'],
    ['Unmatched money', 'Unmatched money'],
    ['Receipts', 'Receipts'],
    ['Customers', 'Customers'],
    ['Subscriptions', 'Subscriptions'],
  ],
  'of the technical side': [
    ['Webhooks', 'Webhooks'],
    ['API keys', 'API keys'],
    ['Create key', 'New API key'],
    ['Team', 'Team'],
    ['Audit log', 'Audit log'],
  ],
  'of the account': [
    ['Security', 'Security'],
    ['Sandbox', 'Sandbox'],
    ['Payouts', 'Payouts'],
    ['Plan', 'Plan'],
    ['Support', 'Support'],
    ['Settings', 'Settings'],
    ['Home', 'Home'],
  ],
} as const;

/** Screens of the navigation, except the settings, which preview a brand by a script. */
const NAMES =
  'templates payments unmatched receipts customers subscriptions webhooks keys sandbox payouts billing support team log security';
const PATHS = ['', '/templates/new', ...NAMES.split(' ').map((name) => `/${name}`)];

describe('screens of the dashboard', () => {
  const visits = (['phone', 'desktop'] as const).flatMap((size) =>
    Object.keys(SCREENS).map((group) => [group as keyof typeof SCREENS, size] as const),
  );
  it.each(visits)('each screen %s is without a finding of axe and fits every size, on a %s', async (group, size) => {
    const { email } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit(size);
    await signIn(shop, page, email);
    for (const [link, heading] of SCREENS[group]) {
      await follow(page, link);
      await seeHeading(page, heading);
      await page.getByText('API', { exact: true }).click();
      expect([link, await findViolations(page)]).toEqual([link, []]);
      await shoot(`60-${link.toLowerCase().replaceAll(' ', '-')}`);
    }
    expect(offences).toEqual([]);
    await close();
  });

  it('a sandbox session and the subscription that it plays are without a finding of axe and fit every size', async () => {
    const { email } = await register(shop);
    const { page, offences, shoot, close } = await shop.visit('phone');
    await signIn(shop, page, email);
    await page.goto(`${shop.baseUrl}/dashboard/sandbox`);
    await page.getByRole('combobox', { name: 'Scenario' }).selectOption('subscription authorized');
    await page.getByRole('button', { name: 'Run' }).click();
    await seeHeading(page, 'Sandbox session');
    await reloadUntil(page, 'completed');
    expect(await findViolations(page)).toEqual([]);
    await shoot('66-sandbox-session');
    await page.goto(`${shop.baseUrl}/dashboard/subscriptions?mode=sandbox`);
    await page.locator('tbody th a').first().click();
    await seeHeading(page, 'Subscription');
    expect(await findViolations(page)).toEqual([]);
    await shoot('67-subscription');
    expect(offences).toEqual([]);
    await close();
  });

  it('names with markup, a right-to-left mark or 180 wide characters are text, and no page is wider for them', async () => {
    const wide = '界'.repeat(180);
    const marked = '<b onclick=alert(1)>\u202eevil\u202d</b>';
    const product = await shop.sell({ name: `${marked}${wide.slice(0, 60)}`, description: wide });
    const create = <T>(path: string, body: object) => shop.callAs<T>(product, 'POST', path, body);
    const customer = { customer_ref: wide, name: `${marked}${wide.slice(0, 100)}`, metadata: { note: marked } };
    const { customer_id: id } = await create<{ customer_id: string }>('/v1/customers', customer);
    const url = `https://hooks.example.com/${'x'.repeat(300)}`;
    const { endpoint_id: hook } = await create<{ endpoint_id: string }>('/v1/webhooks/endpoints', {
      url,
      event_types: ['payment.confirmed'],
    });
    const ticket = { subject: `${marked}${wide.slice(0, 60)}`, category: 'other', body: `${marked} ${wide}` };
    const { ticket_id: asked } = await create<{ ticket_id: string }>('/v1/support/tickets', ticket);
    const { page, offences, shoot, close } = await shop.visit('phone');
    await signIn(shop, page, shop.email);
    for (const [path, text] of [
      ['templates', marked],
      [`templates/${product.product_id}`, marked],
      ['customers', wide],
      [`customers/${id}`, marked],
      ['webhooks', url],
      [`webhooks/${hook}`, url],
      ['support', marked],
      [`support/${asked}`, marked],
      [`search?q=${encodeURIComponent(wide.slice(0, 20))}`, wide.slice(0, 20)],
    ] as const) {
      await page.goto(`${shop.baseUrl}/dashboard/${path}`);
      await page.locator('main section:not([data-operation])').filter({ hasText: text }).first().waitFor();
      expect([path, await findViolations(page)]).toEqual([path, []]);
      await shoot(`65-hostile-${path.split(/[/?]/)[0]}`);
    }
    expect(offences).toEqual([]);
    await close();
  });

  it.each(['phone', 'desktop'] as const)('a sale is read, refunded by a wallet and invoiced, on a %s', async (size) => {
    const product = await shop.sell();
    const buyer = await shop.visit('desktop', [{ signer: await shop.chain.newBuyer(100_000_000n), features: ['solana:signTransaction'] }]);
    await buyer.page.goto(shop.urlOf(product));
    await press(buyer.page, 'Pay with Test wallet');
    await seeHeading(buyer.page, 'Paid');
    await buyer.close();
    const { page, offences, shoot, close } = await shop.visit(size);
    await signIn(shop, page, shop.email);
    await page.goto(`${shop.baseUrl}/dashboard/templates/${product.product_id}`);
    expect(await findViolations(page)).toEqual([]);
    await shoot('61-template');
    await page.getByRole('link', { name: 'Its payments' }).click();
    await page.locator('tbody th a').first().click();
    await seeHeading(page, 'Payment');
    expect(await findViolations(page)).toEqual([]);
    await shoot('62-payment');
    await page.locator('dd a[href*="/dashboard/receipts/"]').click();
    await seeHeading(page, 'Receipt');
    await page.getByLabel('Invoice number').fill('INV-2026-1');
    await page.getByRole('button', { name: 'Save invoice fields' }).click();
    await page.getByRole('status').filter({ hasText: 'The invoice fields are saved.' }).waitFor();
    expect(await page.getByLabel('Invoice number').inputValue()).toBe('INV-2026-1');
    expect(await findViolations(page)).toEqual([]);
    await shoot('63-receipt');
    await page.goto(`${shop.baseUrl}/dashboard/payments?product_id=${product.product_id}`);
    await page.locator('tbody th a').first().click();
    await page.getByLabel('Amount in USDC').fill('1');
    await page.getByRole('button', { name: 'Refund' }).click();
    await page.waitForURL(/\/sign\?next=%2Fdashboard%2Fpayments%2F[^#]+#/);
    await seeHeading(page, 'This transaction does the following');
    expect(await page.locator('.transaction-steps').innerText()).toContain('1.00');
    expect(offences).toEqual([]);
    await close();
  });

  it('the preview of a brand follows what is typed, and its colours are readable', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('desktop');
    await signIn(shop, page, email);
    await page.goto(`${shop.baseUrl}/dashboard/settings`);
    const preview = page.locator('.brand-preview');
    expect(await preview.innerText()).toContain(BUSINESS);
    await page.getByLabel('Name on the checkout').fill('<b>Rain</b> & Co');
    await page.getByLabel('Accent colour').fill('#ffee00');
    expect(await preview.innerText()).toContain('<b>Rain</b> & Co');
    expect(await page.evaluate("getComputedStyle(document.querySelector('.sample')).backgroundColor")).toBe('rgb(255, 238, 0)');
    expect(await findViolations(page)).toEqual([]);
    await close();
  });

  it('an authenticator app is set up and removed by keyboard alone', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('desktop');
    await signIn(shop, page, email);
    await page.goto(`${shop.baseUrl}/dashboard/security`);
    await page.getByRole('button', { name: 'Set up an authenticator app' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Scan this with your authenticator app').waitFor();
    expect(await findViolations(page)).toEqual([]);
    const app = new App(await page.locator('.once code').innerText());
    await page.getByLabel('Code of the app').focus();
    await page.keyboard.type(await app.codeBefore());
    await page.keyboard.press('Enter');
    await page.getByText('Your recovery codes').waitFor();
    expect(await page.locator('.codes li').count()).toBe(10);
    const remove = async () => {
      await page.getByRole('button', { name: 'Remove the authenticator app' }).focus();
      await page.keyboard.press('Enter');
    };
    await remove();
    await seeHeading(page, 'Confirm it is you');
    await page.getByLabel('Code', { exact: true }).focus();
    await page.keyboard.type(app.code());
    await page.keyboard.press('Enter');
    await seeHeading(page, 'Security');
    await remove();
    await page.getByText('No provider is linked').waitFor();
    expect(await page.getByRole('status').innerText()).toContain('is removed');
    await close();
  });

  it('a template is created and archived by the keys Tab and Enter alone', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('desktop');
    await signIn(shop, page, email);
    const tabTo = async (name: string) => {
      const named = page.locator(`:is(a, button, input, summary):focus`);
      for (let steps = 0; steps < 80; steps++) {
        await page.keyboard.press('Tab');
        const found = await named.evaluateAll(([one]) => (one?.labels?.[0] ?? one)?.innerText ?? '').catch(() => '');
        if (found.trim() === name) return;
      }
      throw new Error(`Tab never came to "${name}"`);
    };
    await tabTo('Templates');
    await page.keyboard.press('Enter');
    await seeHeading(page, 'Templates');
    await tabTo('Create template');
    await page.keyboard.press('Enter');
    await seeHeading(page, 'New template');
    await tabTo('Name');
    await page.keyboard.type('Rain by keys');
    await tabTo('Price');
    await page.keyboard.type('5');
    await page.keyboard.press('Enter');
    await seeHeading(page, 'Template');
    expect(await page.getByText('Rain by keys').count()).toBeGreaterThan(0);
    await tabTo('Archive');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Unarchive' }).waitFor();
    await close();
  });

  it('a passkey is added in two clicks, and proves the person again', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('desktop');
    await addAuthenticator(page);
    await page.goto(named('/login?next=/dashboard/security'));
    await page.getByLabel('E-mail').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await seeHeading(page, 'Security');
    await page.getByRole('link', { name: 'Add a passkey' }).click();
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('Your recovery codes').waitFor();
    await page.goto(named('/dashboard/confirm?next=/dashboard/team'));
    expect(await findViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await seeHeading(page, 'Team');
    await close();
  });

  it('signing out in one tab ends the other', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('desktop');
    await signIn(shop, page, email);
    const other = await page.context().newPage();
    await other.goto(`${shop.baseUrl}/dashboard/team`);
    await seeHeading(other, 'Team');
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.waitForURL(/\/login/);
    await other.getByRole('link', { name: 'Payments', exact: true }).click();
    await other.waitForURL(/\/login\?next=%2Fdashboard%2Fpayments/);
    await close();
  });

  it('screens say the same without JavaScript', async () => {
    const product = await shop.sell();
    const { page, close } = await shop.visit('desktop');
    await signIn(shop, page, shop.email);
    const plain = await shop.visit('desktop', [], { javaScriptEnabled: false });
    await plain.page.context().addCookies(await page.context().cookies());
    const read = async (by: typeof page, path: string) => {
      expect((await by.goto(`${shop.baseUrl}/dashboard${path}`))?.status()).toBe(200);
      return by.locator('main').innerText();
    };
    for (const path of [...PATHS, `/templates/${product.product_id}`]) {
      const words = await read(page, path);
      expect([path, await read(plain.page, path)]).toEqual([path, words]);
    }
    await close();
    await plain.close();
  });

  it('a merchant without JavaScript signs in, is refused, and invites', async () => {
    const { email } = await register(shop);
    const { page, close } = await shop.visit('phone', [], { javaScriptEnabled: false });
    await page.goto(`${shop.baseUrl}/login?next=/dashboard/team`);
    const plain = page.locator('noscript form');
    await plain.getByLabel('E-mail').fill(email);
    await plain.getByLabel('Password').fill('wrong horse battery');
    await plain.getByRole('button').click();
    await page.locator('noscript .problem').waitFor();
    await plain.getByLabel('E-mail').fill(email);
    await plain.getByLabel('Password').fill(PASSWORD);
    await plain.getByRole('button').click();
    await seeHeading(page, 'Team');
    await page.getByLabel('Email address').fill('bob@example.com');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    const alert = page.getByRole('alert');
    expect(await alert.innerText()).toContain('invalid_authorization');
    expect(await page.locator(':focus').getAttribute('role')).toBe('alert');
    expect(await page.getByLabel('Email address').inputValue()).toBe('bob@example.com');
    expect(await page.getByText(BUSINESS).count()).toBeGreaterThan(0);
    await close();
  });
});
