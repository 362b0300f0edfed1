import { beforeEach, describe, expect, it } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { DAY, HOUR, SECOND } from '#core/time.ts';
import { planEmail } from '#features/email/outbox.ts';
import { type MailMessage, newCtx } from '#platform/context.ts';
import { holding } from '../../support/runner/invocation.ts';
import { emailedToken, MailWorld } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

const BATCH = 50;

describe('email backlog', () => {
  let w: MailWorld;
  let ada: Merchant;
  let messages: MailMessage[];
  let delays: number[];
  let env: MailWorld['env'];

  const backlog = async (count: number) => {
    const ctx = newCtx(env, { requestId: 'req_backlog', defer: () => {} });
    const planned = Array.from({ length: count }, (_, i) =>
      planEmail(ctx, {
        template: 'endpoint_disabled',
        facts: { url: `https://hooks.example.com/${i}` },
        accountId: ada.userId as AccountId,
      }),
    );
    for (let i = 0; i < count; i += BATCH) {
      const [first, ...rest] = planned.slice(i, i + BATCH).flatMap(({ writes }) => writes);
      await ctx.db.batch([first!, ...rest]);
    }
  };
  const cron = async (over: object = {}) => {
    const from = messages.length;
    await w.sweepAlone('mails', { ...env, ...over } as typeof env);
    return delays.slice(from);
  };
  const later = (ms: number) =>
    w.db.run(
      `UPDATE mails SET next_attempt_at = next_attempt_at - ${ms}, queued_until = queued_until - ${ms} WHERE status = 'waiting'` as never,
    );

  beforeEach(async () => {
    w = new MailWorld({ MAIL_RETRY_SECONDS: '60,300' });
    [messages, delays] = [[], []];
    env = { ...w.env, MAIL: holding(messages, delays) } as typeof w.env;
    ada = await w.merchant();
    await w.call('POST', '/v1/account/email/verify', { body: { token: await emailedToken(w, ada.userId, 'verify') } });
    await w.db.run('DELETE FROM mails' as never);
    w.mail.length = 0;
  });

  it('each cron run queues one minute’s worth, spread over the minute, and each email once', async () => {
    await backlog(700);
    const first = await cron();
    expect([first.length, Math.min(...first), Math.max(...first)]).toEqual([300, 0, 59]);
    for (let second = 0; second < 60; second++) expect(first.filter((delay) => delay === second)).toHaveLength(5);
    expect((await cron()).length).toBe(300);
    expect((await cron()).length).toBe(100);
    expect(await cron()).toEqual([]);
    expect(new Set(messages.map(({ mailId }) => mailId)).size).toBe(700);
  });

  it('MAIL_PER_SECOND sets the rate', async () => {
    await backlog(700);
    const sent = await cron({ MAIL_PER_SECOND: '40' });
    expect([sent.length, Math.max(...sent)]).toEqual([700, 17]);
  });

  it('emails with lost messages are queued again until the last one is sent', async () => {
    await backlog(12);
    await cron();
    messages.length = 0;
    delays.length = 0;
    expect(await cron()).toEqual([]);
    await later(2 * 60 * SECOND + 3 * SECOND);
    expect(await cron()).toHaveLength(12);
    await w.post(messages, env);
    expect((await w.posted()).taken).toHaveLength(12);
    expect(new Set((await w.rows()).map(({ status }) => status))).toEqual(new Set(['sent']));
  });

  it('health reports failing mail while its messages have no effect', async () => {
    await backlog(3);
    await w.db.run(`UPDATE mails SET next_attempt_at = next_attempt_at - ${HOUR}` as never);
    await cron();
    const { body } = await w.call('GET', '/health', { env: { ...env } });
    expect(body.checks.mail).toBe('failing');
  });

  it('a busy provider costs no attempt until it has been busy for a week', async () => {
    await backlog(1);
    await w.habit('busy');
    for (let time = 0; time < 8; time++) {
      await w.due();
      await cron();
      await w.post(messages.splice(0), env);
    }
    expect([(await w.posted()).asked, (await w.rows())[0]]).toMatchObject([8, { status: 'waiting', attempt: 0 }]);
    await w.db.run(`UPDATE mails SET created_at = created_at - ${8 * DAY}` as never);
    for (let time = 0; time < 3; time++) {
      await w.due();
      await cron();
      await w.post(messages.splice(0), env);
    }
    expect((await w.rows())[0]).toMatchObject({ status: 'failed', attempt: 3 });
  });
});
