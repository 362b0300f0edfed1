import { beforeEach, describe, expect, it } from 'vitest';
import { notifyAlarms } from '#features/operator/alarms.ts';
import type { Env } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('operator alarms', () => {
  let box: string;
  let w: World;
  beforeEach(async () => {
    box = crypto.randomUUID();
    w = new World({ ALARM_URL: `${testEnv.TEST_RECEIVER_URL}/flip/${box}`, FEE_PAYER_KEYS: '', CHALLENGE_KEYS: '' });
    await taken(200);
    await w.env.DB.prepare('DELETE FROM alarms').run();
    await w.env.DB.prepare('DELETE FROM parked_messages').run();
  });
  const taken = async (status: number) => void (await (await fetch(`${testEnv.TEST_RECEIVER_URL}/_flip/${box}/${status}`)).text());
  const heard = async () => {
    const got = (await (await fetch(`${testEnv.TEST_RECEIVER_URL}/_box/${box}`)).json()) as { body: string }[];
    return got.map(({ body }) => JSON.parse(body) as { alarm: string; status: string; text: string });
  };
  const park = (id: string) =>
    w.env.DB.prepare(
      `INSERT INTO parked_messages (id, queue, kind, body, reason, parked_at) VALUES (?, 'svc-jobs-dead', 'fanOut', '{}', 'failed', ?)`,
    )
      .bind(id, Date.now())
      .run();
  const now = Date.now();
  const checkAlarms = (afterMs = 0, env: Env = w.env) => notifyAlarms(env, now + afterMs);

  it('no alarm is sent while every check passes', async () => {
    await checkAlarms();
    expect(await heard()).toEqual([]);
  });

  it('dead letters send one alarm, a second one a day later, and a resolved notice once they are gone', async () => {
    await park('one');
    await checkAlarms();
    await checkAlarms(MINUTE);
    expect((await heard()).map(({ alarm, status }) => [alarm, status])).toEqual([['dead_letters', 'firing']]);
    expect((await heard())[0]!.text).toContain('1 queue messages failed permanently: npm run admin -- dead-letters');
    await checkAlarms(DAY + MINUTE);
    expect(await heard()).toHaveLength(2);
    await w.env.DB.prepare('DELETE FROM parked_messages').run();
    await checkAlarms(DAY + 2 * MINUTE);
    expect((await heard()).map(({ status }) => status)).toEqual(['firing', 'firing', 'resolved']);
    await checkAlarms(DAY + 3 * MINUTE);
    expect(await heard()).toHaveLength(3);
  });

  it('concurrent crons send one alarm for the same trouble', async () => {
    await park('one');
    await Promise.all([checkAlarms(), checkAlarms(), checkAlarms(1), checkAlarms(2)]);
    expect(await heard()).toHaveLength(1);
  });

  it('an alarm refused by the operator’s server is sent again by the next check', async () => {
    await park('one');
    await taken(500);
    await checkAlarms();
    await taken(200);
    await checkAlarms(MINUTE);
    await checkAlarms(2 * MINUTE);
    expect((await heard()).map(({ status }) => status)).toEqual(['firing', 'firing']);
  });

  it('a node alarm fires after five minutes of outage and names the node by position, never by URL', async () => {
    const away = { ...w.env, RPC_URLS: `${testEnv.TEST_CHAIN_URL},http://127.0.0.1:9/?key=secret`, RPC_URL: '' } as Env;
    await checkAlarms(0, away);
    await checkAlarms(4 * MINUTE, away);
    expect(await heard()).toEqual([]);
    await checkAlarms(5 * MINUTE, away);
    const [alarm] = await heard();
    expect([alarm?.alarm, alarm?.text]).toEqual(['node_2', expect.stringContaining('Node 2 of RPC_URLS does not respond.')]);
    expect(JSON.stringify(alarm)).not.toContain('key=secret');
  });

  it('an alarm for a stuck sweep names the sweep', async () => {
    const stuck = `INSERT INTO sweeps (name, due_at, sent_at, lease_until, fence, failures) VALUES ('seals', ?, 0, 0, 0, 6)
      ON CONFLICT (name) DO UPDATE SET failures = 6`;
    await w.env.DB.prepare(stuck).bind(now).run();
    await checkAlarms();
    expect((await heard()).map(({ alarm, text }) => [alarm, text])).toEqual([['sweep_stuck', expect.stringContaining('seals')]]);
    await w.env.DB.prepare(`DELETE FROM sweeps WHERE name = 'seals'`).run();
  });

  it('a fee payer below the threshold sends the fee_payer_low alarm', async () => {
    const env = { ...new World().env, ALARM_URL: w.env.ALARM_URL, FEE_PAYER_LOW_LAMPORTS: String(10 ** 15) } as Env;
    await checkAlarms(0, env);
    expect((await heard()).map(({ alarm }) => alarm)).toContain('fee_payer_low');
  });

  it('a database outage sends no alarm and does not fail the cron', async () => {
    await expect(checkAlarms(0, withFaults(w.env, { before: () => true }).env)).resolves.toBeUndefined();
    expect(await heard()).toEqual([]);
  });
});

describe('operator alarms by email', () => {
  it('an alarm is sent to ALARM_EMAIL through the email provider and recorded as notified', async () => {
    const w = new World({ ALARM_EMAIL: 'ops@svc.example', MAIL_PROVIDER: 'local', MAIL_FROM: 'svc <post@svc.example>' });
    await w.env.DB.prepare('DELETE FROM alarms').run();
    await w.env.DB.prepare(
      `INSERT INTO parked_messages (id, queue, kind, body, reason, parked_at) VALUES ('m', 'svc-jobs-dead', null, '{}', 'failed', 1)`,
    ).run();
    await notifyAlarms(w.env, Date.now());
    const notifiedAt = await w.env.DB.prepare(`SELECT notified_at FROM alarms WHERE name = 'dead_letters'`).first<number>('notified_at');
    expect(notifiedAt).toBeGreaterThan(0);
  });
});
