import { beforeEach, describe, expect, it } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { DAY, HOUR, SECOND } from '#core/time.ts';
import { planLetter } from '#features/mail/outbox.ts';
import { type MailMessage, newCtx } from '#platform/context.ts';
import { holding } from '../../support/runner/invocation.ts';
import { letterToken, MailWorld } from '../../support/servers/mail.ts';
import type { Merchant } from '../../support/world.ts';

/** Planned in one batch of the database at a time, as causes plan them. */
const BATCH = 50;

describe('a backlog of letters', () => {
  let w: MailWorld;
  let ada: Merchant;
  let messages: MailMessage[];
  let delays: number[];
  let env: MailWorld['env'];

  const backlog = async (count: number) => {
    const ctx = newCtx(env, { requestId: 'req_backlog', defer: () => {} });
    const planned = Array.from({ length: count }, (_, i) =>
      planLetter(ctx, {
        letter: 'endpoint_disabled',
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
    await w.call('POST', '/v1/account/email/verify', { body: { token: await letterToken(w, ada.userId, 'verify') } });
    await w.db.run('DELETE FROM mails' as never);
    w.mail.length = 0;
  });

  it('leaves a minute’s worth with every cron, spread over the minute as the provider takes it, each letter once', async () => {
    await backlog(700);
    const first = await cron();
    expect([first.length, Math.min(...first), Math.max(...first)]).toEqual([300, 0, 59]);
    for (let second = 0; second < 60; second++) expect(first.filter((delay) => delay === second)).toHaveLength(5);
    expect((await cron()).length).toBe(300);
    expect((await cron()).length).toBe(100);
    expect(await cron()).toEqual([]);
    expect(new Set(messages.map(({ mailId }) => mailId)).size).toBe(700);
  });

  it('leaves as fast as the operator has agreed with the provider', async () => {
    await backlog(700);
    const sent = await cron({ MAIL_PER_SECOND: '40' });
    expect([sent.length, Math.max(...sent)]).toEqual([700, 17]);
  });

  it('is brought again where the messages were lost, and goes on to the last letter', async () => {
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

  it('is still told of by the health of the service while its messages come to nothing', async () => {
    await backlog(3);
    await w.db.run(`UPDATE mails SET next_attempt_at = next_attempt_at - ${HOUR}` as never);
    await cron();
    const { body } = await w.call('GET', '/health', { env: { ...env } });
    expect(body.checks.mail).toBe('failing');
  });

  it('loses no letter to a provider that is busy, however often it says so, until it has said so for a week', async () => {
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
