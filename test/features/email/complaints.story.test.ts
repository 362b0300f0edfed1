import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { utf8 } from '#core/encoding.ts';
import { DAY, MINUTE } from '#core/time.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { MailWorld, svixHeaders, verifyAddress } from '../../support/servers/mail.ts';
import type { Body, Merchant } from '../../support/world.ts';

const SECRET = 'the secret of an operator who reads complaints';
const w = new MailWorld({ OPERATOR_SECRETS: `ada:${SECRET}` });
afterEach(letTimeRun);

const newAddress = () => `buyer-${crypto.randomUUID()}@example.com`;

describe('complaints about emails of a merchant', () => {
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  let receiptId: string;

  /** Delivers events and emails until nothing is left. */
  const settle = async () => {
    for (let jobs = w.queue.sent.splice(0); jobs.length > 0; jobs = w.queue.sent.splice(0)) await w.deliver(jobs.map(({ job }) => job));
    await w.post();
  };
  const buy = async (email: string, sold = product): Promise<string> => {
    const { confirmed } = await w.purchase(sold, await w.chain.wallet(), { email });
    await settle();
    return confirmed.receipt_id;
  };
  const send = (email = newAddress()) => w.call('POST', `/v1/receipt/${receiptId}/send-proof`, { key: merchant.key, body: { email } });
  const isSentTo = async (address: string) => (await w.posted()).taken.some(({ body }) => body.to[0] === address);
  const report = async (address: string, at = Date.now()) => {
    const raw = JSON.stringify({ type: 'email.complained', data: { to: [address] } });
    const headers = svixHeaders(utf8(raw), { at: Math.floor(at / 1000) });
    expect((await w.call('POST', '/v1/integrations/mail/webhooks/resend', { raw, headers })).status).toBe(200);
  };
  const operate = (act: 'complaint' | 'resume-emails', body: object, reason: string | null = 'ticket 7') =>
    w.call('POST', `/v1/operator/accounts/${act}`, {
      body,
      headers: { 'X-Svc-Operator-Secret': SECRET, ...(reason !== null && { 'X-Svc-Operator-Reason': reason }) },
    });
  const readLog = async (action: string): Promise<Body[]> =>
    (await w.call('GET', `/v1/account/audit-log?action=${action}`, { key: merchant.token })).body.items;

  beforeEach(async () => {
    merchant = await w.merchant();
    await verifyAddress(w, merchant);
    product = await w.product(merchant);
    receiptId = await buy(newAddress());
  });

  it('the third within 30 days pauses proofs to strangers, until the operator resumes them, and no buyer goes without a receipt', async () => {
    const readers = [newAddress(), newAddress(), newAddress()];
    for (const [index, reader] of readers.entries()) {
      expect((await send(reader)).status).toBe(200);
      await settle();
      await report(reader);
      expect([index, (await readLog('account.complaint_received'))[0].after]).toMatchObject([index, { complaints: index + 1 }]);
    }
    const refused = await send();
    expect([refused.status, refused.body.code, refused.body.meta]).toEqual([403, 'invalid_authorization', { reason: 'emails_paused' }]);
    const buyer = newAddress();
    receiptId = await buy(buyer);
    expect(await isSentTo(buyer)).toBe(true);
    expect((await send(buyer)).status).toBe(200);
    const resumed = await operate('resume-emails', { account: merchant.email });
    expect([resumed.status, resumed.body]).toEqual([200, { user_id: merchant.userId, complaints: 0, emails_paused: false }]);
    expect((await send()).status).toBe(200);
    expect((await readLog('account.complaint_received'))[0]).toMatchObject({
      actor: { kind: 'system' },
      before: { emails_paused: false },
      after: { emails_paused: true },
    });
    expect(await readLog('account.emails_resumed')).toMatchObject([{ actor: { kind: 'operator', name: 'ada' }, reason: 'ticket 7' }]);
  });

  it('a proof that waits when the pause begins is not sent', async () => {
    const reader = newAddress();
    expect((await send(reader)).status).toBe(200);
    for (let count = 0; count < 3; count++) await operate('complaint', { account: merchant.userId, address: newAddress() });
    await settle();
    expect(await isSentTo(reader)).toBe(false);
  });

  it('an address counts once in 30 days, and no other merchant is paused', async () => {
    const other = await w.merchant();
    const reader = newAddress();
    await buy(reader, await w.product(other));
    expect((await send(reader)).status).toBe(200);
    await settle();
    for (let count = 0; count < 3; count++) await report(count === 1 ? reader.toUpperCase() : reader);
    expect(await readLog('account.complaint_received')).toHaveLength(1);
    const log = await w.call('GET', '/v1/account/audit-log?action=account.complaint_received', { key: other.token });
    expect(log.body.items).toEqual([]);
    expect((await send()).status).toBe(200);
  });

  it('a complaint about the confirmation of an address counts against no account', async () => {
    const stranger = await w.merchant();
    expect((await w.call('POST', '/v1/account/email/verification', { key: stranger.token, body: {} })).status).toBe(202);
    await settle();
    expect(await isSentTo(stranger.email)).toBe(true);
    await report(stranger.email);
    const log = await w.call('GET', '/v1/account/audit-log?action=account.complaint_received', { key: stranger.token });
    const { email_problem } = (await w.call('GET', '/v1/account/me', { key: stranger.token })).body;
    expect([log.body.items, email_problem]).toEqual([[], 'complained']);
  });

  it('concurrent complaints all count', async () => {
    const addresses = [newAddress(), newAddress(), newAddress()];
    await Promise.all(addresses.map((address) => operate('complaint', { account: merchant.userId, address })));
    expect((await send()).body.meta).toEqual({ reason: 'emails_paused' });
  });

  it('a complaint older than 30 days does not count', async () => {
    const complain = () => operate('complaint', { account: merchant.userId, address: newAddress() });
    for (let count = 0; count < 2; count++) await complain();
    setTime(Date.now() + 30 * DAY + MINUTE);
    const { body } = await complain();
    expect([body.complaints, body.emails_paused]).toEqual([1, false]);
  });

  it('a complaint that the operator records ends emails to the address, and a repeat changes nothing', async () => {
    const reader = newAddress();
    for (let count = 0; count < 2; count++) {
      const { status, body } = await operate('complaint', { account: merchant.email, address: reader });
      expect([status, body]).toEqual([200, { user_id: merchant.userId, complaints: 1, emails_paused: false }]);
    }
    expect((await send(reader)).status).toBe(200);
    await settle();
    expect(await isSentTo(reader)).toBe(false);
    expect(await readLog('account.complaint_received')).toMatchObject([{ actor: { kind: 'operator', name: 'ada' }, reason: 'ticket 7' }]);
  });

  it('the operator has to give a reason and name an account', async () => {
    const acts = [
      ['complaint', { account: merchant.userId, address: newAddress() }],
      ['resume-emails', { account: merchant.userId }],
    ] as const;
    for (const [act, body] of acts) {
      expect((await operate(act, body, null)).status).toBe(422);
      expect((await operate(act, { ...body, account: 'nobody@example.com' })).status).toBe(404);
    }
    expect(await readLog('account.complaint_received')).toEqual([]);
    const resumed = await operate('resume-emails', { account: merchant.userId });
    expect([resumed.status, await readLog('account.emails_resumed')]).toEqual([200, []]);
  });
});
