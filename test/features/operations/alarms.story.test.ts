import { beforeEach, describe, expect, it } from 'vitest';
import { tellAlarms } from '#features/operations/alarms.ts';
import type { Env } from '#platform/context.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;

describe('the operator is told of trouble', () => {
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
  const look = (afterMs = 0, env: Env = w.env) => tellAlarms(env, now + afterMs);

  it('hears nothing while all is well', async () => {
    await look();
    expect(await heard()).toEqual([]);
  });

  it('hears of dead letters once, again a day later, and when it is over', async () => {
    await park('one');
    await look();
    await look(MINUTE);
    expect((await heard()).map(({ alarm, status }) => [alarm, status])).toEqual([['dead_letters', 'firing']]);
    expect((await heard())[0]!.text).toContain('1 queue messages failed permanently: npm run admin -- dead-letters');
    await look(DAY + MINUTE);
    expect(await heard()).toHaveLength(2);
    await w.env.DB.prepare('DELETE FROM parked_messages').run();
    await look(DAY + 2 * MINUTE);
    expect((await heard()).map(({ status }) => status)).toEqual(['firing', 'firing', 'resolved']);
    await look(DAY + 3 * MINUTE);
    expect(await heard()).toHaveLength(3);
  });

  it('hears of it once where two crons look at the same moment', async () => {
    await park('one');
    await Promise.all([look(), look(), look(1), look(2)]);
    expect(await heard()).toHaveLength(1);
  });

  it('is told by the next look where their server did not take it', async () => {
    await park('one');
    await taken(500);
    await look();
    await taken(200);
    await look(MINUTE);
    await look(2 * MINUTE);
    expect((await heard()).map(({ status }) => status)).toEqual(['firing', 'firing']);
  });

  it('hears of a node only once it has been away for five minutes, and never by its address', async () => {
    const away = { ...w.env, RPC_URLS: `${testEnv.TEST_CHAIN_URL},http://127.0.0.1:9/?key=secret`, RPC_URL: '' } as Env;
    await look(0, away);
    await look(4 * MINUTE, away);
    expect(await heard()).toEqual([]);
    await look(5 * MINUTE, away);
    const [alarm] = await heard();
    expect([alarm?.alarm, alarm?.text]).toEqual(['node_2', expect.stringContaining('Node 2 of RPC_URLS does not respond.')]);
    expect(JSON.stringify(alarm)).not.toContain('key=secret');
  });

  it('hears of a sweep that is stuck, by its name', async () => {
    const stuck = `INSERT INTO sweeps (name, due_at, sent_at, lease_until, fence, failures) VALUES ('memberships', ?, 0, 0, 0, 6)
      ON CONFLICT (name) DO UPDATE SET failures = 6`;
    await w.env.DB.prepare(stuck).bind(now).run();
    await look();
    expect((await heard()).map(({ alarm, text }) => [alarm, text])).toEqual([['sweep_stuck', expect.stringContaining('memberships')]]);
    await w.env.DB.prepare(`DELETE FROM sweeps WHERE name = 'memberships'`).run();
  });

  it('hears of a fee payer that has too little left, with its address', async () => {
    const env = { ...new World().env, ALARM_URL: w.env.ALARM_URL, FEE_PAYER_LOW_LAMPORTS: String(10 ** 15) } as Env;
    await look(0, env);
    expect((await heard()).map(({ alarm }) => alarm)).toContain('fee_payer_low');
  });

  it('never breaks the cron: without a database it only notes', async () => {
    await expect(look(0, withFaults(w.env, { before: () => true }).env)).resolves.toBeUndefined();
    expect(await heard()).toEqual([]);
  });
});

describe('an operator with an address', () => {
  it('is written to where letters are sent, by the provider itself', async () => {
    const w = new World({ ALARM_EMAIL: 'ops@svc.example', MAIL_PROVIDER: 'local', MAIL_FROM: 'svc <post@svc.example>' });
    await w.env.DB.prepare('DELETE FROM alarms').run();
    await w.env.DB.prepare(
      `INSERT INTO parked_messages (id, queue, kind, body, reason, parked_at) VALUES ('m', 'svc-jobs-dead', null, '{}', 'failed', 1)`,
    ).run();
    await tellAlarms(w.env, Date.now());
    const told = await w.env.DB.prepare(`SELECT told_at FROM alarms WHERE name = 'dead_letters'`).first<number>('told_at');
    expect(told).toBeGreaterThan(0);
  });
});
