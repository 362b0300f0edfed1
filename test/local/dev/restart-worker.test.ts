// @module-tag volume
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { countUnits, UNITS } from './count-units.ts';
import { isAlive } from './dev-process.ts';

/** Date of the runtime in package.json's wrangler. The runtime of the test pool is older. */
const RUNTIME_SINCE = Date.parse('2026-10-23');

/** Minutes of kills, apart from the one of every run. */
const SOAK_MINUTES = Number(process.env.SOAK_MINUTES ?? 0);
const SOAK_MS = SOAK_MINUTES * 60_000;

describe('`npm run dev` with a killed worker', () => {
  const { dev, countThrough } = countUnits();

  it('the worker returns with every answered unit and counts none twice, in the current runtime', async () => {
    const runtime = execFileSync(`/proc/${dev().find('worker')}/exe`, ['--version'], { encoding: 'utf8' });
    expect(Date.parse(runtime.split(' ')[1]!), runtime).toBeGreaterThanOrEqual(RUNTIME_SINCE);
    await countThrough('worker');
  });

  it.runIf(SOAK_MINUTES > 0)(
    `the worker counts each unit once through kills for ${SOAK_MINUTES} minutes`,
    { timeout: SOAK_MS * 2 },
    async () => {
      const until = Date.now() + SOAK_MS;
      let kills = 0;
      for (; Date.now() < until; kills++) await countThrough('worker', `customer-${kills}`);
      console.log(`${kills} kills, ${kills * UNITS} units: none lost, none counted twice`);
    },
  );

  it('an interrupt during a restart ends cleanly', async () => {
    const { restarts } = dev();
    const killed = dev().find('worker');
    dev().kill('worker');
    while (dev().restarts === restarts || [killed, undefined].includes(dev().find('worker'))) await sleep(5);
    const processes = dev().descendants();
    expect(await dev().end(), dev().output).toBe(0);
    expect(processes.filter(isAlive)).toEqual([]);
    expect(dev().output.match(/^ready /gm)).toHaveLength(1);
  });
});
