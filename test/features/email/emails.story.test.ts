import { beforeAll, describe, expect, it } from 'vitest';
import { MailWorld, tokenIn } from '../../support/servers/mail.ts';
import type { CallOptions, Merchant } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
let callers = 0;
/** Each call has its own address, because emails are limited per caller. */
const from = (): CallOptions => ({ headers: { 'CF-Connecting-IP': `198.51.100.${++callers}` } });

describe('account emails with a token', () => {
  const w = new MailWorld();
  let ada: Merchant;

  const forgot = (email: string, options = from()) => w.call('POST', '/v1/auth/password/forgot', { body: { email }, ...options });
  const reset = (token: string, password = 'battery staple 9') =>
    w.call('POST', '/v1/auth/password/reset', { body: { token, new_password: password } });
  const verify = (token: string) => w.call('POST', '/v1/account/email/verify', { body: { token }, ...from() });
  const ask = (token = ada.token) => w.call('POST', '/v1/account/email/verification', { key: token, ...from() });
  const emailsTo = async (email: string) => (await w.posted()).taken.filter(({ body }) => body.to[0] === email);
  const me = async (token: string) => (await w.call('GET', '/v1/account/me', { key: token })).body;
  const login = (email: string, password: string) => w.call('POST', '/v1/auth/login', { body: { email, password }, ...from() });

  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('a verification link works once, and only with the token that was sent', async () => {
    expect((await ask()).status).toBe(202);
    await w.post();
    const [email] = await emailsTo(ada.email);
    expect(email).toMatchObject({ authorization: 'Bearer a-key-of-resend', body: { from: 'Svc <post@svc.test>' } });
    expect(email!.body.text).toContain('https://svc.test/verify-email#token=');
    expect(email!.body.html).toContain(tokenIn(email));
    const token = tokenIn(email);
    // Includes last characters that no encoder produces.
    for (const last of 'ABCDEFGHwxyz0189-_'.replace(token.at(-1)!, '')) expect((await verify(token.slice(0, -1) + last)).status).toBe(401);
    expect((await me(ada.token)).email_verified).toBe(false);
    expect((await verify(token)).status).toBe(200);
    expect((await me(ada.token)).email_verified).toBe(true);
    expect((await verify(token)).body).toMatchObject({ code: 'invalid_credentials' });
    expect((await reset(token)).status).toBe(401);
    expect((await ask()).body).toMatchObject({ code: 'state_conflict' });
  });

  it('a reset sets the password once, ends every session and notifies the owner', async () => {
    expect((await forgot(ada.email.toUpperCase())).status).toBe(202);
    await w.post();
    const token = tokenIn((await emailsTo(ada.email)).at(-1));
    expect((await reset(token, 'short')).body.code).toBe('password_too_short');
    expect((await reset(token)).status).toBe(200);
    expect((await reset(token)).status).toBe(401);
    expect((await w.call('GET', '/v1/account/me', { key: ada.token })).status).toBe(401);
    expect((await login(ada.email, PASSWORD)).status).toBe(401);
    expect((await login(ada.email, 'battery staple 9')).status).toBe(200);
    await w.post();
    expect((await emailsTo(ada.email)).map(({ body }) => body.text)).toContainEqual(
      expect.stringContaining('The password of your account was changed'),
    );
  });

  it('password-change emails are limited to three an hour', async () => {
    const eve = await w.merchant();
    let password = PASSWORD;
    for (let index = 0; index < 5; index++) {
      const next = `battery staple ${index}`;
      const { body: session } = await login(eve.email, password);
      const change = { current_password: password, new_password: next };
      expect((await w.call('PATCH', '/v1/account/me/security', { key: session.token, body: change, ...from() })).status).toBe(200);
      password = next;
    }
    await w.post();
    const texts = (await emailsTo(eve.email)).map(({ body }) => body.text);
    expect(texts).toEqual(Array(3).fill(expect.stringContaining('The password of your account was changed')));
  });

  it('an unknown address gets the same answer, and nothing is sent', async () => {
    const [known, unknown] = [await forgot((await w.merchant()).email), await forgot('stranger@example.com')];
    expect([unknown.status, unknown.body]).toEqual([known.status, known.body]);
    await w.post();
    expect(await emailsTo('stranger@example.com')).toEqual([]);
    expect(
      (await w.rows()).filter(({ template: email, account_id, status }) => email === 'reset_password' && !account_id && status !== 'sent'),
    ).toEqual([]);
  });

  it('an expired token is refused with 401 expired', async () => {
    const eve = await w.merchant();
    await forgot(eve.email);
    await w.post();
    const token = tokenIn((await emailsTo(eve.email))[0]);
    const [id, , mac] = token.split('.');
    const old = await reset(`${id}.${(Date.now() - 1).toString(36)}.${mac}`);
    expect([old.status, old.body.meta]).toEqual([401, { reason: 'expired' }]);
    const forged = await reset(`${id}.${(Date.now() + 10 ** 9).toString(36)}.${mac}`);
    expect([forged.status, forged.body.meta]).toEqual([401, {}]);
  });

  it('resets are limited to three an hour per address silently, and to ten per caller with a 429', async () => {
    const eve = await w.merchant();
    for (let index = 0; index < 5; index++) expect((await forgot(eve.email)).status).toBe(202);
    await w.post();
    expect(await emailsTo(eve.email)).toHaveLength(3);
    const caller = from();
    const answers = [];
    for (let index = 0; index < 11; index++) answers.push(await forgot(`caller-${index}@example.com`, caller));
    expect(answers.map(({ status }) => status)).toEqual([...Array(10).fill(202), 429]);
    expect(Number(answers.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('emails use the account’s locale, and preferences are stored', async () => {
    const eve = await w.merchant();
    const set = (body: object) => w.call('PATCH', '/v1/account/me', { key: eve.token, body });
    expect((await set({ locale: 'de', notification_prefs: { webhooks: false } })).body.updated_fields).toEqual([
      'locale',
      'notification_prefs.webhooks',
    ]);
    expect(await me(eve.token)).toMatchObject({
      locale: 'de',
      notification_prefs: { webhooks: false, payouts: true, renewals: true, buyer_receipts: true, product_news: true },
    });
    expect((await set({ locale: 'xx' })).status).toBe(422);
    expect((await set({ notification_prefs: { webhook: false } })).body.code).toBe('unknown_field');
    await forgot(eve.email);
    await w.post();
    expect((await emailsTo(eve.email))[0]!.body.subject).toBe('Neues Passwort festlegen');
  });

  it('emails wait while the operator has switched off mail, and are sent afterwards', async () => {
    const eve = await w.merchant();
    await w.db.run("INSERT INTO switched_off (subject, since) VALUES ('mail', 0)" as never);
    await forgot(eve.email);
    await w.post();
    expect(await emailsTo(eve.email)).toEqual([]);
    await w.db.run("DELETE FROM switched_off WHERE subject = 'mail'" as never);
    await w.sweepAlone('mails');
    await w.post();
    expect(await emailsTo(eve.email)).toHaveLength(1);
  });

  it('a deleted account gets no email, and its address is erased', async () => {
    const eve = await w.merchant();
    await ask(eve.token);
    expect((await w.call('DELETE', '/v1/account/account', { key: eve.token })).status).toBe(200);
    await w.post();
    expect(await emailsTo(eve.email)).toEqual([]);
    expect(JSON.stringify(await w.rows())).not.toContain(eve.email);
  });
});
