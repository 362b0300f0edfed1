import { describe, expect, it } from 'vitest';
import { forgetAll, Memory, remembered } from '#core/isolate/memory.ts';

describe('isolate memory', () => {
  it('a memory is bounded: the older half is evicted, and a repeated key takes no room', () => {
    const memory = new Memory<number, string>(4);
    for (const asked of [1, 2, 3, 4, 4]) memory.set(asked, `${asked}`);
    expect([...memory.keys()]).toEqual([1, 2, 3, 4]);
    memory.set(5, 'five').set(1, 'one');
    expect([...memory]).toEqual([
      [3, '3'],
      [4, '4'],
      [5, 'five'],
      [1, 'one'],
    ]);
    for (let asked = 0; asked < 100; asked++) expect(memory.set(asked, '').size).toBeLessThanOrEqual(4);
    const single = new Memory<number, string>(1).set(1, 'one').set(2, 'two');
    expect([...single.keys()]).toEqual([2]);
  });

  it('forgetAll restores the initial state of every memory', () => {
    const memory = new Memory<string, number>(2).set('a', 1);
    const seen = remembered(() => ({ isWhole: false, missing: [] as string[] }));
    seen.isWhole = true;
    seen.missing.push('a column');
    forgetAll();
    expect([memory.size, seen]).toEqual([0, { isWhole: false, missing: [] }]);
    memory.set('b', 2);
    expect(memory.get('b')).toBe(2);
  });
});
