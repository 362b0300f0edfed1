import { describe, expect, it } from 'vitest';
import { newIdIn, type Partition } from '#core/ids.ts';
import { World } from '../../support/world.ts';

describe('links of emails', () => {
  it.each([
    ['a random id', crypto.randomUUID()],
    ['an id of no database', newIdIn(Date.now(), 4000 as Partition)],
  ])('a token with %s is refused as one that is unknown', async (_name, id) => {
    const w = new World();
    const token = `${id}.${(Date.now() + 60_000).toString(36)}.${'A'.repeat(43)}`;
    for (const path of ['account/email/verify', 'account/email/preview', 'account/email/disown', 'auth/password/reset']) {
      const body = path === 'auth/password/reset' ? { token, new_password: 'correct horse battery' } : { token };
      const { status, body: refused } = await w.call('POST', `/v1/${path}`, { body });
      expect([path, status, refused.code]).toEqual([path, 401, 'invalid_credentials']);
    }
  });
});
