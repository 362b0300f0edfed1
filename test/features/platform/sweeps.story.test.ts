import { beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { chargeCall } from '#core/isolate/budget.ts';
import { dueWorkOf } from '#features/operator/due-work.store.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { readVitalSigns } from '#platform/db/due/vital-signs.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import { SWEEPS } from '../../../worker/sweeps.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { LIMITS, metered, withinLimits } from '../../support/runner/limits.ts';
import { firstRun, World } from '../../support/world.ts';

const FOLLOWERS = ['candidates', 'expired'];
const LEADERS = SWEEPS.map(({ name }) => name).filter((name) => !FOLLOWERS.includes(name));

describe('sweeps', () => {
  const w = new World();
  const readRow = async (name: string) =>
    (await w.env.DB.prepare('SELECT * FROM sweeps WHERE name = ?').bind(name).first<Record<string, number>>())!;
  const set = (name: string, values: string) => w.env.DB.prepare(`UPDATE sweeps SET ${values} WHERE name = ?`).bind(name).run();
  const sent = async (env?: Env) => (await w.tick(env)).map(({ sweep }) => sweep);
  beforeAll(async () => {
    const { userId } = await w.merchant();
    await w.sweepAll();
    // The sweep of plans never ends a free plan, so its work stays.
    await w.env.DB.prepare("UPDATE accounts SET plan = 'free', plan_through = 1 WHERE id = ?").bind(userId).run();
  });
  beforeEach(() => w.env.DB.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0, failures = 0').run());

  const gated = () => {
    const gate = Promise.withResolvers<void>();
    const blocked = Promise.withResolvers<void>();
    let times = 0;
    const prepare = (sql: string) => {
      const statement = w.env.DB.prepare(sql);
      if (!sql.startsWith('update "accounts"')) return statement;
      times++;
      blocked.resolve();
      const late = (bound: D1PreparedStatement) => ({ run: () => gate.promise.then(() => bound.run()) });
      return { bind: (...values: unknown[]) => late(statement.bind(...values)) };
    };
    const DB = { prepare, batch: w.env.DB.batch } as unknown as D1Database;
    return { env: { ...w.env, DB }, open: gate.resolve, reached: blocked.promise, times: () => times };
  };

  it('the work of each sweep is known', () => {
    expect(SWEEPS.map(({ name }) => name).sort()).toEqual(
      Object.keys(dueWorkOf(newCtx(w.env, { requestId: 'r', defer: () => {} }))).sort(),
    );
  });

  it('a cron sends one message, and concurrent ticks send each due sweep once in its own message', async () => {
    expect((await w.cron()).map(({ sweep }) => sweep)).toEqual(['tick']);
    const both = (await Promise.all([sent(), sent()])).flat();
    expect(both).toEqual(expect.arrayContaining(['plans', 'reference', 'feePayer']));
    expect(new Set(both).size).toBe(both.length);
    expect(both).not.toEqual(expect.arrayContaining(['memberships']));
    expect(await sent()).toEqual([]);
  });

  it('the next tick takes what fell due after a tick, and what a lost tick left', async () => {
    expect(await sent()).not.toContain('memberships');
    const { payment } = await w.purchase(await w.product(await w.merchant(), { access_period_days: 30 }), await w.chain.wallet());
    await w.env.DB.prepare("UPDATE memberships SET paid_through = 1 WHERE status = 'active'").run();
    await w.cron();
    expect(await sent()).toContain('memberships');
    await w.sweepAlone('memberships');
    expect(await w.eventTypes(payment.payment_id)).toContain('payment.confirmed');
    await set('memberships', 'due_at = 0');
    expect(await sent()).not.toContain('memberships');
  });

  it('a row that fails forever delays no other sweep and is not late while its sweep runs', async () => {
    await w.runSweep(firstRun('plans'));
    const ctx = newCtx(w.env, { requestId: 'r', defer: () => {} });
    const lag = async () => {
      const { sweeps } = await readVitalSigns(shardsOf(ctx)[0], dueWorkOf(ctx));
      return Date.now() - sweeps.find(({ name }) => name === 'plans')!.dueAt;
    };
    expect(await lag()).toBeLessThan(10_000);
    await set('plans', `due_at = ${Date.now() - 700_000}`);
    expect(await lag()).toBeGreaterThan(600_000);
    expect(await sent()).toEqual(expect.arrayContaining(['plans', 'reference']));
  });

  it('a sweep is sent again if its message was lost', async () => {
    expect(await sent()).toContain('plans');
    expect(await sent()).not.toContain('plans');
    await set('plans', 'sent_at = sent_at - 51000');
    expect(await sent()).toContain('plans');
  });

  it('the tick sends every leading sweep if the database does not answer', async () => {
    const { env } = withFaults(w.env, { before: () => true });
    expect((await sent(env)).sort()).toEqual([...LEADERS].sort());
  });

  it('a sweep runs once at a time, and no cron sends it meanwhile', async () => {
    const { env, open, reached: blocked, times } = gated();
    const running = w.runSweep(firstRun('plans'), env);
    await blocked;
    await Promise.all([w.runSweep(firstRun('plans'), env), w.runSweep(firstRun('plans'), env)]);
    expect(await sent()).not.toContain('plans');
    open();
    await running;
    await w.runSweep(firstRun('plans'), env);
    expect(times()).toBe(1);
    expect(await readRow('plans')).toMatchObject({ lease_until: 0, failures: 0 });
  });

  it('a running sweep renews its lease', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'], now: Date.now() });
    try {
      const { env, open, reached: blocked } = gated();
      const running = w.runSweep(firstRun('plans'), env);
      await blocked;
      for (let i = 0; i < 4; i++) {
        const { lease_until } = await readRow('plans');
        vi.advanceTimersByTime(16_000);
        await vi.waitFor(async () => expect((await readRow('plans')).lease_until).toBeGreaterThan(lease_until!));
        expect(await sent()).not.toContain('plans');
      }
      open();
      await running;
    } finally {
      vi.useRealTimers();
    }
  });

  it('a crashed sweep is sent again after its lease expires', async () => {
    await set('plans', `fence = 7, lease_until = ${Date.now() + 45_000}`);
    expect(await sent()).not.toContain('plans');
    await set('plans', `lease_until = ${Date.now() - 1}`);
    expect(await sent()).toContain('plans');
    await w.runSweep(firstRun('plans'));
    expect((await readRow('plans')).succeeded_at).toBeGreaterThan(Date.now() - 10_000);
  });

  it('a failed sweep records its reason and is due at once, and the next sweeps run', async () => {
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
    expect(await readRow('reference')).toMatchObject({ lease_until: 0, failures: 1 });
    expect(await sent()).toContain('reference');
  });

  it.each(['memberships', 'refunds'])('a failed sweep is sent each minute until it succeeds, even without work (%s)', async (name) => {
    expect(await sent()).not.toContain(name);
    const { env } = withFaults(w.env, { before: ({ number }) => number === 2 });
    await w.runSweep(firstRun(name), env);
    expect(await readRow(name)).toMatchObject({ failures: 1 });
    expect(await sent()).toContain(name);
    await set(name, 'sent_at = 0');
    expect(await sent()).toContain(name);
    await w.runSweep(firstRun(name));
    await set(name, 'due_at = 0, sent_at = 0');
    expect(await sent()).not.toContain(name);
  });

  it('the reference sweep sends the candidates sweep, which sends the expiry sweep', async () => {
    const order: string[] = [];
    for (let next = [firstRun('reference')]; next.length > 0; next = await w.runSweep(next[0]!)) order.push(next[0]!.sweep);
    expect(order).toEqual(['reference', 'candidates', 'expired']);
  });

  it('a following sweep is sent by the tick if it has not run for two minutes', async () => {
    const { payment_id } = await w.connect(await w.product(await w.merchant()));
    await w.env.DB.prepare('UPDATE payments SET expires_at = 1 WHERE id = ?').bind(payment_id).run();
    await set('expired', `due_at = ${Date.now() - 100_000}`);
    expect(await sent()).not.toContain('expired');
    await set('expired', `due_at = ${Date.now() - 121_000}`);
    expect(await sent()).toContain('expired');
  });

  it('an unknown sweep of another release is skipped', async () => {
    expect(await w.runSweep(firstRun('a sweep to come'))).toEqual([]);
  });
});

describe('invocation limits in tests', () => {
  const w = new World();

  it('withinLimits fails a test with too many calls or too many rows', async () => {
    const env = metered(w.env);
    const ask = (times: number) => async () => Array.from({ length: times }).forEach(chargeCall);
    await withinLimits('few', ask(10));
    await expect(withinLimits('many', ask(LIMITS.subrequests))).rejects.toThrow('subrequests');
    const rows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${LIMITS.rows}) SELECT count(*) FROM n`;
    await expect(withinLimits('much', () => env.DB.prepare(rows).all())).rejects.toThrow('rows');
  });
});
