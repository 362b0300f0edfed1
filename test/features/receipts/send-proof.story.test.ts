import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newKey } from '../../support/people/agent.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import type { CallOptions, Merchant } from '../../support/world.ts';

const DAY = 86_400_000;

describe('POST /v1/receipt/{receipt_id}/send-proof', () => {
  const w = new MailWorld();
  let ada: Merchant;
  let product: { slug: string; product_id: string };
  let receiptId: string;
  const makeReceipt = async (terms: Record<string, unknown> = {}) =>
    (await w.purchase(await w.product(ada, terms), await w.chain.wallet())).confirmed.receipt_id;
  const send = (body: object, { id = receiptId, ...options }: CallOptions & { id?: string } = {}) =>
    w.call('POST', `/v1/receipt/${id}/send-proof`, { key: ada.key, body, ...options });
  const taken = async (to: string) => (await w.posted()).taken.filter(({ body }) => body.to[0] === to);
  const readEvents = async (id: string) =>
    (await w.call('GET', '/v1/webhooks/events?event_type=receipt.proof_sent&per_page=100', { key: ada.key })).body.items.filter(
      ({ data }: { data: { object: { receipt_id: string } } }) => data.object.receipt_id === id,
    );

  beforeAll(async () => {
    ada = await w.merchant();
    await verifyAddress(w, ada);
    product = await w.product(ada, { name: 'Wetter & <b>mehr</b>' });
  });
  beforeEach(async () => {
    receiptId = (await w.purchase(product, await w.chain.wallet())).confirmed.receipt_id;
    await w.db.run('DELETE FROM mails' as never);
  });

  it('the email has the link to the public proof and the sender’s message in the requested language', async () => {
    const { body } = await send({ email: 'grace@example.com', name: 'Grace', message: 'As you asked <3', locale: 'fr' });
    expect(body).toEqual({ detail: expect.any(String), message_id: expect.any(String) });
    await w.post();
    const [sentEmail, ...others] = await taken('grace@example.com');
    expect(others).toEqual([]);
    expect(sentEmail!.key).toBe(body.message_id);
    expect(sentEmail!.body.subject).toBe('Preuve de paiement : Wetter & <b>mehr</b>');
    expect(sentEmail!.body.text).toMatch(/^Bonjour Grace,\n/);
    expect(sentEmail!.body.text).toContain('> As you asked <3');
    expect(sentEmail!.body.text).toContain(`https://svc.test/r/${receiptId}`);
    expect(sentEmail!.body.html).toContain('Wetter &amp; &lt;b&gt;mehr&lt;/b&gt;');
  });

  it('a sender without a verified address is 403 in both modes', async () => {
    const eve = await w.merchant();
    const { confirmed } = await w.purchase(await w.product(eve), await w.chain.wallet());
    const attempt = () => send({ email: 'grace@example.com' }, { id: confirmed.receipt_id, key: eve.key });
    const refused = await attempt();
    expect([refused.status, refused.body.code, refused.body.meta]).toEqual([403, 'invalid_authorization', { reason: 'email_unverified' }]);
    await verifyAddress(w, eve);
    expect((await attempt()).status).toBe(200);
  });

  it('queuing the email emits receipt.proof_sent with receipt and recipient', async () => {
    const { body } = await send({ email: 'grace@example.com' });
    const [event] = await readEvents(receiptId);
    expect(event.subject).toEqual({ type: 'receipt_proof', id: body.message_id, version: 1 });
    expect(event.data).toMatchObject({
      object: { receipt_id: receiptId, document: { product_name: 'Wetter & <b>mehr</b>' } },
      proof: { message_id: body.message_id, email: 'grace@example.com' },
    });
  });

  it('email and event contain no invoice metadata', async () => {
    const metadata = { invoice_number: 'INV-HIDDEN', bill_to: { name: 'Hidden GmbH' }, notes: 'hidden notes' };
    await w.call('PATCH', `/v1/receipt/${receiptId}/invoice-metadata`, { key: ada.key, body: metadata });
    await send({ email: 'henry@example.com' });
    await w.post();
    expect(JSON.stringify([await taken('henry@example.com'), await readEvents(receiptId)])).not.toMatch(/hidden/i);
  });

  it('a line break in any field, an unknown locale and an unknown field are refused', async () => {
    const sound = { email: 'grace@example.com', name: 'Grace', message: 'Hello' };
    for (const field of Object.keys(sound) as (keyof typeof sound)[])
      for (const ending of ['\r\nBcc: x@example.com', '\n', '\r', '\r\n'])
        for (const value of [`${sound[field]}${ending}`, `${ending}${sound[field]}`]) {
          const { status, body } = await send({ ...sound, [field]: value });
          expect([field, status, body.detail[0].loc]).toEqual([field, 422, ['body', field]]);
        }
    expect((await send({ ...sound, message: 'x'.repeat(501) })).status).toBe(422);
    expect((await send({ ...sound, locale: 'xx' })).status).toBe(422);
    expect((await send({ ...sound, nam: 'x' })).body.code).toBe('unknown_field');
    expect(await w.rows()).toEqual([]);
  });

  it('five emails a day go to one address per receipt, and 200 a day from one account', async () => {
    const addresses = ['grace@example.com', 'GRACE@example.com', 'Grace@Example.Com', 'grace@EXAMPLE.com', 'grace@example.com'];
    for (const email of addresses) expect((await send({ email })).status).toBe(200);
    const sixth = await send({ email: 'gRaCe@example.com' });
    expect([sixth.status, sixth.body.code]).toEqual([429, 'rate_limited']);
    const wait = Number(sixth.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(86_300);
    expect(wait).toBeLessThanOrEqual(86_400);
    expect((await send({ email: 'grace@example.com' }, { id: await makeReceipt() })).status).toBe(200);
    expect((await send({ email: 'henry@example.com' })).status).toBe(200);
    await w.env.DB.prepare(
      `INSERT INTO mails (id, account_id, template, facts, status, attempt, lease_until, request_id, created_at, ended_at)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 193)
        SELECT 'filler-' || i, '${ada.userId}', 'receipt_proof', '{}', 'sent', 1, 0, 'req_x', ${Date.now()}, 0 FROM n`,
    ).run();
    expect((await send({ email: 'ivan@example.com' })).status).toBe(429);
    await w.db.run(`UPDATE mails SET created_at = created_at - ${DAY + 1}` as never);
    expect((await send({ email: 'grace@example.com' })).status).toBe(200);
  });

  /** Stores proofs of the last day, as if sent. */
  const fill = (accountId: string, count: number, facts: object) =>
    w.env.DB.prepare(
      `INSERT INTO mails (id, account_id, template, facts, status, attempt, lease_until, request_id, created_at, ended_at)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
        SELECT ? || i, ?, 'receipt_proof', ?, 'sent', 1, 0, 'req_x', ?, 0 FROM n`,
    )
      .bind(count, `filler-${crypto.randomUUID()}-`, accountId, JSON.stringify(facts), Date.now())
      .run();

  describe('to addresses that no buyer of the receipt gave (F4: emails to strangers)', () => {
    let free: Merchant;
    let id: string;
    const sendFree = (email: string) => send({ email }, { id, key: free.key });

    beforeEach(async () => {
      free = await w.merchant('free');
      await verifyAddress(w, free);
      const paid = await w.purchase(await w.product(free), await w.chain.wallet(), { email: 'buyer@example.com' });
      id = paid.confirmed.receipt_id;
    });

    it('a free account sends 20 proofs a day, and more to the buyer in any spelling', async () => {
      await fill(free.userId, 19, { is_to_stranger: true });
      expect((await sendFree('stranger-1@example.com')).status).toBe(200);
      const refused = await sendFree('stranger-2@example.com');
      expect([refused.status, refused.body.code]).toEqual([429, 'rate_limited']);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(86_300);
      for (const email of ['buyer@example.com', 'Buyer@Example.com']) expect((await sendFree(email)).status).toBe(200);
      await w.db.run(`UPDATE mails SET created_at = created_at - ${DAY + 1}` as never);
      expect((await sendFree('stranger-2@example.com')).status).toBe(200);
    });

    it('proofs to buyers leave the limit of strangers untouched', async () => {
      await fill(free.userId, 100, {});
      expect((await sendFree('stranger@example.com')).status).toBe(200);
    });

    it('the buyer of another receipt is a stranger', async () => {
      const paid = await w.purchase(await w.product(free), await w.chain.wallet(), { email: 'other@example.com' });
      await fill(free.userId, 20, { is_to_stranger: true });
      expect((await sendFree('other@example.com')).status).toBe(429);
      expect((await send({ email: 'other@example.com' }, { id: paid.confirmed.receipt_id, key: free.key })).status).toBe(200);
    });

    it('concurrent calls send no more than the limit', async () => {
      await fill(free.userId, 18, { is_to_stranger: true });
      const answers = await Promise.all(Array.from({ length: 6 }, (_, index) => sendFree(`racer-${index}@example.com`)));
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429, 429]);
    });

    it('a paid plan has no limit below that of the account', async () => {
      await fill(ada.userId, 199, { is_to_stranger: true });
      expect((await send({ email: 'stranger@example.com' })).status).toBe(200);
      expect((await send({ email: 'stranger-2@example.com' })).status).toBe(429);
    });
  });

  it('ten concurrent calls send five emails', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => send({ email: 'leo@example.com' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(5).fill(200), ...Array(5).fill(429)]);
    expect(await readEvents(receiptId)).toHaveLength(5);
    await w.post();
    expect(await taken('leo@example.com')).toHaveLength(5);
  });

  it('a repeated call under one key is replayed and sends one email', async () => {
    const headers = { 'Idempotency-Key': newKey() };
    const [first, again] = [await send({ email: 'judy@example.com' }, { headers }), await send({ email: 'judy@example.com' }, { headers })];
    expect([again.body, again.headers.get('Idempotent-Replayed')]).toEqual([first.body, 'true']);
    await w.post();
    expect(await taken('judy@example.com')).toHaveLength(1);
  });

  it('the sandbox answers the same and sends nothing', async () => {
    const tested = await w.product({ ...ada, key: ada.sandboxKey });
    const { payment_id } = await w.connect(tested);
    const { body: paid } = await w.call('POST', '/v1/testing/pay', { key: ada.sandboxKey, body: { payment_id } });
    const { body: confirmed } = await w.confirm(payment_id, paid.tx_signature);
    const id = confirmed.receipt_id;
    const { status, body } = await send({ email: 'kim@example.com' }, { id, key: ada.sandboxKey });
    expect([status, body.message_id]).toEqual([200, expect.any(String)]);
    await w.post();
    await w.sweepAlone('mails');
    await w.post();
    expect(await taken('kim@example.com')).toEqual([]);
    for (let index = 0; index < 4; index++) await send({ email: 'kim@example.com' }, { id, key: ada.sandboxKey });
    expect((await send({ email: 'kim@example.com' }, { id, key: ada.sandboxKey })).status).toBe(429);
    // The sandbox answers without an email provider, and a live receipt is then refused.
    const dark = { ...w.env, MAIL_PROVIDER: '', MAIL_FROM: '' } as typeof w.env;
    expect((await send({ email: 'kim2@example.com' }, { id, key: ada.sandboxKey, env: dark })).status).toBe(200);
    const { status: refused, body: missing } = await send({ email: 'kim2@example.com' }, { env: dark });
    expect([refused, missing.code, missing.meta]).toEqual([503, 'mail_not_configured', { missing: ['MAIL_PROVIDER', 'MAIL_FROM'] }]);
  });
});
