// @module-tag volume
import { describe, expect, it } from 'vitest';
import { SimulatedService } from '../../local/simulate/runtime/host.ts';
import { planOf } from '../../local/simulate/search/plan.ts';
import { runHistory } from '../../local/simulate/search/run-history.ts';

/** The odd ones aim at a verb. */
const SEEDS = [1, 2, 3];

describe('the same seed', { timeout: 240_000 }, () => {
  it('gives the same history in another copy of the service, whatever ran before it', async () => {
    const [one, other] = [await SimulatedService.load(), await SimulatedService.load()];
    const first = [];
    for (const seed of SEEDS) first.push(await runHistory(one, planOf(seed)));
    const second = [];
    for (const seed of SEEDS.toReversed()) second.unshift(await runHistory(other, planOf(seed)));
    expect(second.map(({ hash, steps }) => ({ hash, steps }))).toEqual(first.map(({ hash, steps }) => ({ hash, steps })));
    expect(new Set(first.map(({ hash }) => hash)).size).toBe(SEEDS.length);
    expect(first.every(({ steps }) => steps > 500)).toBe(true);
  });

  it('meets other faults if some are left out, and none if all are', async () => {
    const service = await SimulatedService.load();
    const plan = { ...planOf(1), faults: { kinds: ['lost', 'died'], rate: 0.02 } as const };
    const complete = await runHistory(service, plan);
    expect(complete.struck.length).toBeGreaterThan(0);
    const without = await runHistory(service, { ...plan, faults: { ...plan.faults, only: new Set<number>() } });
    expect(without.struck).toEqual([]);
    expect(without.hash).not.toBe(complete.hash);
  });
});
