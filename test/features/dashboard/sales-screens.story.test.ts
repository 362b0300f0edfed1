import { describe, expect, it } from 'vitest';
import { fieldOf, operationsOn, PageBrowser, signInToPages } from '../../support/clients/page-browser.ts';
import { addMember } from '../../support/people/team.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';

const w = new MailWorld();
const signedIn = (email: string) => signInToPages(w, email);

describe('payment and receipt screens', () => {
  it('a payment is found with its timeline and receipt, and its proof is sent to an address', async () => {
    const owner = await w.merchant();
    await verifyAddress(w, owner);
    const product = await w.product(owner, { name: 'Weather <b>' });
    const payment = await w.connect(product, { customer_ref: 'user-42' });
    const { body } = await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
    const browser = await signedIn(owner.email);
    const list = await browser.get('/dashboard/payments?status=CONFIRMED');
    expect(list.text).toContain(`href="/dashboard/payments/${payment.payment_id}"`);
    expect(list.text).toContain('<bdi>user-42</bdi>');
    const one = await browser.get(`/dashboard/payments/${payment.payment_id}`);
    expect(operationsOn(one.text)).toEqual(['getPayment', 'getWebhookTimeline', 'getAccount', 'listAccounts']);
    expect(one.text).toContain('payment.confirmed');
    expect(one.text).toContain(`href="/dashboard/receipts/${body.receipt_id}"`);
    const receipt = await browser.get(`/dashboard/receipts/${body.receipt_id}`);
    expect(receipt.text).toContain('Weather &lt;b&gt;');
    expect(receipt.text).toContain(`<a href="/r/${body.receipt_id}">Public page</a>`);
    expect(receipt.text).not.toContain('Refunded');
    const refunds = JSON.stringify([{ units: '2000000', txSignature: 'returned', at: Date.parse('2026-11-02T12:00:00Z') }]);
    await w.env.DB.prepare('UPDATE payments SET refunds = ? WHERE id = ?').bind(refunds, payment.payment_id).run();
    const refunded = await browser.get(`/dashboard/receipts/${body.receipt_id}`);
    expect(refunded.text).toMatch(/<dt>Refunded<\/dt><dd>2 USDC, <time datetime="2026-11-02T12:00:00.000Z"/);
    const sent = await browser.post(`/dashboard/receipts/${body.receipt_id}`, { act: 'send_proof', email: 'grace@example.com' });
    expect(sent.location).toBe(`/dashboard/receipts/${body.receipt_id}`);
    expect((await browser.get('/dashboard/receipts')).text).toContain(body.receipt_id);
  });

  it('late money is accepted as paid by its button, and twice is once', async () => {
    const owner = await w.merchant();
    const payment = await w.connect(await w.product(owner, { access_period_days: 30 }));
    await w.env.DB.prepare(
      "UPDATE payments SET status = 'FAILED', failure_code = 'session_expired', expires_at = expires_at - 1100000 WHERE id = ?",
    )
      .bind(payment.payment_id)
      .run();
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    expect(await w.confirm(payment.payment_id, signature)).toMatchObject({ status: 410, body: { code: 'session_expired' } });
    const browser = await signedIn(owner.email);
    const { text } = await browser.get('/dashboard/unmatched');
    const form = {
      act: 'accept',
      id: fieldOf(text, 'accept', 'id'),
      tx_signature: fieldOf(text, 'accept', 'tx_signature'),
      idempotency_key: fieldOf(text, 'accept', 'idempotency_key'),
    };
    expect(form.tx_signature).toBe(signature);
    for (let n = 0; n < 2; n++) expect((await browser.post('/dashboard/unmatched', form)).location).toBe('/dashboard/unmatched');
    const recovered = w.env.DB.prepare('SELECT count(*) AS n FROM payments WHERE recovers_payment_id = ?').bind(payment.payment_id);
    expect(await recovered.first('n')).toBe(1);
    expect((await browser.get('/dashboard/unmatched')).text).not.toContain('value="accept"');
  });

  it('an object of another merchant, of the other mode or of none is a 404 page with the navigation', async () => {
    const [owner, eve] = [await w.merchant(), await w.merchant()];
    const payment = await w.connect(await w.product(owner));
    for (const [email, path] of [
      [eve.email, `/dashboard/payments/${payment.payment_id}`],
      [owner.email, `/dashboard/payments/${payment.payment_id}?mode=sandbox`],
      [owner.email, `/dashboard/payments/${crypto.randomUUID()}`],
      [owner.email, `/dashboard/receipts/${crypto.randomUUID()}`],
      [owner.email, '/dashboard/webhooks/events/evt_01M1D49Y6K00MXP0P8C5CJ1VB0'],
      [owner.email, '/dashboard/webhooks/deliveries/999999'],
      [owner.email, `/dashboard/keys/${crypto.randomUUID()}`],
    ] as const) {
      const { status, text } = await (await signedIn(email)).get(path);
      expect([path, status, text.includes('aria-label="Main"')]).toEqual([path, 404, true]);
      expect(text).toContain(path.includes('mode=sandbox') ? 'Look in the live data' : 'Look in the test data');
    }
  });
});

describe('key screens', () => {
  it('a key is made, narrowed, rolled and revoked, and its secret is in one response alone', async () => {
    const owner = await w.merchant('growth');
    const browser = await signedIn(owner.email);
    const made = await browser.post('/dashboard/keys/new', { act: 'create', name: 'weather server', permissions: 'execute', scopes: '' });
    const raw = /svc_live_[\w-]+/.exec(made.text)?.[0] ?? '';
    expect([made.status, raw.length > 20]).toEqual([200, true]);
    expect([made.text.includes('value="create"'), made.text.includes('<a href="/dashboard/keys">Back to the keys</a>')]).toEqual([
      false,
      true,
    ]);
    expect((await browser.get('/dashboard/keys/new?mode=sandbox')).text).toContain('This is a test key');
    const list = await browser.get('/dashboard/keys');
    expect(list.text).not.toContain(raw);
    const id = /href="\/dashboard\/keys\/([0-9a-f-]{36})"><bdi>weather server/.exec(list.text)?.[1] ?? '';
    const path = `/dashboard/keys/${id}`;
    const narrowed = { act: 'update', name: 'weather server', scopes: 'consume:write', allowed_ips: '203.0.113.0/24', expires_at: '' };
    expect((await browser.post(path, { ...narrowed, allowed_ips: '0.0.0.0/0' })).status).toBe(422);
    expect((await browser.post(path, narrowed)).location).toBe(path);
    const { text } = await browser.get(path);
    for (const fact of ['203.0.113.0/24', 'live key', 'read and write']) expect(text).toContain(`<dd>${fact}</dd>`);
    const rolled = await browser.post(path, { act: 'roll', overlap_hours: '24' });
    expect(/svc_live_[\w-]+/.exec(rolled.text)?.[0]).not.toBe(raw);
    expect((await browser.get(path)).text).not.toContain('value="roll"');
    const successor = /href="(\/dashboard\/keys\/[0-9a-f-]{36})"><bdi>server/.exec((await browser.get('/dashboard/keys')).text)?.[1] ?? '';
    expect((await browser.post(successor, { act: 'revoke', confirm: 'another name' })).status).toBe(422);
    expect((await browser.post(successor, { act: 'revoke', confirm: 'server' })).location).toBe(successor);
    expect((await w.call('GET', '/v1/account/me', { key: owner.key })).status).toBe(401);
  });

  it('a viewer reads no keys, and the page names the roles that may', async () => {
    const owner = await w.merchant('growth');
    const bob = await addMember(w, owner, 'viewer');
    const browser = new PageBrowser(w);
    browser.cookies.set('__Host-svc_session', bob.token);
    const { status, text } = await browser.get('/dashboard/keys');
    expect([status, text.includes('Roles that may')]).toEqual([403, true]);
    expect((await browser.get('/dashboard/payments')).text).not.toContain('href="/dashboard/keys"');
  });
});

describe('webhook screens', () => {
  it('an endpoint is added, tested, rotated and disabled, and a delivery shows its request and is replayed', async () => {
    const owner = await w.merchant();
    const browser = await signedIn(owner.email);
    const refused = await browser.post('/dashboard/webhooks', { act: 'create', url: 'http://127.0.0.1/', event_types: '*' });
    expect([refused.status, refused.text.includes('href="#create-url"')]).toEqual([422, true]);
    const added = await browser.post('/dashboard/webhooks', { act: 'create', url: 'https://hooks.example.com/svc', event_types: '*' });
    expect(added.text).toMatch(/whsec_[\w+/=-]+/);
    const id = /href="\/dashboard\/webhooks\/([0-9a-f-]{36})"/.exec(added.text)?.[1] ?? '';
    const path = `/dashboard/webhooks/${id}`;
    expect((await browser.post(path, { act: 'test' })).location).toBe(path);
    const { text } = await browser.get(path);
    expect(text).toContain('The test failed without an answer of the endpoint.');
    expect(text).toContain('<dd>no event was delivered yet</dd>');
    const delivery = /href="(\/dashboard\/webhooks\/deliveries\/\d+)"/.exec(text)?.[1] ?? '';
    expect((await browser.get(delivery)).text).toContain('value="replay"');
    expect((await browser.post(path, { act: 'rotate', overlap_hours: '24' })).text).toMatch(/whsec_/);
    expect((await browser.get(path)).text).not.toMatch(/whsec_[\w+/=-]{20}/);
    expect((await browser.post(path, { act: 'status', status: 'disabled' })).location).toBe(path);
    expect((await browser.get(path)).text).toContain('disabled (by merchant)');
  });

  it('an endpoint says how many events a recovery sends, and when each waiting one is due', async () => {
    const owner = await w.merchant();
    const made = { url: 'https://hooks.example.com/svc', event_types: ['payment.*'] };
    const { body } = await w.call('POST', '/v1/webhooks/endpoints', { key: owner.key, body: made });
    const path = `/dashboard/webhooks/${body.endpoint_id}`;
    const browser = await signedIn(owner.email);
    const recover = async () => {
      const since = /<option value="([^"]+)"[^>]*>the last four days/.exec((await browser.get(path)).text)?.[1] ?? '';
      expect((await browser.post(path, { act: 'recover', since })).location).toBe(path);
      return (await browser.get(path)).text;
    };
    expect(await recover()).toContain('No event was missed for good.');
    await w.connect(await w.product(owner));
    await w.deliver();
    await w.attempt();
    const due = Date.now() + 7_200_000;
    await w.env.DB.prepare("UPDATE webhook_deliveries SET failures = json_set(failures, '$[0].at', 1), next_attempt_at = ?")
      .bind(due)
      .run();
    expect((await browser.get(path)).text).toContain(`data-name="Next attempt"><time datetime="${new Date(due).toISOString()}"`);
    expect(await recover()).toContain('No event was missed for good.');
    await w.env.DB.prepare("UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL").run();
    expect(await recover()).toContain('Events on their way again: 1.');
  });

  it('a replay leads to the new delivery, which names the endpoint by its URL and the delivery that it repeats', async () => {
    const owner = await w.merchant();
    const made = { url: 'https://hooks.example.com/svc' };
    const { body } = await w.call('POST', '/v1/webhooks/endpoints', { key: owner.key, body: made });
    const browser = await signedIn(owner.email);
    const { body: tested } = await w.call('POST', `/v1/webhooks/endpoints/${body.endpoint_id}/test`, { key: owner.key, body: {} });
    const path = `/dashboard/webhooks/deliveries/${tested.delivery_id}`;
    expect((await browser.get(path)).text).toContain(`<bdi>${made.url}</bdi></a>`);
    const { location } = await browser.post(path, { act: 'replay' });
    expect(location).toMatch(/^\/dashboard\/webhooks\/deliveries\/\d+$/);
    expect(location).not.toBe(path);
    const { text } = await browser.get(location!);
    expect(text).toContain('This new delivery sends the event again.');
    expect(text).toContain(`<bdi>${made.url}</bdi></a>`);
    expect(text).toContain(`<a href="${path}">${tested.delivery_id}</a>`);
  });

  it('the URL and the events of an endpoint are changed by a form, and an unknown event is named at its field', async () => {
    const owner = await w.merchant();
    const { body } = await w.call('POST', '/v1/webhooks/endpoints', { key: owner.key, body: { url: 'https://hooks.example.com/old' } });
    const path = `/dashboard/webhooks/${body.endpoint_id}`;
    const browser = await signedIn(owner.email);
    const form = { act: 'update', url: 'https://hooks.example.com/new', event_types: 'payment.*, receipt.created' };
    expect((await browser.post(path, form)).location).toBe(path);
    const { text } = await browser.get(path);
    expect(text).toContain('<bdi>https://hooks.example.com/new</bdi>');
    expect(text).toContain('<dd>payment.*, receipt.created</dd>');
    const refused = await browser.post(path, { ...form, event_types: 'payments' });
    expect([refused.status, refused.text.includes('href="#update-event_types')]).toEqual([422, true]);
  });
});
