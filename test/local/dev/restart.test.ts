// @module-tag volume
import { describe, it } from 'vitest';
import { countUnits } from './count-units.ts';

describe('`npm run dev` with a process killed while it counts units', () => {
  const { countThrough } = countUnits();

  it.each(['wrangler', 'proxy'] as const)('the service returns with every answered unit and counts none twice after a kill of %s', (part) =>
    countThrough(part),
  );
});
