import { afterEach, describe, expect, it } from 'vitest';
import { HOUR, MINUTE } from '#core/time.ts';
import { addApp, addPasskey, logInAgain } from '../../support/people/factors.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { MailWorld, tokenIn, verifyAddress } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const SECRET = 'the secret of an operator who helps owners';
const w = new MailWorld({ OPERATOR_SECRETS: `ada:${SECRET}` });
afterEach(letTimeRun);

const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const operate = (path: string, body: object, reason: string | null = 'ticket 12') =>
  w.call('POST', `/v1/operator/accounts/${path}`, {
    body,
    headers: { 'X-Svc-Operator-Secret': SECRET, ...(reason !== null && { 'X-Svc-Operator-Reason': reason }) },
  });
const newAddress = () => `new-${crypto.randomUUID()}@example.com`;
async function emailsTo(address: string) {
  await w.post();
  return (await w.posted()).taken.filter(({ body }) => body.to[0] === address);
}
const readLog = async (key: string, action: string) => (await w.call('GET', `/v1/account/audit-log?action=${action}`, { key })).body.items;

describe('npm run admin -- set-email', () => {
  it('sets an unverified address, ends all sessions, and emails a link to it and an alert to the one before', async () => {
    const merchant = await w.merchant();
    await verifyAddress(w, merchant);
    const email = newAddress();
    const { status, body } = await operate('email', { account: merchant.email, email });
    expect([status, body]).toEqual([200, { user_id: merchant.userId, email }]);
    expect([(await me(merchant.token)).status, (await me(merchant.key)).status]).toEqual([401, 200]);
    const again = await logInAgain(w, { email });
    expect((await me(again.body.token)).body).toMatchObject({ user_id: merchant.userId, email, email_verified: false });
    expect((await emailsTo(email)).map((sent) => sent.body.subject)).toContain('Confirm your e-mail address');
    expect((await emailsTo(merchant.email)).some((sent) => sent.body.text.includes('/not-me#token='))).toBe(true);
    expect(await readLog(again.body.token, 'person.email_changed')).toMatchObject([
      { actor: { kind: 'operator', name: 'ada' }, reason: 'ticket 12', before: { email: merchant.email }, after: { email } },
    ]);
  });

  it('gives another address to an account without one, by its id', async () => {
    const merchant = await w.merchant();
    await w.env.DB.prepare('UPDATE persons SET email = NULL, email_key = NULL WHERE id = ?').bind(merchant.userId).run();
    const email = newAddress();
    expect((await operate('email', { account: merchant.userId, email })).status).toBe(200);
    expect((await logInAgain(w, { email })).body.user_id).toBe(merchant.userId);
  });

  it('refuses the address of another account, an unknown account and a call without a reason, and repeats without effect', async () => {
    const [merchant, other] = [await w.merchant(), await w.merchant()];
    const refused = await operate('email', { account: merchant.email, email: other.email.toUpperCase() });
    expect([refused.status, refused.body.code]).toEqual([409, 'email_registered']);
    expect((await operate('email', { account: 'nobody@example.com', email: newAddress() })).status).toBe(404);
    expect((await operate('email', { account: merchant.email, email: newAddress() }, null)).status).toBe(422);
    expect((await operate('email', { account: merchant.email, email: merchant.email })).status).toBe(200);
    expect((await me(merchant.token)).body.email).toBe(merchant.email);
  });
});

describe('npm run admin -- reset-factors', () => {
  async function begin(): Promise<Merchant> {
    const merchant = await w.merchant();
    await verifyAddress(w, merchant);
    await addApp(w, merchant.token);
    // The link takes back what was added since its email.
    setTime(Date.now() + MINUTE);
    expect((await operate('reset-factors', { account: merchant.email })).status).toBe(200);
    return merchant;
  }
  const readFactors = async (merchant: Merchant) => (await me(merchant.token)).body.factors;

  it('emails the owner at once, and removes all factors and ends all sessions after 72 hours, not before', async () => {
    const merchant = await w.merchant();
    await verifyAddress(w, merchant);
    const { app } = await addApp(w, merchant.token);
    const stepped = await w.call('POST', '/v1/auth/step-up', { key: merchant.token, body: { totp: app.code() } });
    await addPasskey(w, stepped.body.token);
    const begun = await operate('reset-factors', { account: merchant.email });
    expect([begun.status, Date.parse(begun.body.ends_at) - Date.now() > 71 * HOUR]).toEqual([200, true]);
    expect((await emailsTo(merchant.email)).some(({ body }) => body.text.includes('was asked to remove'))).toBe(true);
    setTime(Date.now() + 72 * HOUR - MINUTE);
    await w.sweepAlone('idempotency');
    expect((await logInAgain(w, merchant)).body.code).toBe('factor_required');
    setTime(Date.now() + 2 * MINUTE);
    await w.sweepAlone('idempotency');
    const again = await logInAgain(w, merchant);
    expect(again.status).toBe(200);
    expect((await me(again.body.token)).body.factors).toEqual({ passkeys: 0, totp: false, recovery_codes_left: 0 });
    expect((await me(merchant.token)).status).toBe(401);
    expect((await emailsTo(merchant.email)).some((sent) => sent.body.text.includes('were removed at'))).toBe(true);
    expect(await readLog(again.body.token, 'person.factors_reset_begun')).toMatchObject([{ actor: { kind: 'operator', name: 'ada' } }]);
    expect(await readLog(again.body.token, 'person.factors_reset')).toMatchObject([{ actor: { kind: 'system' } }]);
  });

  it('the link of the email ends it, and the factors stay', async () => {
    const merchant = await begin();
    const token = tokenIn((await emailsTo(merchant.email)).find(({ body }) => body.text.includes('was asked to remove')));
    const preview = await w.call('POST', '/v1/account/not-me/preview', { body: { token } });
    expect([preview.status, preview.body.change]).toEqual([200, 'factors_reset']);
    expect((await w.call('POST', '/v1/account/not-me', { body: { token } })).status).toBe(200);
    setTime(Date.now() + 73 * HOUR);
    await w.sweepAlone('idempotency');
    const row = await w.env.DB.prepare('SELECT factors, factors_end_at FROM persons WHERE id = ?').bind(merchant.userId).first();
    expect(row).toMatchObject({ factors: expect.stringContaining('"totp":true'), factors_end_at: null });
  });

  it('a second call does not move the time', async () => {
    const merchant = await begin();
    const first = (await operate('reset-factors', { account: merchant.userId })).body.ends_at;
    setTime(Date.now() + HOUR);
    expect((await operate('reset-factors', { account: merchant.userId })).body.ends_at).toBe(first);
    letTimeRun();
    expect((await readFactors(merchant)).totp).toBe(true);
  });

  it('refuses a person without a factor, a call without a reason and a caller without the secret', async () => {
    const merchant = await w.merchant();
    const { status, body } = await operate('reset-factors', { account: merchant.email });
    expect([status, body.meta]).toEqual([409, { reason: 'no_factor' }]);
    expect((await operate('reset-factors', { account: merchant.email }, null)).status).toBe(422);
    const path = '/v1/operator/accounts/reset-factors';
    expect((await w.call('POST', path, { key: merchant.token, body: { account: merchant.email } })).status).toBe(404);
  });
});
