import { generateKeyPairSigner } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { fieldOf, operationsOn, signInToPages } from '../../support/clients/page-browser.ts';
import { pullerOf, SUBSCRIPTION_KEYS } from '../../support/people/subscription-shop.ts';
import { addMember } from '../../support/people/team.ts';
import { MailWorld } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const w = new MailWorld({ SUBSCRIPTION_KEYS });
const signedIn = ({ email }: Merchant) => signInToPages(w, email);

const bearer = ({ token }: Merchant) => ({ Authorization: `Bearer ${token}` });

async function sell(owner: Merchant, terms: Record<string, unknown> = {}) {
  const payment = await w.connect(await w.product(owner, terms));
  const { body } = await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
  return { paymentId: payment.payment_id as string, receiptId: body.receipt_id as string };
}

/** Signs with the merchant's wallet what the signing page would show before it leads back to `path`, and sends it. */
async function signAt(owner: Merchant, location: string | null, path: string): Promise<string> {
  const [page, transaction = ''] = (location ?? '').split('#');
  expect(page).toBe(`/sign?${new URLSearchParams({ next: path })}`);
  return w.chain.call<string>('sendTransaction', await w.chain.sign(owner.wallet, transaction), { encoding: 'base64' });
}

describe('forms while nothing can be stored', () => {
  it('a form that the service cannot store comes back with what was typed, and stores it once on the second try', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner);
    const path = '/dashboard/templates/new';
    const form = {
      ...{ act: 'create', name: 'Rain & wind', 'price.asset': 'USDC', 'price.amount': '5', renewal_mode: 'ONE_OFF' },
      idempotency_key: fieldOf((await browser.get(path)).text, 'create', 'idempotency_key'),
    };
    await w.env.DB.prepare(
      "CREATE TRIGGER away BEFORE INSERT ON products BEGIN SELECT RAISE(ABORT, 'D1_ERROR: Network connection lost.'); END",
    ).run();
    const refused = await browser.post(path, form).finally(() => w.env.DB.prepare('DROP TRIGGER away').run());
    expect(refused.status).toBe(503);
    expect(refused.text).toContain('role="alert"');
    expect(refused.text).toContain('value="Rain &amp; wind"');
    const again = fieldOf(refused.text, 'create', 'idempotency_key');
    const stored = await browser.post(path, { ...form, idempotency_key: again });
    expect((await browser.post(path, { ...form, idempotency_key: again })).location).toBe(stored.location);
    const { body } = await w.call('GET', '/v1/products', { key: owner.token });
    expect(body.items.map(({ name }: { name: string }) => name)).toEqual(['Rain & wind']);
  });
});

describe('acts that a wallet signs', () => {
  it('a refund leads to the signing page, and the payment shows it once the chain has it', async () => {
    const owner = await w.merchant();
    const { paymentId } = await sell(owner);
    const browser = await signedIn(owner);
    const path = `/dashboard/payments/${paymentId}`;
    const refused = await browser.post(path, { act: 'refund', asset: 'USDC', 'amount.amount': '1000', revoke_access: 'false' });
    expect([refused.status, refused.text.includes('role="alert"'), refused.text.includes('value="1000"')]).toEqual([422, true, true]);
    expect(refused.text).toMatch(/id="refund-amount\.amount"[^>]*aria-invalid="true"/);
    const signature = await signAt(
      owner,
      (await browser.post(path, { act: 'refund', asset: 'USDC', 'amount.amount': '1', revoke_access: 'false' })).location,
      path,
    );
    const back = `${path}?tx_signature=${signature}`;
    expect((await browser.get(path)).text).not.toContain('value="refund_confirm"');
    expect((await browser.get(back)).text).toContain(`name="tx_signature" value="${signature}"`);
    const mistaken = await browser.post(path, { act: 'refund_confirm', tx_signature: 'none' });
    expect([mistaken.status, mistaken.text.includes('name="tx_signature" value="none"')]).toEqual([422, true]);
    expect((await browser.post(path, { act: 'refund_confirm', tx_signature: signature })).location).toBe(path);
    const { text } = await browser.get(back);
    expect([text.includes('>1 USDC</td>'), text.includes(`<th scope="row">${signature}</th>`)]).toEqual([true, true]);
    expect(text).not.toContain('value="refund_confirm"');
    expect(text).toMatch(/Empty: \d[\d.]* USDC, all that is left/);
    expect((await browser.get('/dashboard/payments')).text).toContain('>partly refunded</td>');
    const rest = await signAt(owner, (await browser.post(path, { act: 'refund', asset: 'USDC', revoke_access: 'false' })).location, path);
    await browser.post(path, { act: 'refund_confirm', tx_signature: rest });
    expect((await browser.get(path)).text).not.toContain('value="refund"');
    expect((await browser.get('/dashboard/payments')).text).toContain('>refunded</td>');
  });

  it('a member who may not refund is refused by the page, naming the roles that may', async () => {
    const owner = await w.merchant('growth');
    const { paymentId } = await sell(owner);
    const bob = await addMember(w, owner, 'support');
    const browser = await signedIn(owner);
    browser.cookies.set('__Host-svc_session', bob.token);
    const refused = await browser.post(`/dashboard/payments/${paymentId}`, { act: 'refund', asset: 'USDC', revoke_access: 'false' });
    expect([refused.status, refused.text.includes('invalid_authorization')]).toEqual([403, true]);
  });

  it('a template that renews by itself is published by the wallet and a confirmation, and then on sale', async () => {
    const owner = await w.merchant();
    for (const address of [pullerOf(w), owner.wallet.address]) await w.chain.call('local_fundSol', address, '1000000000');
    await w.chain.call('local_fundUsdc', owner.wallet.address, '0');
    const browser = await signedIn(owner);
    const sold = { name: 'Rain', 'price.asset': 'USDC', 'price.amount': '5', access_period_days: '30', usage_units: '' };
    const form = { ...sold, payout_wallet: owner.wallet.address };
    const path = (await browser.post('/dashboard/templates/new', { ...form, act: 'create', renewal_mode: 'ONE_OFF' })).location ?? '';
    expect((await browser.post(path, { ...form, act: 'save', renewal_mode: 'AUTOMATIC' })).location).toBe(path);
    expect((await browser.get(path)).text).toContain('<dd>Live mode to confirm</dd>');
    expect((await browser.post(path, { ...form, act: 'save', renewal_mode: 'AUTOMATIC', live_mode_confirmed: 'true' })).location).toBe(
      path,
    );
    expect((await browser.get(path)).text).toContain('<dd>Plan to publish</dd>');
    const signature = await signAt(
      owner,
      (await browser.post(path, { act: 'publish', idempotency_key: 'publish-the-plan' })).location,
      path,
    );
    expect((await browser.post(path, { act: 'confirm', tx_signature: 'none', idempotency_key: 'confirm-wrongly-1' })).status).toBe(422);
    const confirmed = await browser.post(path, { act: 'confirm', tx_signature: signature, idempotency_key: 'confirm-the-plan' });
    expect(confirmed.location).toBe(path);
    const { text } = await browser.get(path);
    expect(text).toContain('<dd>On sale</dd>');
    expect(text).toMatch(/href="\/p\/[a-z0-9-]+\/qr"/);
    expect(text).not.toContain('value="publish"');
  });

  it('a payout wallet without a token account has a button that leads to its signature', async () => {
    const owner = await w.merchant();
    const poor = await generateKeyPairSigner();
    const settings = { enabled: true, payout_wallet: poor.address };
    const put = await w.call('PUT', '/v1/access/rail-settings/solana_usdc', {
      headers: { ...bearer(owner), 'Idempotency-Key': 'poor-wallet-of-owner' },
      body: settings,
    });
    expect(put.status).toBe(200);
    const { text } = await (await signedIn(owner)).get('/dashboard/payouts');
    expect(text).toMatch(/href="https:\/\/svc\.test\/sign#[^"]+">\s*Create token account/);
    expect(text).toContain('href="/dashboard/log?action=payout.*&amp;mode=live"');
    const log = await (await signedIn(owner)).get('/dashboard/log?action=payout.*&mode=live');
    expect(log.text).toMatch(new RegExp(`payout wallet: <bdi>[^<]*</bdi> → <bdi>${poor.address}</bdi>`));
  });
});

describe('files and invoices', () => {
  it('invoice fields are saved, an emptied one is cleared, and an unknown date names its field', async () => {
    const owner = await w.merchant();
    const { receiptId } = await sell(owner);
    const browser = await signedIn(owner);
    const path = `/dashboard/receipts/${receiptId}`;
    const refused = await browser.post(path, { act: 'invoice', issued_on: 'soon', 'bill_to.name': 'Söhne <GmbH>' });
    expect([refused.status, refused.text.includes('href="#invoice-issued_on"')]).toEqual([422, true]);
    expect(refused.text).toContain('value="Söhne &lt;GmbH&gt;"');
    const saved = { act: 'invoice', invoice_number: 'INV-7', 'bill_to.name': 'Söhne GmbH', 'bill_to.address': 'Hafen 1\r\nHamburg' };
    expect((await browser.post(path, saved)).location).toBe(path);
    const { text } = await browser.get(path);
    expect(text).toContain('value="INV-7"');
    expect(text).toMatch(/<textarea id="invoice-bill_to\.address"[^>]*>Hafen 1\nHamburg<\/textarea>/);
    await browser.post(path, { ...saved, invoice_number: '' });
    const read = await w.call('GET', `/v1/receipt/${receiptId}`, { key: owner.key });
    expect(read.body.invoice_metadata).toEqual({ bill_to: { name: 'Söhne GmbH', address: 'Hafen 1\nHamburg' } });
  });

  it('the days of a list and its file are those of the account’s time zone', async () => {
    const owner = await w.merchant();
    const { receiptId } = await sell(owner);
    const zone = await w.call('PATCH', '/v1/account/me', { key: owner.token, body: { timezone: 'Europe/Berlin' } });
    expect(zone.status).toBe(200);
    const browser = await signedIn(owner);
    const { text } = await browser.get('/dashboard/receipts?created_from=2020-03-29&created_to=2099-07-31');
    expect(text).toContain('<input id="created_from" name="created_from" type="date" value="2020-03-29"/>');
    expect(text).toContain(`/dashboard/receipts/${receiptId}`);
    expect(/receipts\.csv\?([^"]+)"/.exec(text)![1]!.split('&amp;').map(decodeURIComponent)).toEqual([
      'created_from=2020-03-28T23:00:00.000Z',
      'created_to=2099-07-31T22:00:00.000Z',
      'mode=live',
    ]);
    expect((await browser.get('/dashboard/receipts?created_to=2020-03-29')).text).not.toContain(receiptId);
    expect((await browser.get('/dashboard/payments?created_from=2099-01-01')).text).toContain('Nothing matches.');
    expect((await browser.get('/dashboard/receipts?created_from=soon')).status).toBe(422);
  });

  it('lists that the API exports are files with the filter of the page, for their readers alone', async () => {
    const owner = await w.merchant('growth');
    const { receiptId } = await sell(owner);
    const browser = await signedIn(owner);
    expect((await browser.get('/dashboard/receipts?direction=received')).text).toContain(
      'href="/dashboard/receipts.csv?direction=received&amp;mode=live"',
    );
    const receipts = await browser.get('/dashboard/receipts.csv?direction=received');
    expect([receipts.response.headers.get('content-type'), receipts.text.includes(receiptId)]).toEqual(['text/csv; charset=utf-8', true]);
    expect((await browser.get('/dashboard/receipts.csv?mode=sandbox')).text).not.toContain(receiptId);
    expect((await browser.get('/dashboard/log.csv')).text).toContain('session.started');
    expect((await browser.get('/dashboard/analytics.csv')).text.split('\r\n').length).toBeGreaterThan(10);
    const pdf = await browser.get(`/dashboard/receipts/${receiptId}/pdf`);
    expect([pdf.response.headers.get('content-type'), pdf.text.slice(0, 5)]).toEqual(['application/pdf', '%PDF-']);
    const [viewer, eve] = [await addMember(w, owner, 'viewer'), await w.merchant()];
    browser.cookies.set('__Host-svc_session', viewer.token);
    expect((await browser.get('/dashboard/log.csv')).status).toBe(403);
    expect((await (await signedIn(eve)).get(`/dashboard/receipts/${receiptId}/pdf`)).status).toBe(404);
    browser.cookies.clear();
    expect((await browser.get('/dashboard/receipts.csv')).location).toBe('/login?next=%2Fdashboard%2Freceipts.csv');
  });
});

describe('frame of every page', () => {
  it('times are in the zone of the account, with UTC as their title', async () => {
    const owner = await w.merchant();
    const { paymentId } = await sell(owner);
    await w.call('PATCH', '/v1/account/me', { headers: bearer(owner), body: { timezone: 'Asia/Kolkata' } });
    const { text } = await (await signedIn(owner)).get(`/dashboard/payments/${paymentId}`);
    const [, at = '', title = '', shown = ''] = /<time datetime="([^"]+)" title="([^"]+)">([^<]+)</.exec(text) ?? [];
    const minutes = (zoned: string) => Date.parse(`${zoned.slice(0, 10)}T${zoned.slice(12, 17)}:00Z`);
    expect(title).toBe(`${at.slice(0, 10)}, ${at.slice(11, 16)} UTC`);
    expect([shown.endsWith('GMT+5:30'), (minutes(shown) - minutes(title)) / 60_000]).toEqual([true, 330]);
  });

  it('"New" has what the role may make, and the title counts unmatched money', async () => {
    const owner = await w.merchant('growth');
    const viewer = await addMember(w, owner, 'viewer');
    const payment = await w.connect(await w.product(owner));
    await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
    expect((await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment))).status).toBe(409);
    const browser = await signedIn(owner);
    const { text } = await browser.get('/dashboard/unmatched');
    expect(text).toContain(`<title>Unmatched money (1) · `);
    expect(text).toContain('href="/dashboard/keys/new">API key</a>');
    browser.cookies.set('__Host-svc_session', viewer.token);
    expect((await browser.get('/dashboard')).text).not.toContain('<summary>New</summary>');
  });

  it('the events of a payment are sent again to each endpoint once, and one press twice is once', async () => {
    const owner = await w.merchant('growth');
    const made = { event_types: ['payment.confirmed'] };
    for (const url of ['https://hooks.example.com/one', 'https://hooks.example.com/two'])
      expect((await w.call('POST', '/v1/webhooks/endpoints', { key: owner.key, body: { ...made, url } })).status).toBe(201);
    const { paymentId } = await sell(owner);
    await w.deliver();
    await w.sweepAlone('fanOut');
    const count = () => w.env.DB.prepare('SELECT count(*) AS n FROM webhook_deliveries').first<number>('n');
    expect(await count()).toBe(2);
    const browser = await signedIn(owner);
    const path = `/dashboard/payments/${paymentId}`;
    const form = { act: 'resend', idempotency_key: 'send-them-all-again' };
    const sent = await browser.post(path, form);
    expect([sent.status, sent.location]).toEqual([303, path]);
    expect(await count()).toBe(4);
    await browser.post(path, form);
    expect(await count()).toBe(4);
    expect(operationsOn((await browser.get(path)).text)).toContain('getWebhookTimeline');
  });

  it('a payment with more than 120 entries says how many events were sent again, and goes on with the older ones', async () => {
    const owner = await w.merchant('growth');
    const made = { event_types: ['payment.confirmed'] };
    for (const url of ['https://hooks.example.com/three', 'https://hooks.example.com/four'])
      expect((await w.call('POST', '/v1/webhooks/endpoints', { key: owner.key, body: { ...made, url } })).status).toBe(201);
    const { paymentId } = await sell(owner);
    await w.deliver();
    await w.sweepAlone('fanOut');
    const { results } = await w.env.DB.prepare('SELECT * FROM webhook_deliveries ORDER BY id DESC LIMIT 2').all();
    const [{ id, ...newest }, earlier] = results as [Record<string, unknown>, Record<string, unknown>];
    for (let n = 1; n <= 130; n++) {
      const copy = { ...newest, id: Number(id) + n, copy: n, replay_of: id, completed_at: Number(newest.created_at) + n };
      const marks = Object.keys(copy).map(() => '?');
      const into = `INSERT INTO webhook_deliveries (${Object.keys(copy).join(', ')}) VALUES (${marks.join(', ')})`;
      await w.env.DB.prepare(into)
        .bind(...Object.values(copy))
        .run();
    }
    const replaysOf = (endpoint: unknown) =>
      w.env.DB.prepare('SELECT count(*) AS n FROM webhook_deliveries WHERE endpoint_id = ? AND replay_of IS NOT NULL')
        .bind(endpoint)
        .first<number>('n');
    const browser = await signedIn(owner);
    const path = `/dashboard/payments/${paymentId}`;
    const first = await browser.post(path, { act: 'resend', idempotency_key: 'send-the-newest-120' });
    expect([first.status, first.text.includes('Deliveries on their way again: 1.')]).toEqual([200, true]);
    expect([await replaysOf(newest.endpoint_id), await replaysOf(earlier.endpoint_id)]).toEqual([131, 0]);
    const after = fieldOf(first.text, 'resend', 'after');
    const second = await browser.post(path, { act: 'resend', idempotency_key: 'send-the-older-ones', after });
    expect([second.status, second.location]).toEqual([303, path]);
    expect(await replaysOf(earlier.endpoint_id)).toBe(1);
  });
});
