import { describe, expect, it } from 'vitest';
import { PLANTED_FAULTS } from '../../local/simulate/planted/catalogue.ts';
import { hunt } from '../../local/simulate/planted/hunt.ts';
import { bundleProgram, mutate } from '../../local/simulate/runtime/program.ts';

/** Faults that the first histories show. `npm run simulate -- --planted` hunts all of them. */
const FAST = [
  'endpoint-of-another-merchant',
  'sandbox-events-at-live-endpoints',
  'receipt-number-skipped',
  'retry-without-end',
  'replay-missing',
  'credit-at-each-report',
];
const HISTORIES_MAX = 60;

describe('planted faults', { timeout: 300_000 }, () => {
  it('each fault has a name, and replaces pieces of the program that occur once', async () => {
    const text = await bundleProgram();
    expect(new Set(PLANTED_FAULTS.map(({ name }) => name)).size).toBe(PLANTED_FAULTS.length);
    expect(PLANTED_FAULTS.length).toBeGreaterThanOrEqual(20);
    for (const { mutations } of PLANTED_FAULTS) expect(mutate(text, mutations)).not.toBe(text);
  });

  it.each(FAST)('the simulator finds %s', async (name) => {
    const fault = PLANTED_FAULTS.find((one) => one.name === name)!;
    const { found } = await hunt(fault, { historiesMax: HISTORIES_MAX });
    expect(found).toMatch(fault.finding);
  });

  it('a text that does not occur once in the program is refused', () => {
    expect(() => mutate('a b a', [{ find: 'a', replace: '' }])).toThrow('occurs 2 times');
    expect(() => mutate('a b a', [{ find: 'c', replace: '' }])).toThrow('occurs 0 times');
  });
});
