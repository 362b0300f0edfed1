import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { MINUTE } from '#core/time.ts';
import { findTrouble } from '#features/operator/health-checks.ts';
import { newCtx } from '#platform/context.ts';
import { setTime } from '../../support/runner/clock.ts';
import { firstRun, World } from '../../support/world.ts';

const SECRET = 'the secret of an operator in a test';

describe('a sweep that leaves rows', () => {
  const w = new World({ OPERATOR_SECRET: SECRET });
  beforeAll(async () => {
    await w.purchase(await w.product(await w.merchant()), await w.chain.wallet());
    await w.sweepAll();
  });
  beforeEach(() => w.env.DB.prepare("DELETE FROM sweeps WHERE name = 'finality'").run());

  const due = () => w.env.DB.prepare('UPDATE tx_claims SET final_at = NULL, next_check_at = ?').bind(Date.now()).run();
  /** Runs the sweep at a cron while no node answers, or to its end. */
  async function cron({ isAway }: { isAway: boolean }) {
    setTime(Date.now() + MINUTE);
    if (isAway) await w.chain.fault({ kind: 'http_503', times: 1 });
    await oldest(0);
    return w.runSweep(firstRun('finality'));
  }
  const finding = async () =>
    (await findTrouble(newCtx(w.env, { requestId: 'r', defer: () => {} }))).find(({ name }) => name === 'sweep_behind')?.finding;
  const metric = async () => {
    const { body } = await w.call('GET', '/v1/operator/metrics', { headers: { 'X-Svc-Operator-Secret': SECRET } });
    return Number(/^svc_sweep_behind_seconds\{sweep="finality"\} (\S+)$/m.exec(String(body))?.[1] ?? 0);
  };
  const queueCheck = async () => (await w.call('GET', '/health', { env: { ...w.env } })).body.checks.queue;
  const oldest = (ageMs: number) =>
    w.env.DB.prepare('UPDATE tx_claims SET next_check_at = ? WHERE final_at IS NULL')
      .bind(Date.now() - ageMs)
      .run();

  it('the sweep is behind after three crons, with the age of its oldest row, until none is left', async () => {
    await due();
    await cron({ isAway: true });
    await oldest(2 * MINUTE);
    expect([await finding(), await metric()]).toEqual([undefined, 0]);
    for (let i = 0; i < 3; i++) await cron({ isAway: true });
    await oldest(14 * MINUTE);
    expect(await finding()).toMatch('Sweeps are behind: finality, oldest due 14 min.');
    expect(await finding()).toMatch('RPC_URLS');
    expect(await metric()).toBeGreaterThanOrEqual(14 * 60);
    await cron({ isAway: false });
    expect([await finding(), await metric()]).toEqual([undefined, 0]);
  });

  it('the queue check fails after half an hour', async () => {
    await due();
    await cron({ isAway: true });
    expect(await queueCheck()).toBe('ok');
    for (let i = 0; i < 34; i++) await cron({ isAway: true });
    await w.env.DB.prepare('UPDATE acts SET fanned_out_at = 1').run();
    expect(await queueCheck()).toBe('failing');
    await cron({ isAway: false });
    expect(await queueCheck()).toBe('ok');
  });

  it('a mark of an earlier backlog does not count for a later one', async () => {
    await due();
    await cron({ isAway: true });
    setTime(Date.now() + 60 * MINUTE);
    await cron({ isAway: true });
    await oldest(14 * MINUTE);
    expect(await finding()).toBeUndefined();
    for (let i = 0; i < 3; i++) await cron({ isAway: true });
    await oldest(14 * MINUTE);
    expect(await finding()).toMatch('finality');
    await cron({ isAway: false });
  });

  it.each([
    ['namedCandidates', 'ok'],
    ['sandboxes', 'ok'],
    ['candidates', 'failing'],
  ])('the queue check of a deployment with %s behind for an hour is %s', async (name, check) => {
    await w.env.DB.prepare('UPDATE acts SET fanned_out_at = 1').run();
    const row = {
      due_at: 0,
      sent_at: 0,
      lease_until: 0,
      fence: 1,
      succeeded_at: Date.now(),
      failures: 0,
      behind_at: Date.now() - 60 * MINUTE,
    };
    await w.env.DB.prepare(`INSERT OR REPLACE INTO sweeps (name, ${Object.keys(row)}) VALUES (?, ${Object.values(row)})`)
      .bind(name)
      .run();
    expect(await queueCheck()).toBe(check);
    await w.env.DB.prepare('DELETE FROM sweeps WHERE name = ?').bind(name).run();
  });

  it('the sweep is not behind for rows that fell due after its last run', async () => {
    await due();
    for (let i = 0; i < 5; i++) await cron({ isAway: true });
    await w.env.DB.prepare('UPDATE tx_claims SET next_check_at = ?')
      .bind(Date.now() + 1)
      .run();
    setTime(Date.now() + MINUTE);
    expect([await finding(), await metric()]).toEqual([undefined, 0]);
  });
});
