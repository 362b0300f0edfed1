import { describe, expect, it } from 'vitest';
import { newIdIn, type Partition } from '#core/ids.ts';
import { emailToken } from '#features/accounts/auth/email-proof.ts';
import { findAccount } from '#features/accounts/store.ts';
import { newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';

describe('links of emails', () => {
  it.each([
    ['a random id', crypto.randomUUID()],
    ['an id of no database', newIdIn(Date.now(), 4000 as Partition)],
  ])('a token with %s is refused as one that is unknown', async (_name, id) => {
    const w = new World();
    const token = `${id}.${(Date.now() + 60_000).toString(36)}.${'A'.repeat(43)}`;
    for (const path of ['account/email/verify', 'account/email/preview', 'account/email/disown', 'auth/password/reset']) {
      const body = path === 'auth/password/reset' ? { token, new_password: PASSWORD } : { token };
      const { status, body: refused } = await w.call('POST', `/v1/${path}`, { body });
      expect([path, status, refused.code]).toEqual([path, 401, 'invalid_credentials']);
    }
  });

  it.each([
    ['account/email/verify', 'verify'],
    ['account/email/disown', 'verify'],
    ['auth/password/reset', 'reset'],
  ] as const)('%s repeats its answer for an account of the second database', async (path, purpose) => {
    const w = new World();
    await bindDatabases(w, 'DB_2');
    openOnly(w, 'DB_2');
    const registered = { email: `${crypto.randomUUID()}@example.com`, password: PASSWORD, display_name: 'Ada' };
    const { user_id: userId } = (await w.call('POST', '/v1/auth/register', { body: registered })).body;
    const ctx = newCtx(w.env, { requestId: 'req_links', defer: () => {} });
    const token = emailToken(ctx, purpose, (await findAccount(homeOf(ctx, userId).db, userId))!, Date.now());
    const body = purpose === 'reset' ? { token, new_password: 'another correct horse' } : { token };
    const call = (key: string) => w.call('POST', `/v1/${path}`, { body, headers: { 'Idempotency-Key': key } });
    const key = crypto.randomUUID();
    const first = await call(key);
    expect(first.status).toBe(200);
    const again = await call(key);
    expect([again.status, again.body]).toEqual([200, first.body]);
    expect((await call(crypto.randomUUID())).status).toBe(401);
  });
});
