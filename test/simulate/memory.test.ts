// @module-tag volume
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { SimulatedService } from '../../local/simulate/runtime/host.ts';
import { planOf } from '../../local/simulate/search/plan.ts';
import { runHistory } from '../../local/simulate/search/run-history.ts';

const FIRST_SEED = 130;
const HISTORIES = 6;

it('a history that has ended leaves nothing in memory', { timeout: 120_000 }, async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const service = await SimulatedService.load();
  const hosts: WeakRef<object>[] = [];
  for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed++) {
    await runHistory(service, planOf(seed));
    hosts.push(new WeakRef(service.history!));
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  collect();
  // The service knows the last one until the next begins.
  expect(hosts.slice(0, -1).filter((host) => host.deref() !== undefined).length).toBe(0);
});
