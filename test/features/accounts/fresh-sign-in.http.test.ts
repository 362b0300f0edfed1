import { describe, expect, it } from 'vitest';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { newKey } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const w = new World();
const makeKey = (key: string, sandbox_mode = false) => w.call('POST', '/v1/keys', { key, body: { name: 'server', sandbox_mode } });
const end = (key: string) => w.call('DELETE', '/v1/account/account', { key });
const SIGN_IN = { status: 403, body: { code: 'invalid_authorization', meta: { reason: 'sign_in_required' } } };

describe('a session whose person signed in long ago', () => {
  it('makes no live key and does not delete the account, for as long as it is refreshed', async () => {
    const { userId } = await w.merchant();
    const old = await tokenSignedIn(w, userId, 23 * 60);
    const { token } = (await w.call('POST', '/v1/auth/refresh', { body: { token: old } })).body;
    for (const stale of [old, token, await tokenSignedIn(w, userId, 16)]) {
      expect(await makeKey(stale)).toMatchObject(SIGN_IN);
      expect(await end(stale)).toMatchObject(SIGN_IN);
    }
    expect((await w.call('GET', '/v1/account/me', { key: old })).body.status).toBe('active');
  });

  it('makes sandbox keys, and reads', async () => {
    const { userId } = await w.merchant();
    const old = await tokenSignedIn(w, userId, 23 * 60);
    expect((await makeKey(old, true)).status).toBe(201);
    expect((await w.call('GET', '/v1/keys', { key: old })).status).toBe(200);
  });

  it('is given the answer again that a fresh one had under the same key', async () => {
    const { token, userId } = await w.merchant();
    const headers = { 'Idempotency-Key': newKey() };
    const make = (key: string) => w.call('POST', '/v1/keys', { key, headers, body: { name: 'server' } });
    const made = await make(token);
    const again = await make(await tokenSignedIn(w, userId, 60));
    expect([again.status, again.body.raw_key]).toEqual([201, made.body.raw_key]);
  });

  it('is as fresh as the deployment says', async () => {
    const short = { ...w.env, FRESH_SIGN_IN_SECONDS: '60' };
    const { userId } = await w.merchant();
    const make = async (minutes: number) => {
      const key = await tokenSignedIn(w, userId, minutes);
      return (await w.call('POST', '/v1/keys', { key, body: { name: 'server' }, env: short })).status;
    };
    expect([await make(0), await make(2)]).toEqual([201, 403]);
  });
});

describe('a session from a signature over the bare nonce', () => {
  const phished = async () => {
    const signer = await w.chain.wallet(0n);
    const { token, user_id } = (await walletSignIn(w, signer, 'message_nonce')).body;
    return { signer, token, userId: user_id };
  };
  const WHOLE_TEXT = { status: 403, body: { ...SIGN_IN.body, meta: { reason: 'sign_in_required', sign_in: '/v1/auth/wallet/nonce' } } };

  it('sends no money elsewhere, moves no external id, and neither deletes the account nor sets a password', async () => {
    const { signer, token } = await phished();
    const eve = (await w.chain.wallet(0n)).address;
    const refreshed = (await w.call('POST', '/v1/auth/refresh', { body: { token } })).body.token;
    const price = { asset: 'USDC', amount: '1' };
    const mine = { name: 'Notes', price, payout_wallet: signer.address, external_product_id: 'notes' };
    const { product_id } = (await w.call('POST', '/v1/products', { key: token, body: mine })).body;
    for (const key of [token, refreshed]) {
      const change = (body: object) => w.call('PATCH', `/v1/products/${product_id}`, { key, body });
      expect(await change({ payout_wallet: eve })).toMatchObject(WHOLE_TEXT);
      expect(await change({ external_product_id: null })).toMatchObject(WHOLE_TEXT);
      const copy = { name: 'Copy', price, payout_wallet: eve };
      expect(await w.call('POST', '/v1/products', { key, body: copy })).toMatchObject(WHOLE_TEXT);
      const rail = { key, headers: { 'Idempotency-Key': newKey() }, body: { payout_wallet: eve } };
      expect(await w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', rail)).toMatchObject(WHOLE_TEXT);
      expect(await end(key)).toMatchObject(WHOLE_TEXT);
      const password = { email: `${eve.toLowerCase()}@example.com`, new_password: 'of the thief' };
      expect(await w.call('PATCH', '/v1/account/me/security', { key, body: password })).toMatchObject(WHOLE_TEXT);
    }
  });

  it('makes keys, live ones too', async () => {
    const { token } = await phished();
    expect((await makeKey(token)).status).toBe(201);
  });

  it('does all of that once the whole text is signed', async () => {
    const { signer } = await phished();
    const { token } = (await walletSignIn(w, signer)).body;
    const body = { name: 'Notes', price: { asset: 'USDC', amount: '1' }, payout_wallet: (await w.chain.wallet(0n)).address };
    expect((await w.call('POST', '/v1/products', { key: token, body })).status).toBe(201);
    expect((await end(token)).status).toBe(200);
  });
});
