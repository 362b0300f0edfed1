import { describe, it } from 'vitest';
import { runAccessHistories } from '../../support/models/access-life.ts';
import { SOAK } from '../../support/runner/env.ts';

const HISTORIES = 25;
const SEED = 41;

describe('histories of access', () => {
  it('no ended session, removed member, revoked or narrowed key is let in, and no sign-in method lacks an entry and an email', () =>
    runAccessHistories(HISTORIES * SOAK, SEED));
});
