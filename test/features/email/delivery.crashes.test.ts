import { beforeEach, describe, expect, it } from 'vitest';
import { utf8 } from '#core/encoding.ts';
import { MailWorld, svixHeaders, verifyAddress } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

describe('email delivery', () => {
  let w: MailWorld;
  let merchant: Merchant;
  let email: string;
  let callers = 0;

  const forgot = () =>
    w.call('POST', '/v1/auth/password/forgot', { body: { email }, headers: { 'CF-Connecting-IP': `203.0.113.${++callers}` } });
  const readLastEmail = async () => (await w.rows()).at(-1)!;

  beforeEach(async () => {
    w = new MailWorld({ MAIL_RETRY_SECONDS: '60,300' });
    merchant = await w.merchant();
    ({ email } = merchant);
    await w.db.run('DELETE FROM mails' as never);
  });

  it('the sweep sends an email with a lost message', async () => {
    await forgot();
    w.mail.length = 0;
    await w.sweepAlone('mails');
    await w.post();
    expect((await w.posted()).taken).toHaveLength(1);
  });

  it('an email is sent once, however often its message is delivered', async () => {
    await forgot();
    const [message] = w.mail.splice(0);
    await Promise.all([w.post([message!, message!]), w.post([message!])]);
    await w.post([message!]);
    expect(await w.posted()).toMatchObject({ asked: 1 });
  });

  it('an email is sent again after a lost answer, and the provider deduplicates it', async () => {
    await forgot();
    await w.habit('forgets');
    await w.post();
    expect(await readLastEmail()).toMatchObject({ status: 'waiting', attempt: 1 });
    await w.habit('ok');
    await w.due();
    await w.sweepAlone('mails');
    await w.post();
    expect(await w.posted()).toMatchObject({ asked: 2, taken: [{ id: 're_1' }] });
    expect(await readLastEmail()).toMatchObject({ status: 'sent', provider_id: 're_1', address: null });
  });

  it('an email is sent again if the Worker died before it stored the result', async () => {
    await forgot();
    const [message] = w.mail.splice(0);
    const isNote = (sql: string) => sql.startsWith('update "mails" set "status"') || sql.includes('"ended_at" = ?');
    const DB = new Proxy(w.env.DB, {
      get: (db, name) =>
        name === 'prepare'
          ? (sql: string) => {
              if (isNote(sql)) throw new Error('the Worker died');
              return db.prepare(sql);
            }
          : Reflect.get(db, name),
    });
    expect(await w.post([message!], { ...w.env, DB } as typeof w.env)).toEqual({ retried: 1 });
    await w.due();
    await w.post([message!]);
    expect(await w.posted()).toMatchObject({ asked: 2, taken: [{ id: 're_1' }] });
    expect(await readLastEmail()).toMatchObject({ status: 'sent' });
  });

  it('a busy provider delays without an attempt, errors end after the last attempt, and a refusal ends at once', async () => {
    await forgot();
    await w.habit('busy');
    const before = Date.now();
    await w.post();
    expect(Number((await readLastEmail()).next_attempt_at) - before).toBeGreaterThanOrEqual(120_000);
    expect(await readLastEmail()).toMatchObject({ status: 'waiting', attempt: 0 });
    for (const attempt of [1, 2, 3]) {
      await w.habit('broken');
      await w.due();
      await w.sweepAlone('mails');
      await w.post();
      expect(await readLastEmail()).toMatchObject({ attempt, status: attempt === 3 ? 'failed' : 'waiting' });
    }
    await forgot();
    await w.habit('refuses');
    await w.post();
    expect(await readLastEmail()).toMatchObject({ status: 'failed', attempt: 1, next_attempt_at: null });
  });

  it('a bounced address gets no email, and only the provider can report a bounce', async () => {
    const said = JSON.stringify({ type: 'email.bounced', data: { to: [email.toUpperCase()], bounce: { type: 'Permanent' } } });
    const bounce = (signing: Parameters<typeof svixHeaders>[1] = {}) =>
      w.call('POST', '/v1/integrations/mail/webhooks/resend', { raw: said, headers: svixHeaders(utf8(said), signing) });
    expect((await bounce({ secret: `whsec_${btoa('another secret, of a stranger')}` })).body.code).toBe('webhook_signature_failed');
    expect((await bounce({ at: Math.floor(Date.now() / 1000) - 301 })).status).toBe(401);
    // Without a secret no event can be verified, so the provider must retry.
    for (const headers of [svixHeaders(utf8(said)), {}]) {
      const env = { ...w.env, RESEND_WEBHOOK_SECRET: '' };
      const { status, body } = await w.call('POST', '/v1/integrations/mail/webhooks/resend', { raw: said, headers, env });
      expect([status, body.code, body.meta]).toEqual([503, 'mail_not_configured', { missing: ['RESEND_WEBHOOK_SECRET'] }]);
    }
    expect((await bounce()).status).toBe(200);
    expect((await bounce()).status).toBe(200);
    await forgot();
    await w.post();
    expect(await w.posted()).toMatchObject({ asked: 0 });
    expect(await readLastEmail()).toMatchObject({ status: 'dropped', error: 'bounced before' });
  });

  const report = (said: object) => {
    const raw = JSON.stringify(said);
    return w.call('POST', '/v1/integrations/mail/webhooks/resend', { raw, headers: svixHeaders(utf8(raw)) });
  };

  it('an address that complained gets emails with a link that takes a change back, until it bounces', async () => {
    await verifyAddress(w, merchant);
    const reports = [
      { type: 'email.complained', data: { to: [email] } },
      { type: 'email.bounced', data: { to: [email], bounce: { type: 'Permanent' } } },
    ];
    for (const [index, said] of reports.entries()) {
      expect((await report(said)).status).toBe(200);
      expect((await w.call('POST', '/v1/keys', { key: merchant.token, body: { name: 'live' } })).status).toBe(201);
      await w.post();
      expect([index, await readLastEmail()]).toMatchObject([index, { template: 'security_alert', status: ['sent', 'dropped'][index] }]);
    }
  });

  it('an address that complained gets the emails its reader requests, until it bounces', async () => {
    expect((await report({ type: 'email.complained', data: { to: [email] } })).status).toBe(200);
    await forgot();
    await w.post();
    expect([await w.posted(), await readLastEmail()]).toMatchObject([{ asked: 1 }, { status: 'sent' }]);
    expect((await report({ type: 'email.bounced', data: { to: [email], bounce: { type: 'Permanent' } } })).status).toBe(200);
    await forgot();
    await w.post();
    expect([await w.posted(), await readLastEmail()]).toMatchObject([{ asked: 1 }, { status: 'dropped', error: 'bounced before' }]);
  });

  it('the platform’s email binding is used if it is configured', async () => {
    const sent: { to: string; subject: string; html: string; text: string }[] = [];
    const EMAIL = { send: async (mail: (typeof sent)[number]) => ({ messageId: `m${sent.push(mail)}` }) };
    await forgot();
    await w.post(undefined, { ...w.env, MAIL_PROVIDER: 'cloudflare', EMAIL } as never);
    expect(sent).toMatchObject([{ to: email, subject: 'Set a new password' }]);
    expect(await readLastEmail()).toMatchObject({ status: 'sent', provider_id: 'm1' });
    const suppressed = { send: async () => Promise.reject(Object.assign(new Error('no'), { code: 'E_RECIPIENT_SUPPRESSED' })) };
    await forgot();
    await w.post(undefined, { ...w.env, MAIL_PROVIDER: 'cloudflare', EMAIL: suppressed } as never);
    expect(await readLastEmail()).toMatchObject({ status: 'failed', error: 'E_RECIPIENT_SUPPRESSED' });
  });
});
