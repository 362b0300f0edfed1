import { generateKeyPairSigner } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import { getAccount } from '#features/accounts/store.ts';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
const w = new World();
const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const login = (email: string, password: string) => w.call('POST', '/v1/auth/login', { body: { email, password } });
const readRow = (userId: string) => getAccount(w.db, userId as AccountId);

describe('DELETE /v1/account/account', () => {
  it('deletion revokes keys and tokens at once, and only the owner learns why', async () => {
    const { token, email, key, sandboxKey } = await w.merchant();
    await me(key);
    expect(await w.call('DELETE', '/v1/account/account', { key: token })).toMatchObject({
      status: 200,
      body: { detail: expect.any(String) },
    });
    expect(await me(token)).toMatchObject({ status: 403, body: { code: 'account_deleted' } });
    for (const dead of [key, sandboxKey]) expect(await me(dead)).toMatchObject({ status: 401, body: { code: 'invalid_authorization' } });
    expect(await w.call('POST', '/v1/auth/refresh', { body: { token } })).toMatchObject({ status: 403, body: { code: 'account_deleted' } });
    expect(await login(email, PASSWORD)).toMatchObject({ status: 403, body: { code: 'account_deleted' } });
    expect(await login(email, 'a guess at it')).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    const again = { email, password: 'quite another one', display_name: 'Again' };
    const refused = await w.call('POST', '/v1/auth/register', { body: again });
    expect(refused).toMatchObject({ status: 409, body: { code: 'email_registered' } });
    expect(refused.body.detail).toBe('An account has, or had before it was deleted, this email address. Use another address.');
    expect((await w.call('DELETE', '/v1/account/account', { key: token })).status).toBe(403);
  });

  it('deletion erases personal data and revokes every key in the list', async () => {
    const { token, userId, email } = await w.merchant();
    await w.call('PATCH', '/v1/account/me', {
      key: token,
      body: { timezone: 'Europe/Berlin', merchant_settings: { checkout_brand_name: 'Ada’s' } },
    });
    const before = await readRow(userId);
    await w.call('DELETE', '/v1/account/account', { key: token });
    const row = await readRow(userId);
    expect(row).toMatchObject({
      status: 'deleted',
      deletedAt: expect.any(Number),
      email: null,
      walletAddress: null,
      merchantSettings: {},
      notificationPrefs: {},
      timezone: 'UTC',
      emailKey: before.emailKey,
      passwordHash: before.passwordHash,
      tokenVersion: before.tokenVersion + 1,
    });
    expect(JSON.stringify(row)).not.toContain('Ada');
    expect(JSON.stringify(row)).not.toContain(email);
    const { results } = await testEnv.DB.prepare('SELECT revoked_at FROM api_keys WHERE merchant_id = ?').bind(userId).all();
    expect(results.every(({ revoked_at }) => revoked_at !== null)).toBe(true);
  });

  it('deletion erases the address of a wallet account, and signing in again answers account_deleted', async () => {
    const signer = await generateKeyPairSigner();
    const { token, user_id } = (await walletSignIn(w, signer)).body;
    await w.call('DELETE', '/v1/account/account', { key: token });
    expect(JSON.stringify(await readRow(user_id))).not.toContain(signer.address);
    expect(await walletSignIn(w, signer)).toMatchObject({ status: 403, body: { code: 'account_deleted' } });
  });

  it('deletion leaves other accounts unchanged', async () => {
    const [gone, other] = [await w.merchant(), await w.merchant()];
    await w.call('DELETE', '/v1/account/account', { key: gone.token });
    for (const credential of [other.token, other.key, other.sandboxKey]) expect((await me(credential)).status).toBe(200);
  });
});
