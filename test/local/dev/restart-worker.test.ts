// @module-tag volume
import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { countUnits } from './count-units.ts';
import { isAlive } from './dev-process.ts';

/** That of the wrangler in package.json. The one the test pool brings is older, and stories inside it say nothing of this one. */
const RUNTIME_SINCE = Date.parse('2026-10-23');

describe('what `npm run dev` makes of a worker that is killed', () => {
  const { dev, countThrough } = countUnits();

  it('comes back with every answered unit, and counts none twice, in the runtime of today', async () => {
    const runtime = execFileSync(`/proc/${dev().find('worker')}/exe`, ['--version'], { encoding: 'utf8' });
    expect(Date.parse(runtime.split(' ')[1]!), runtime).toBeGreaterThanOrEqual(RUNTIME_SINCE);
    await countThrough('worker');
  });

  it('ends cleanly when it is interrupted in the middle of a restart', async () => {
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
