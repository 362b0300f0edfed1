// @module-tag volume
import { describe, expect, it } from 'vitest';
import { SimulatedService } from '../../local/simulate/runtime/host.ts';
import { planOf } from '../../local/simulate/search/plan.ts';
import { runHistory } from '../../local/simulate/search/run-history.ts';
import { aimOf, STRIKES, strikeAt } from '../../local/simulate/search/targets.ts';

const AIMS: [kind: 'refused' | 'readonly' | 'slow' | 'spent', at: string][] = [
  ['refused', 'd1.batch'],
  ['readonly', 'd1.run'],
  ['slow', 'POST /v1/products'],
  ['spent', 'sweep finality'],
];

describe('aimOf', () => {
  it('names every pair of fault and verb in as many seeds as there are aims', () => {
    const named = new Set(Array.from({ length: 2 * STRIKES.length }, (_, number) => strikeAt(aimOf(number))));
    expect([...named].sort()).toEqual([...STRIKES].sort());
  });
});

describe('an aimed fault', { timeout: 120_000 }, () => {
  it.each(AIMS)('%s strikes at %s in the same history each time, and the judge finds nothing', async (kind, at) => {
    const service = await SimulatedService.load();
    const plan = { ...planOf(3), faults: { kinds: [], rate: 0, aim: { kind, at } } };
    const first = await runHistory(service, plan);
    expect(first.findings).toEqual([]);
    expect(first.struck.length).toBeGreaterThan(0);
    for (const { way, invocation, kind: struck } of first.struck) {
      expect(struck).toBe(kind);
      expect([way, invocation]).toContain(at);
    }
    expect((await runHistory(service, plan)).hash).toBe(first.hash);
    const { ordinal } = first.struck[0]!;
    const shorter = await runHistory(service, { ...plan, faults: { ...plan.faults, only: new Set([ordinal]) } });
    expect(shorter.struck).toEqual(first.struck.slice(0, 1));
  });
});
