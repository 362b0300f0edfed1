// @module-tag volume
import { describe, it } from 'vitest';
import { runAccessHistories } from '../../support/models/access-life.ts';

/** Two thousand histories. Each part has a seed of its own. */
const PARTS = 20;
const HISTORIES = 100;

describe('two thousand histories of access', () => {
  it.each(Array.from({ length: PARTS }, (_, part) => part + 1))(
    'part %i lets in no ended session, removed member, revoked or narrowed key',
    { timeout: 600_000 },
    (part) => runAccessHistories(HISTORIES, part),
  );
});
