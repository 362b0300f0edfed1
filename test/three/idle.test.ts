import { beforeAll, describe, expect, it } from 'vitest';
import { HOUR, MINUTE } from '#core/time.ts';
import type { Env } from '#platform/context.ts';
import { setNoon, setTime } from '../support/runner/clock.ts';
import { type Reading, rowsOf, withRowCount, worstOf, writtenBy } from '../support/runner/rows-read.ts';
import { World } from '../support/world.ts';

const ROWS_MAX = 45;
/** A tick asks about a tenth of the rare sweeps. The sweeps of the deployment run in the first database, so the others have other tenths. */
const ROWS_MAX_OF_OTHERS = 48;
const NAMES = ['DB', 'DB_2', 'DB_3'];

/** Environment that counts the rows of each database. */
function withRowCounts(env: Env): { env: Env; readings: Record<string, Reading[]> } {
  const counted = NAMES.map((name) => [name, withRowCount({ ...env, DB: env[name] as D1Database })] as const);
  return {
    env: { ...env, ...Object.fromEntries(counted.map(([name, one]) => [name, one.env.DB])) },
    readings: Object.fromEntries(counted.map(([name, one]) => [name, one.readings])),
  };
}

describe('three idle databases', () => {
  const w = new World();
  beforeAll(async () => {
    for (let i = 0; i < 3; i++) await w.purchase(await w.product(await w.merchant()), await w.chain.wallet());
    await w.env.DB.prepare('UPDATE acts SET fanned_out_at = 1').run();
    await w.env.DB.prepare('DELETE FROM mails').run();
    await w.env.DB.prepare('UPDATE tx_claims SET next_check_at = NULL').run();
    setNoon();
    setTime(Date.now() + HOUR);
    await w.sweepAll();
  });

  it('a minute takes one message a database, reads at most 48 rows of each and writes none', async () => {
    let idle = 0;
    const ofDeployment: string[] = [];
    for (let i = 0; i < 30; i++) {
      setTime(Date.now() + MINUTE);
      const { env, readings } = withRowCounts(w.env);
      const messages = await w.cron(env);
      expect(messages.map(({ database = 'DB' }) => database).sort()).toEqual(NAMES);
      const caused = [];
      for (const tick of messages) caused.push(...(await w.runSweep(tick, env)));
      ofDeployment.push(
        ...caused.filter(({ sweep }) => sweep === 'reference' || sweep === 'feePayer').map(({ database = 'DB' }) => database),
      );
      if (caused.length > 0) {
        for (let next = caused.shift(); next; next = caused.shift()) caused.push(...(await w.runSweep(next, env)));
        continue;
      }
      idle++;
      for (const name of NAMES) {
        const max = name === 'DB' ? ROWS_MAX : ROWS_MAX_OF_OTHERS;
        expect(rowsOf(readings[name]!), `${name}: ${worstOf(readings[name]!)}`).toBeLessThanOrEqual(max);
        expect(writtenBy(readings[name]!)).toBe(0);
      }
    }
    expect(idle).toBeGreaterThan(10);
    // Sweeps of the deployment run in the first database alone.
    expect(new Set(ofDeployment)).toEqual(new Set(['DB']));
  });
});
