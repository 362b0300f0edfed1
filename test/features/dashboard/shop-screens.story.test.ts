import { describe, expect, it } from 'vitest';
import { utf8 } from '#core/encoding.ts';
import { fieldOf, operationsOn, PageBrowser, signInToPages } from '../../support/clients/page-browser.ts';
import { addMember } from '../../support/people/team.ts';
import { emailedToken, MailWorld, svixHeaders, verifyAddress } from '../../support/servers/mail.ts';

const w = new MailWorld();
const signedIn = (email: string) => signInToPages(w, email);

describe('template screens', () => {
  it('a template is created, changed, archived and put on sale again by forms, and an unchanged form changes nothing', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const sold = { name: 'Forecasts <i>', description: '', 'price.asset': 'USDC', 'price.amount': '12.5', access_period_days: '30' };
    const form = { act: 'create', ...sold, usage_units: '', payout_wallet: owner.wallet.address, success_url: '' };
    const refused = await browser.post('/dashboard/templates/new', {
      ...form,
      'price.amount': 'a lot',
      idempotency_key: 'key-of-the-first-form',
    });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('href="#create-price.amount"');
    expect(refused.text).toContain('value="Forecasts &lt;i&gt;"');
    const path = (await browser.post('/dashboard/templates/new', form)).location ?? '';
    expect(path).toMatch(/^\/dashboard\/templates\/[0-9a-f-]{36}$/);
    const one = await browser.get(path);
    expect(operationsOn(one.text)).toEqual([
      'listRailSettings',
      'getProduct',
      'getReadiness',
      'listPayments',
      'getAccount',
      'listAccounts',
    ]);
    expect(one.text).toContain('<dd>12.5 USDC</dd>');
    expect((await browser.get('/dashboard/templates')).text).toContain('>On sale</td>');

    const saved = { ...sold, act: 'save', usage_units: '', payout_wallet: owner.wallet.address, success_url: '' };
    const entries = async () => (await w.env.DB.prepare('SELECT action FROM audit_entries').all()).results;
    const before = await entries();
    expect((await browser.post(path, saved)).location).toBe(path);
    expect(await entries()).toEqual(before);
    expect((await browser.post(path, { ...saved, 'price.amount': '9', description: 'Rain, by the hour' })).location).toBe(path);
    const changed = await browser.get(path);
    expect(changed.text).toContain('<dd>9 USDC</dd>');
    expect(changed.text).toContain('value="Rain, by the hour"');
    expect((await browser.post(path, { act: 'archive' })).location).toBe(path);
    expect((await browser.get(path)).text).toContain('<dd>Archived</dd>');
    expect((await browser.post(path, { act: 'unarchive' })).location).toBe(path);
    expect((await browser.get(path)).text).toContain('<dd>On sale</dd>');
  });

  it('a template without a payout wallet says so, and names the repair', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const form = { act: 'create', name: 'Rain', 'price.asset': 'USDC', 'price.amount': '5' };
    const path = (await browser.post('/dashboard/templates/new', form)).location ?? '';
    const { text } = await browser.get(path);
    expect(text).toContain('<dd>Needs a payout wallet</dd>');
    expect(text).toContain('Name the wallet that is paid, for each way to pay.');
    const rail = { id: 'solana_usdc', enabled: 'true', payout_wallet: owner.wallet.address };
    const way = { ...rail, act: 'set_wallet', idempotency_key: 'the-only-form' };
    expect((await browser.post('/dashboard/payouts', way)).location).toBe('/dashboard/payouts');
    expect((await browser.get(path)).text).toContain('<dd>On sale</dd>');
    expect((await browser.get('/dashboard/templates')).text).toContain('>On sale</td>');
  });
});

describe('home', () => {
  it('a new account sees the way to its first sale, and after it the payment, the sum and nothing to do', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const empty = await browser.get('/dashboard');
    expect(empty.status).toBe(200);
    expect(empty.text).toContain('To your first sale');
    expect(empty.text).toContain('<a href="/dashboard/templates/new">Create a template</a>');
    expect(empty.text).not.toContain('Needs you');

    await verifyAddress(w, owner);
    const product = await w.product(owner, { access_period_days: 30 });
    const { payment } = await w.purchase(product, await w.chain.wallet());
    await w.sweepAlone('analytics');
    const { text } = await browser.get('/dashboard');
    expect(text).not.toContain('To your first sale');
    expect(text).toContain(`href="/dashboard/payments/${payment.payment_id}"`);
    expect(text).toMatch(/<h2>[\d.]+ USDC in 30 days<\/h2>/);
    expect(text.match(/<rect /g)).toHaveLength(30);
  });

  it('unmatched money and a failing endpoint are named before what was earned', async () => {
    const owner = await w.merchant();
    const payment = await w.connect(await w.product(owner));
    await w.env.DB.prepare(
      "UPDATE payments SET status = 'FAILED', failure_code = 'session_expired', expires_at = expires_at - 1100000 WHERE id = ?",
    )
      .bind(payment.payment_id)
      .run();
    await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
    const hook = await w.call('POST', '/v1/webhooks/endpoints', { key: owner.key, body: { url: 'https://hooks.example.com/one' } });
    await w.env.DB.prepare('UPDATE webhook_endpoints SET failing_since = ? WHERE id = ?').bind(Date.now(), hook.body.endpoint_id).run();
    const { text } = await (await signedIn(owner.email)).get('/dashboard');
    expect(text).toContain('Money that paid no checkout: 1');
    expect(text).toContain('An endpoint fails: <bdi>https://hooks.example.com/one</bdi>');
    expect(text.indexOf('Needs you')).toBeLessThan(text.indexOf('Templates on sale'));
  });

  it('test data has a page of its own, and a member without a right gets the rest of the page', async () => {
    const owner = await w.merchant('growth');
    const bob = await addMember(w, owner, 'support');
    const browser = new PageBrowser(w);
    browser.cookies.set('__Host-svc_session', bob.token);
    const { status, text } = await browser.get('/dashboard?mode=sandbox');
    expect([status, text.includes('data-mode="sandbox"'), text.includes('Test data')]).toEqual([200, true, true]);
    expect(text).not.toContain('href="/dashboard/keys');
  });
});

describe('banner', () => {
  const NEW_PASSWORD = 'battery staple 9 of a reader';
  const bannerOf = ({ text }: { text: string }) => /<div class="problem">(.*?)<\/div>/s.exec(text)?.[1] ?? null;

  it('every page says the worst alone: an address that bounces, then paused sales, then an unconfirmed address', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const banner = async () => bannerOf(await browser.get('/dashboard'));
    expect(await banner()).toContain('is not confirmed. <a href="/dashboard/security">');
    expect((await browser.post('/dashboard/payouts', { act: 'pause' })).location).toBe('/dashboard/payouts');
    expect(await banner()).toContain('Sales are paused');
    const raw = JSON.stringify({ type: 'email.bounced', data: { to: [owner.email], bounce: { type: 'Permanent' } } });
    expect((await w.call('POST', '/v1/integrations/mail/webhooks/resend', { raw, headers: svixHeaders(utf8(raw)) })).status).toBe(200);
    expect(await banner()).toMatch(/came back, so none is sent there any more/);
    expect((await browser.get('/dashboard/security')).text).toContain('Send confirmation email');
    expect((await browser.post('/dashboard/security', { act: 'confirm_email' })).location).toBe('/dashboard/security');
    await verifyAddress(w, owner);
    expect(await banner()).toContain('Sales are paused');
    expect(await banner()).toContain('<form class="act" method="post" action="/dashboard/payouts">');
    await browser.post('/dashboard/payouts', { act: 'resume' });
    expect(await banner()).toBeNull();
  });

  it('the reader who took an account over learns what was ended', async () => {
    const squatter = await w.merchant();
    const token = await emailedToken(w, squatter.userId, 'reset');
    expect((await w.call('POST', '/v1/auth/password/reset', { body: { token, new_password: NEW_PASSWORD } })).status).toBe(200);
    const browser = await signInToPages(w, squatter.email, NEW_PASSWORD);
    expect(bannerOf(await browser.get('/dashboard'))).toContain('This account is yours now. What others had is ended: 2 API keys');
  });
});

describe('office screens', () => {
  it('a ticket is opened, answered and closed, and its markup is text', async () => {
    const browser = await signedIn((await w.merchant()).email);
    const form = { act: 'open', subject: 'Where is <my> money?', category: 'payment', payment_id: '', body: 'It <b>left</b>\nmy wallet' };
    expect((await browser.post('/dashboard/support', { ...form, subject: 'x' })).status).toBe(422);
    expect((await browser.post('/dashboard/support', form)).location).toBe('/dashboard/support');
    const list = await browser.get('/dashboard/support');
    const path = /href="(\/dashboard\/support\/[0-9a-f-]{36})"><bdi>Where is &lt;my&gt; money\?/.exec(list.text)?.[1] ?? '';
    expect((await browser.get(path)).text).toContain('It &lt;b&gt;left&lt;/b&gt;');
    expect((await browser.post(path, { act: 'answer', body: 'Found it' })).location).toBe(path);
    expect((await browser.post(path, { act: 'close' })).location).toBe(path);
    const closed = await browser.get(path);
    expect([closed.text.includes('Found it'), closed.text.includes('value="answer"')]).toEqual([true, false]);
  });

  it('settings are saved in their groups, and a refused one names its field', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const path = '/dashboard/settings';
    const brand = { act: 'brand', 'merchant_settings.checkout_brand_name': 'Ada’s', 'merchant_settings.checkout_accent_hex': 'green' };
    const refused = await browser.post(path, brand);
    expect(refused.status).toBe(422);
    expect(refused.text).toMatch(/<a href="#brand-merchant_settings\.checkout_accent_hex">Accent colour: /);
    expect((await browser.post(path, { ...brand, 'merchant_settings.checkout_accent_hex': '#0a7d4f' })).location).toBe(path);
    const account = { act: 'account', display_name: 'Ada & sons', timezone: 'Europe/Lisbon', locale: 'de' };
    expect((await browser.post(path, account)).location).toBe(path);
    const notices = { webhooks: 'false', payouts: 'true', renewals: 'true', buyer_receipts: 'false', product_news: 'true' };
    const form = Object.fromEntries(Object.entries(notices).map(([name, value]) => [`notification_prefs.${name}`, value]));
    expect((await browser.post(path, { act: 'notices', ...form })).location).toBe(path);
    const { body } = await w.call('GET', '/v1/account/me', { key: owner.token });
    expect(body).toMatchObject({
      display_name: 'Ada & sons',
      timezone: 'Europe/Lisbon',
      locale: 'de',
      merchant_settings: { checkout_brand_name: 'Ada’s', checkout_accent_hex: '#0a7d4f' },
      notification_prefs: { webhooks: false, payouts: true, buyer_receipts: false },
    });
    const reader = new PageBrowser(w);
    reader.cookies.set('__Host-svc_session', (await addMember(w, owner, 'finance')).token);
    const { text } = await reader.get(path);
    expect([text.includes('<dt>Name on the checkout</dt>'), text.includes('<dt>Address of the logo</dt>')]).toEqual([true, false]);
  });

  it('a scenario runs with test data alone, from a page of either mode', async () => {
    const browser = await signedIn((await w.merchant()).email);
    const { location } = await browser.post('/dashboard/sandbox', { act: 'run', scenario: 'payment_confirmed' });
    expect(location).toMatch(/^\/dashboard\/sandbox\/[0-9a-f-]{36}\?mode=sandbox$/);
    const { status, text } = await browser.get(location!);
    expect([status, text.includes('payment confirmed')]).toEqual([200, true]);
    expect((await browser.post(location!, { act: 'advance', seconds: 'a day' })).status).toBe(422);
  });

  it('the plan shows what is used, and a way to pay names its wallet', async () => {
    const owner = await w.merchant('growth');
    const browser = await signedIn(owner.email);
    const plan = await browser.get('/dashboard/billing');
    expect(plan.text).toMatch(/<th scope="row">API keys<\/th><td[^>]*>1<\/td>/);
    expect(plan.text).toContain(
      '<th scope="row">Growth</th><td data-name="Price of 30 days">49 USDC</td><td data-name="Templates">250</td>',
    );
    const rail = { act: 'set_wallet', id: 'solana_usdc', enabled: 'true', payout_wallet: owner.wallet.address };
    const refused = await browser.post('/dashboard/payouts', { ...rail, payout_wallet: 'no wallet', idempotency_key: 'the-first-form' });
    expect([refused.status, refused.text.includes('invalid_wallet_address')]).toEqual([422, true]);
    expect((await browser.post('/dashboard/payouts', { ...rail, idempotency_key: 'the-second-form' })).location).toBe('/dashboard/payouts');
    expect((await browser.get('/dashboard/payouts')).text).toContain(`<th scope="row">${owner.wallet.address}</th>`);
    expect((await browser.post('/dashboard/payouts', { act: 'disown', wallet_address: owner.wallet.address, confirm: '' })).status).toBe(
      422,
    );
    const form = { act: 'disown', wallet_address: owner.wallet.address, confirm: 'not mine' };
    expect((await browser.post('/dashboard/payouts', form)).location).toBe('/dashboard/payouts');
    expect((await browser.get('/dashboard/payouts')).text).not.toContain(`<th scope="row">${owner.wallet.address}</th>`);
  });
});

describe('customer screens', () => {
  it('a customer is found by the beginning of an id, renamed, and given access', async () => {
    const owner = await w.merchant();
    const product = await w.product(owner, { access_period_days: 30 });
    const { payment } = await w.purchase(product, await w.chain.wallet(), { customer_ref: 'user-<42>' });
    await w.sweepAlone('analytics');
    const browser = await signedIn(owner.email);
    const list = await browser.get('/dashboard/customers?q=user-');
    const path = /href="(\/dashboard\/customers\/[0-9a-f-]{36})"><bdi>user-&lt;42&gt;/.exec(list.text)?.[1] ?? '';
    const { text } = await browser.get(path);
    expect(operationsOn(text)).toEqual([
      ...['getCustomer', 'getCustomerState', 'getCustomerTimeline', 'listProducts', 'getAccount', 'listAccounts'],
    ]);
    expect(text).toContain('>yes</td>');
    expect(text).toContain('>payment.confirmed<');
    expect(text).toMatch(/data-name="When"><time [^>]+>\d{4}-\d\d-\d\d, \d\d:\d\d:\d\d UTC</);
    expect(text).toContain(`<code>${path.split('/').at(-1)}</code> <button type="button" class="copy" hidden="">`);
    expect(text).not.toContain('<dt>Emails</dt>');
    expect(text).not.toContain('<dt>Metadata</dt>');
    expect((await browser.get(`/dashboard/payments?customer_id=${path.split('/').at(-1)}`)).text).toContain(payment.payment_id);
    expect((await browser.get(`/dashboard/receipts?customer_id=${path.split('/').at(-1)}`)).text).toContain('/dashboard/receipts/');
    const portal = await browser.post(path, { act: 'portal', idempotency_key: fieldOf(text, 'portal', 'idempotency_key') });
    expect(portal.text).toMatch(/<code>https:\/\/svc\.test\/me\/enter\?token=[\w.-]+<\/code>/);
    const found = await browser.get(`/dashboard/search?q=${payment.payment_id}`);
    expect(operationsOn(found.text)).toEqual(['search', 'getAccount', 'listAccounts']);
    expect(found.text).toContain(`/dashboard/payments/${payment.payment_id}"`);
    expect(operationsOn((await browser.get('/dashboard/search')).text)).toEqual(['getAccount', 'listAccounts']);
    expect((await browser.get('/dashboard/search?q=a')).status).toBe(422);
    expect((await browser.post(path, { act: 'save', name: 'Grace', email: 'grace@example.com' })).location).toBe(path);
    expect((await browser.get(path)).text).toContain('<dd><bdi>Grace</bdi></dd>');
    const grant = {
      act: 'grant',
      product_id: product.product_id,
      days: '7',
      units: '',
      reason: 'a late answer',
      idempotency_key: fieldOf(text, 'grant', 'idempotency_key'),
    };
    expect((await browser.post(path, { ...grant, days: 'seven' })).status).toBe(422);
    for (let n = 0; n < 2; n++)
      expect((await browser.post(path, { ...grant, idempotency_key: 'one-grant-of-this-form' })).location).toBe(path);
    const state = await w.call('GET', '/v1/customers/state?customer_ref=user-%3C42%3E', { key: owner.key });
    const days = (Date.parse(state.body.products[0].paid_through) - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(37);
  });

  it('a customer is merged into another one by its reference, once the word is typed', async () => {
    const owner = await w.merchant();
    const noted = async (customer_ref: string): Promise<string> =>
      (await w.call('POST', '/v1/customers', { key: owner.key, body: { customer_ref } })).body.customer_id;
    const [into, from] = [await noted('into'), await noted('from')];
    const browser = await signedIn(owner.email);
    const path = `/dashboard/customers/${into}`;
    const { text } = await browser.get(path);
    const act = { act: 'merge', other: 'from', idempotency_key: fieldOf(text, 'merge', 'idempotency_key') };
    expect((await browser.post(path, { ...act, confirm: 'yes' })).status).toBe(422);
    expect((await browser.post(path, { ...act, other: 'nobody', confirm: 'merge' })).status).toBe(422);
    expect((await browser.post(path, { ...act, confirm: 'merge' })).location).toBe(path);
    expect((await w.call('GET', `/v1/customers/${from}`, { key: owner.key })).body).toMatchObject({
      customer_id: into,
      merged_from: [from],
    });
  });

  it('a customer is erased once the reference is typed, and its page shows that', async () => {
    const owner = await w.merchant();
    const product = await w.product(owner);
    const { customer_id } = (await w.call('POST', '/v1/customers', { key: owner.key, body: { customer_ref: 'user-9', name: 'Ada' } })).body;
    await w.purchase(product, await w.chain.wallet(), { customer_ref: 'user-9' });
    const browser = await signedIn(owner.email);
    const path = `/dashboard/customers/${customer_id}`;
    const act = { act: 'erase', idempotency_key: fieldOf((await browser.get(path)).text, 'erase', 'idempotency_key') };
    expect((await browser.post(path, { ...act, confirm: 'Ada' })).status).toBe(422);
    expect((await browser.post(path, { ...act, confirm: 'user-9' })).status).toBe(409);
    const again = fieldOf((await browser.get(path)).text, 'erase', 'idempotency_key');
    const ended = { act: 'erase', idempotency_key: again, confirm: 'user-9', end_access: 'true', reason: 'asked by email' };
    expect((await browser.post(path, ended)).location).toBe(path);
    const { text } = await browser.get(path);
    const acts = ['grant', 'portal', 'save', 'merge', 'erase'].map((name) => text.includes(`value="${name}"`));
    expect([text.includes('erasing'), ...acts]).toEqual([true, false, false, false, false, false]);
    const { items } = (await w.call('GET', '/v1/account/audit-log?action=customer.erased', { key: owner.token })).body;
    expect(items).toMatchObject([{ reason: 'asked by email' }]);
  });

  it('a customer is exported by the owner, who finds the link, and by nobody beyond the role or the account', async () => {
    const owner = await w.merchant();
    const noted = async (key: string): Promise<string> => {
      const { body } = await w.call('POST', '/v1/customers', { key, body: { customer_ref: 'user-1', email: 'bea@example.com' } });
      return `/dashboard/customers/${body.customer_id}`;
    };
    const [live, test] = [await noted(owner.key), `${await noted(owner.sandboxKey)}`];
    const browser = await signedIn(owner.email);
    for (const [path, mode] of [
      [live, ''],
      [test, '?mode=sandbox'],
    ] as const) {
      expect((await browser.get(`${path}${mode}`)).text).toContain(`<a href="${path}/export${mode}">Export</a>`);
      const { text, response } = await browser.get(`${path}/export${mode}`);
      expect(response.headers.get('Content-Disposition')).toBe('attachment; filename="export.json"');
      expect(response.headers.get('Cache-Control')).toContain('no-store');
      const { customer_ref, emails } = JSON.parse(text).customer;
      expect([customer_ref, emails]).toEqual(['user-1', [{ email: 'bea@example.com', source: 'merchant' }]]);
    }
    expect((await browser.get(`${test}/export`)).status).toBe(404);
    const other = await signedIn((await w.merchant()).email);
    expect((await other.get(`${live}/export`)).status).toBe(404);
    const { own } = await addMember(w, owner, 'support');
    const member = await signedIn(own.email);
    await member.post('/dashboard/switch', { account_id: owner.userId });
    expect((await member.get(live)).text).not.toContain('/export');
    expect((await member.get(`${live}/export`)).status).toBe(403);
    expect((await new PageBrowser(w).get(`${live}/export`)).location).toContain('/login?next=');
    const recorded = `SELECT count(*) AS n FROM audit_entries WHERE action = 'customer.exported'`;
    expect(await w.env.DB.prepare(recorded).first('n')).toBe(2);
  });
});
