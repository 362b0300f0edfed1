// @module-tag volume
import { describe, it } from 'vitest';
import { countUnits } from './count-units.ts';

describe('what `npm run dev` makes of a process that is killed while it counts units', () => {
  const { countThrough } = countUnits();

  it.each(['wrangler', 'proxy'] as const)('%s killed: it comes back with every answered unit, and counts none twice', (part) =>
    countThrough(part),
  );
});
