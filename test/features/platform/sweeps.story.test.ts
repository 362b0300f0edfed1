import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { chargeCall } from '#core/isolate/budget.ts';
import type { Env } from '#platform/context.ts';
import { SWEEPS } from '../../../worker/sweeps.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { LIMITS, metered, withinLimits } from '../../support/runner/limits.ts';
import { firstRun, World } from '../../support/world.ts';

const FOLLOWERS = ['candidates', 'expired'];
const LEADERS = SWEEPS.map(({ name }) => name).filter((name) => !FOLLOWERS.includes(name));

describe('a sweep', () => {
  const w = new World();
  const rowOf = async (name: string) =>
    (await w.env.DB.prepare('SELECT * FROM sweeps WHERE name = ?').bind(name).first<Record<string, number>>())!;
  const set = (name: string, values: string) => w.env.DB.prepare(`UPDATE sweeps SET ${values} WHERE name = ?`).bind(name).run();
  const sent = async (env?: Env) => (await w.cron(env)).map(({ sweep }) => sweep);
  beforeAll(() => w.sweep());
  beforeEach(() => w.env.DB.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0, failures = 0').run());

  /** The environment in which whatever asks the plans waits at a gate. */
  const gated = () => {
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    let times = 0;
    const prepare = (sql: string) => {
      const statement = w.env.DB.prepare(sql);
      if (!sql.startsWith('update "accounts"')) return statement;
      times++;
      reached.resolve();
      const late = (bound: D1PreparedStatement) => ({ run: () => gate.promise.then(() => bound.run()) });
      return { bind: (...values: unknown[]) => late(statement.bind(...values)) };
    };
    const DB = { prepare, batch: w.env.DB.batch } as unknown as D1Database;
    return { env: { ...w.env, DB }, open: gate.resolve, reached: reached.promise, times: () => times };
  };

  it('is sent once by two crons at the same moment, each in a message of its own, and those that follow another by none', async () => {
    // Not due for so long that they would begin by themselves.
    for (const name of FOLLOWERS) await set(name, `due_at = ${Date.now()}`);
    const [one, other] = await Promise.all([sent(), sent()]);
    expect([...one, ...other].sort()).toEqual([...LEADERS].sort());
    expect(await sent()).toEqual([]);
  });

  it('is sent again where its message was lost', async () => {
    expect(await sent()).toContain('plans');
    expect(await sent()).not.toContain('plans');
    await set('plans', 'sent_at = sent_at - 51000');
    expect(await sent()).toContain('plans');
  });

  it('is tried by the cron also where the database does not answer it', async () => {
    const { env } = withFaults(w.env, { before: () => true });
    expect((await sent(env)).sort()).toEqual([...LEADERS].sort());
  });

  it('runs once at a time, however often its message comes, and no cron sends it meanwhile', async () => {
    const { env, open, reached, times } = gated();
    const running = w.runSweep(firstRun('plans'), env);
    await reached;
    await Promise.all([w.runSweep(firstRun('plans'), env), w.runSweep(firstRun('plans'), env)]);
    expect(await sent()).not.toContain('plans');
    open();
    await running;
    // And a copy that comes right afterwards finds it done.
    await w.runSweep(firstRun('plans'), env);
    expect(times()).toBe(1);
    expect(await rowOf('plans')).toMatchObject({ lease_until: 0, failures: 0 });
  });

  it('keeps its lease as long as it runs', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: Date.now() });
    try {
      const { env, open, reached } = gated();
      const running = w.runSweep(firstRun('plans'), env);
      await reached;
      for (let i = 0; i < 4; i++) {
        const { lease_until } = await rowOf('plans');
        vi.advanceTimersByTime(16_000);
        await vi.waitFor(async () => expect((await rowOf('plans')).lease_until).toBeGreaterThan(lease_until!));
        expect(await sent()).not.toContain('plans');
      }
      open();
      await running;
    } finally {
      vi.useRealTimers();
    }
  });

  it('whose run died is sent by the first cron after its lease', async () => {
    await set('plans', `fence = 7, lease_until = ${Date.now() + 45_000}`);
    expect(await sent()).not.toContain('plans');
    await set('plans', `lease_until = ${Date.now() - 1}`);
    expect(await sent()).toContain('plans');
    await w.runSweep(firstRun('plans'));
    expect((await rowOf('plans')).succeeded_at).toBeGreaterThan(Date.now() - 10_000);
  });

  it('that fails is noted with its reason and due at once, and those after it run all the same', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    const prepare = (sql: string) => w.env.DB.prepare(sql.includes('cursors') ? 'SELECT broken' : sql);
    const DB = { prepare, batch: w.env.DB.batch } as unknown as D1Database;
    try {
      const followers = await w.runSweep(firstRun('reference'), { ...w.env, DB });
      expect(followers.map(({ sweep }) => sweep)).toEqual(['candidates']);
      const lines = log.mock.calls.map(([line]) => JSON.parse(String(line)) as Record<string, unknown>);
      expect(lines.find(({ sweep }) => sweep === 'reference')).toMatchObject({
        cause: 'cron_of_a_test',
        notes: [expect.stringMatching('broken')],
      });
    } finally {
      log.mockRestore();
    }
    expect(await rowOf('reference')).toMatchObject({ lease_until: 0, failures: 1 });
    expect(await sent()).toContain('reference');
  });

  it('looks at the chain, then judges what was found, then gives sessions up: each sends the next', async () => {
    const order: string[] = [];
    for (let next = [firstRun('reference')]; next.length > 0; next = await w.runSweep(next[0]!)) order.push(next[0]!.sweep);
    expect(order).toEqual(['reference', 'candidates', 'expired']);
  });

  it('that follows another begins by itself where that one has not come for two minutes', async () => {
    await set('expired', `due_at = ${Date.now() - 100_000}`);
    expect(await sent()).not.toContain('expired');
    await set('expired', `due_at = ${Date.now() - 121_000}`);
    expect(await sent()).toContain('expired');
  });

  it('of another release is left to that release', async () => {
    expect(await w.runSweep(firstRun('a sweep to come'))).toEqual([]);
  });
});

describe('the limits of an invocation', () => {
  const w = new World();

  it('fail a test that asks too often, or reads too much', async () => {
    const env = metered(w.env);
    const ask = (times: number) => async () => Array.from({ length: times }).forEach(chargeCall);
    await withinLimits('few', ask(10));
    await expect(withinLimits('many', ask(LIMITS.subrequests))).rejects.toThrow('subrequests');
    const rows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIMITS.rows}) SELECT count(*) FROM n`;
    await expect(withinLimits('much', () => env.DB.prepare(rows).all())).rejects.toThrow('rows');
  });
});
