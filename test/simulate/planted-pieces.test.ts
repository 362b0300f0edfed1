import { describe, expect, it } from 'vitest';
import { PLANTED_FAULTS } from '../../local/simulate/planted/catalogue.ts';
import { bundleProgram, mutate } from '../../local/simulate/runtime/program.ts';

describe('pieces that planted faults replace', () => {
  it('each fault has a name, and replaces pieces of the program that occur once', async () => {
    const text = await bundleProgram();
    expect(new Set(PLANTED_FAULTS.map(({ name }) => name)).size).toBe(PLANTED_FAULTS.length);
    expect(PLANTED_FAULTS.length).toBeGreaterThanOrEqual(20);
    for (const { mutations } of PLANTED_FAULTS) expect(mutate(text, mutations)).not.toBe(text);
  });

  it('a text that does not occur once in the program is refused', () => {
    expect(() => mutate('a b a', [{ find: 'a', replace: '' }])).toThrow('occurs 2 times');
    expect(() => mutate('a b a', [{ find: 'c', replace: '' }])).toThrow('occurs 0 times');
  });
});
