import { describe, expect, it } from 'vitest';
import { Budget, CALLS_MAX, chargeCall, chargedEnv, currentBudget, withBudget } from '#core/isolate/budget.ts';
import { databasesOf, type Env } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { testEnv } from '../../support/runner/env.ts';
import { firstRun, World } from '../../support/world.ts';

const spendAll = () => {
  while (currentBudget().left > 0) chargeCall();
};

describe('call budget of an invocation', () => {
  const w = new World();

  it('every binding and fetch charges each call once', async () => {
    const answers = { send: async () => {}, sendBatch: async () => {}, get: async () => null, put: async () => {}, fetch: async () => {} };
    const objects = { getByName: () => ({ ask: async () => {} }) };
    const bindings = { JOBS: answers, ARCHIVE: answers, ASSETS: answers, EMAIL: answers, ADMISSION: objects, METERED_SESSION: objects };
    const env = chargedEnv({ ...testEnv, ...bindings, METRICS: { writeDataPoint: () => {} } } as unknown as Env);
    const spentBy = (call: () => unknown) =>
      withBudget(async () => {
        await Promise.resolve(call()).catch(() => {});
        return currentBudget().spent;
      });
    const object = (namespace: unknown) => (namespace as typeof objects).getByName();
    const [{ db }] = databasesOf(env);
    for (const call of [
      () => env.JOBS.send({ kind: 'fanOut', actIds: [] }),
      () => env.ARCHIVE!.get('key'),
      () => env.ARCHIVE!.put('key', ''),
      () => env.ASSETS.fetch('https://assets/font'),
      () => object(env.ADMISSION).ask(),
      () => object(env.METERED_SESSION).ask(),
      () => fetch(`${testEnv.TEST_CHAIN_URL}/nothing`),
      () => db.run('SELECT 1'),
      () => db.all('SELECT 1'),
      () => db.batch([db.run('SELECT 1'), db.run('SELECT 2')]),
    ])
      expect(await spentBy(call), String(call)).toBe(1);
    expect(await spentBy(() => env.METRICS!.writeDataPoint({}))).toBe(0);
    expect(await spentBy(() => chargedEnv({ ...chargedEnv(env) }).JOBS.send({ kind: 'fanOut', actIds: [] }))).toBe(1);
  });

  it('the platform’s own bindings charge their calls, including each kind of object', async () => {
    const env = chargedEnv(testEnv);
    const spentBy = (call: () => Promise<unknown>) =>
      withBudget(async () => {
        await call();
        return currentBudget().spent;
      });
    const called = { now: Date.now(), requestId: 'req_budget' };
    for (const call of [
      () => env.ASSETS.fetch('https://assets/nothing'),
      () => env.ARCHIVE!.head('nothing'),
      () => env.SANDBOX.sendBatch([]),
      () => env.ADMISSION.getByName('nobody').record({} as never),
      () => env.ENTITLEMENT.getByName('nothing').read(called as never),
      () => env.METERED_SESSION.getByName('nothing').read(called),
    ])
      expect(await spentBy(() => call().catch(() => {})), String(call)).toBe(1);
  });

  it('concurrent invocations have their own budgets, and a nested one shares its parent’s', async () => {
    const spent = () =>
      withBudget(async () => {
        chargeCall();
        await Promise.resolve();
        withBudget(chargeCall);
        return currentBudget().spent;
      });
    expect(await Promise.all([spent(), spent()])).toEqual([2, 2]);
  });

  it('a spent budget reserves calls for the end of the run', () => {
    const budget = new Budget();
    expect(budget.rows(10, 20)).toBe(20);
    while (budget.left > 0) budget.charge();
    expect(CALLS_MAX - budget.spent).toBeGreaterThanOrEqual(100);
    expect(budget.rows(1, 20)).toBe(0);
  });

  it('forEach starts no row once the budget is spent and returns how many it started', () =>
    withBudget(async () => {
      const notes: string[] = [];
      const ctx = { budget: currentBudget(), note: (reason: string) => notes.push(reason) };
      const begun = await forEach(ctx as never, Array.from({ length: 500 }), async () => [1, 2, 3, 4].forEach(chargeCall), 6);
      expect(begun).toBeLessThan(CALLS_MAX / 4);
      expect(notes).toEqual([`budget spent: ${500 - begun} rows left`]);
      expect(currentBudget().spent).toBeLessThan(CALLS_MAX - 100);
    }));

  it('a sweep with a spent budget releases its lease and sends its next round', () =>
    withBudget(async () => {
      await w.env.DB.prepare("DELETE FROM sweeps WHERE name = 'plans'").run();
      spendAll();
      expect(await w.runSweep(firstRun('plans'))).toMatchObject([{ sweep: 'plans', round: 2 }]);
      const row = await w.env.DB.prepare("SELECT * FROM sweeps WHERE name = 'plans'").first<Record<string, number>>();
      expect(row).toMatchObject({ lease_until: 0, failures: 0 });
      expect(row!.due_at).toBeLessThanOrEqual(Date.now());
      expect(currentBudget().spent).toBeLessThan(CALLS_MAX);
    }));
});
