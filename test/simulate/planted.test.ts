import { describe, expect, it } from 'vitest';
import { SimulatedService } from '../../local/simulate/runtime/host.ts';
import { planOf } from '../../local/simulate/search/plan.ts';
import { runHistory } from '../../local/simulate/search/run-history.ts';

const FIRST_SEED = 1_008;
const HISTORIES_MAX = 60;
/** Lookup of the key of an operation in an object. */
const KEYS = ['operations.find(`', '{verb}:', '{key}`, Date.now())'].join('$');
const UNITS = /units left|units more than it had/;

/** Runs histories until one shows that units are wrong. Null: none did. */
async function searchWith(find: string, replace: string): Promise<string | null> {
  const service = await SimulatedService.load([{ find, replace }]);
  for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES_MAX; seed++) {
    const { findings } = await runHistory(service, planOf(seed));
    const finding = findings.find((text) => UNITS.test(text));
    if (finding !== undefined) return finding;
  }
  return null;
}

describe('a planted fault', { timeout: 300_000 }, () => {
  it('a consumption that counts each repetition is found', async () => {
    expect(await searchWith(KEYS, 'null')).toMatch(UNITS);
  });

  it('a payment that is credited at each report is found', async () => {
    expect(await searchWith('if (grant?.credited) return grant.credited;', '')).toMatch(UNITS);
  });

  it('a text that does not occur once in the program is refused', async () => {
    await expect(SimulatedService.load([{ find: 'a text that no program has', replace: '' }])).rejects.toThrow('occurs 0 times');
  });
});
