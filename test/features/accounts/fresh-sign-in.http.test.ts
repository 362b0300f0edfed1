import { describe, expect, it } from 'vitest';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { newKey } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const w = new World();
const makeKey = (key: string, sandbox_mode = false) => w.call('POST', '/v1/keys', { key, body: { name: 'server', sandbox_mode } });
const end = (key: string) => w.call('DELETE', '/v1/account/account', { key });
const SIGN_IN = { status: 403, body: { code: 'invalid_authorization', meta: { reason: 'sign_in_required' } } };

describe('session of an old sign-in', () => {
  it('an old sign-in cannot create a live key or delete the account, even after a refresh', async () => {
    const { userId } = await w.merchant();
    const old = await tokenSignedIn(w, userId, 23 * 60);
    const { token } = (await w.call('POST', '/v1/auth/refresh', { body: { token: old } })).body;
    for (const stale of [old, token, await tokenSignedIn(w, userId, 16)]) {
      expect(await makeKey(stale)).toMatchObject(SIGN_IN);
      expect(await end(stale)).toMatchObject(SIGN_IN);
    }
    expect((await w.call('GET', '/v1/account/me', { key: old })).body.status).toBe('active');
  });

  it('an old sign-in can create sandbox keys and read', async () => {
    const { userId } = await w.merchant();
    const old = await tokenSignedIn(w, userId, 23 * 60);
    expect((await makeKey(old, true)).status).toBe(201);
    expect((await w.call('GET', '/v1/keys', { key: old })).status).toBe(200);
  });

  it('an old sign-in gets the stored answer of a fresh one under the same Idempotency-Key', async () => {
    const { token, userId } = await w.merchant();
    const headers = { 'Idempotency-Key': newKey() };
    const make = (key: string) => w.call('POST', '/v1/keys', { key, headers, body: { name: 'server' } });
    const made = await make(token);
    const again = await make(await tokenSignedIn(w, userId, 60));
    expect([again.status, again.body.raw_key]).toEqual([201, made.body.raw_key]);
  });

  it('FRESH_SIGN_IN_SECONDS sets how long a sign-in is fresh', async () => {
    const short = { ...w.env, FRESH_SIGN_IN_SECONDS: '60' };
    const { userId } = await w.merchant();
    const make = async (minutes: number) => {
      const key = await tokenSignedIn(w, userId, minutes);
      return (await w.call('POST', '/v1/keys', { key, body: { name: 'server' }, env: short })).status;
    };
    expect([await make(0), await make(2)]).toEqual([201, 403]);
  });
});

describe('session signed over the bare nonce', () => {
  const phished = async () => {
    const signer = await w.chain.wallet(0n);
    const { token, user_id } = (await walletSignIn(w, signer, 'message_nonce')).body;
    return { signer, token, userId: user_id };
  };
  const FULL_TEXT = { status: 403, body: { ...SIGN_IN.body, meta: { reason: 'sign_in_required', sign_in: '/v1/auth/wallet/nonce' } } };

  it('a bare-nonce session cannot redirect money, change an external id, delete the account or set a password', async () => {
    const { signer, token } = await phished();
    const eve = (await w.chain.wallet(0n)).address;
    const refreshed = (await w.call('POST', '/v1/auth/refresh', { body: { token } })).body.token;
    const price = { asset: 'USDC', amount: '1' };
    const mine = { name: 'Notes', price, payout_wallet: signer.address, external_product_id: 'notes' };
    const { product_id } = (await w.call('POST', '/v1/products', { key: token, body: mine })).body;
    for (const key of [token, refreshed]) {
      const change = (body: object) => w.call('PATCH', `/v1/products/${product_id}`, { key, body });
      expect(await change({ payout_wallet: eve })).toMatchObject(FULL_TEXT);
      expect(await change({ external_product_id: null })).toMatchObject(FULL_TEXT);
      const copy = { name: 'Copy', price, payout_wallet: eve };
      expect(await w.call('POST', '/v1/products', { key, body: copy })).toMatchObject(FULL_TEXT);
      const rail = { key, headers: { 'Idempotency-Key': newKey() }, body: { payout_wallet: eve } };
      expect(await w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', rail)).toMatchObject(FULL_TEXT);
      expect(await end(key)).toMatchObject(FULL_TEXT);
      const password = { email: `${eve.toLowerCase()}@example.com`, new_password: 'of the thief' };
      expect(await w.call('PATCH', '/v1/account/me/security', { key, body: password })).toMatchObject(FULL_TEXT);
    }
  });

  it('a bare-nonce session can create live keys', async () => {
    const { token } = await phished();
    expect((await makeKey(token)).status).toBe(201);
  });

  it('a session signed over the full text can do all of that', async () => {
    const { signer } = await phished();
    const { token } = (await walletSignIn(w, signer)).body;
    const body = { name: 'Notes', price: { asset: 'USDC', amount: '1' }, payout_wallet: (await w.chain.wallet(0n)).address };
    expect((await w.call('POST', '/v1/products', { key: token, body })).status).toBe(201);
    expect((await end(token)).status).toBe(200);
  });
});
