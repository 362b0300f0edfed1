import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { findAccountByEmail } from '#features/accounts/auth/sign-in.ts';
import { issueToken } from '#features/accounts/auth/tokens.ts';
import { type Ctx, newCtx } from '#platform/context.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { SessionMethod } from '#rules/access/sessions.ts';
import { askNonce, signText, walletSignIn } from '../../support/chain/wallet.ts';
import { sessionSince } from '../../support/clients/session.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;
const w = new World();

describe('wallet sign-in', () => {
  const login = (wallet_address: string, signed_message: string, message_nonce: string) =>
    w.call('POST', '/v1/auth/wallet', { body: { wallet_address, signed_message, message_nonce } });

  it('the nonce answer is a Sign-In With Solana text with site, wallet, network, nonce and expiry', async () => {
    const { address } = await generateKeyPairSigner();
    const { status, body } = await askNonce(w, address);
    expect(status).toBe(200);
    expect(body.message_nonce).toMatch(/^SvcSignIn[0-9A-Za-z]{24}$/);
    expect(Date.parse(body.expires_at) - Date.parse(body.issued_at)).toBe(300_000);
    const [domain, wallet, , statement, , ...fields] = body.message.split('\n');
    expect(domain).toBe('svc.test wants you to sign in with your Solana account:');
    expect(wallet).toBe(address);
    expect(statement).toMatch(/\S/);
    expect(fields).toEqual([
      'URI: https://svc.test',
      'Version: 1',
      'Chain ID: solana:devnet',
      `Nonce: ${body.message_nonce}`,
      `Issued At: ${body.issued_at}`,
      `Expiration Time: ${body.expires_at}`,
    ]);
  });

  it('the first sign-in creates a free account without an email, later ones open it', async () => {
    const signer = await generateKeyPairSigner();
    const first = await walletSignIn(w, signer);
    expect(first).toMatchObject({ status: 200, body: { tier: 'free', email: null, claims: { svc_pay: true, is_staff: false } } });
    const again = await walletSignIn(w, signer);
    expect(again.body.user_id).toBe(first.body.user_id);
    const { body } = await w.call('GET', '/v1/account/me', { key: again.body.token });
    expect(body).toMatchObject({ wallet_address: signer.address, email: null, has_password: false, status: 'active' });
  });

  it('a signature over the bare nonce is accepted', async () => {
    const signer = await generateKeyPairSigner();
    const { message_nonce } = (await askNonce(w, signer.address)).body;
    expect((await login(signer.address, await signText(signer, message_nonce), message_nonce)).status).toBe(200);
  });

  it('a nonce is used up by its first attempt, right or wrong', async () => {
    const signer = await generateKeyPairSigner();
    const { message, message_nonce } = (await askNonce(w, signer.address)).body;
    const signature = await signText(signer, message);
    expect((await login(signer.address, signature, message_nonce)).status).toBe(200);
    expect(await login(signer.address, signature, message_nonce)).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
    const other = (await askNonce(w, signer.address)).body;
    expect((await login(signer.address, await signText(signer, 'something else'), other.message_nonce)).status).toBe(401);
    expect((await login(signer.address, await signText(signer, other.message), other.message_nonce)).status).toBe(401);
  });

  it('one of twenty concurrent uses of a nonce succeeds', async () => {
    const signer = await generateKeyPairSigner();
    const { message, message_nonce } = (await askNonce(w, signer.address)).body;
    const signature = await signText(signer, message);
    const answers = await Promise.all(Array.from({ length: 20 }, () => login(signer.address, signature, message_nonce)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(401)]);
  });

  it('concurrent first sign-ins create one account', async () => {
    const signer = await generateKeyPairSigner();
    const answers = await Promise.all(Array.from({ length: 5 }, () => walletSignIn(w, signer)));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(new Set(answers.map(({ body }) => body.user_id)).size).toBe(1);
  });

  it('another wallet can neither use a nonce nor use it up', async () => {
    const [owner, thief] = [await generateKeyPairSigner(), await generateKeyPairSigner()];
    const { message, message_nonce } = (await askNonce(w, owner.address)).body;
    expect((await login(thief.address, await signText(thief, message), message_nonce)).status).toBe(401);
    expect((await login(thief.address, await signText(thief, message_nonce), message_nonce)).status).toBe(401);
    expect((await login(owner.address, await signText(owner, message), message_nonce)).status).toBe(200);
  });

  it('an expired, unknown or wrongly signed nonce is refused with 401', async () => {
    const [signer, other] = [await generateKeyPairSigner(), await generateKeyPairSigner()];
    const expired = (await askNonce(w, signer.address)).body;
    await testEnv.DB.prepare('UPDATE login_nonces SET expires_at = ? WHERE nonce = ?').bind(Date.now(), expired.message_nonce).run();
    const made = 'SvcSignInAAAAAAAAAAAAAAAAAAAAAAAA';
    const fresh = (await askNonce(w, signer.address)).body;
    for (const refused of [
      await login(signer.address, await signText(signer, expired.message), expired.message_nonce),
      await login(signer.address, await signText(signer, made), made),
      await login(signer.address, await signText(other, fresh.message), fresh.message_nonce),
      await login(signer.address, 'not base58 at all', (await askNonce(w, signer.address)).body.message_nonce),
    ])
      expect(refused).toMatchObject({ status: 401, body: { code: 'invalid_credentials' } });
  });

  it('an invalid wallet address is refused with 422', async () => {
    for (const address of ['', 'nonsense', '0x52908400098527886E0F7030069857D2E4169EE7', 'So11111111111111111111111111111111111111112x']) {
      expect(await askNonce(w, address)).toMatchObject({ status: 422, body: { code: 'invalid_wallet_address' } });
      expect(await login(address, 'x', 'y')).toMatchObject({ status: 422, body: { code: 'invalid_wallet_address' } });
    }
  });

  it('the sweep deletes expired nonces', async () => {
    const { address } = await generateKeyPairSigner();
    const { message_nonce } = (await askNonce(w, address)).body;
    await testEnv.DB.prepare('UPDATE login_nonces SET expires_at = 1 WHERE nonce = ?').bind(message_nonce).run();
    await w.sweepAll();
    expect(await testEnv.DB.prepare('SELECT 1 FROM login_nonces WHERE nonce = ?').bind(message_nonce).first()).toBeNull();
  });

  it('sales of a wallet account pay the sign-in wallet if no other is set', async () => {
    const signer = await w.chain.wallet(0n);
    const { token } = (await walletSignIn(w, signer)).body;
    const made = await w.call('POST', '/v1/products', { key: token, body: { name: 'Notes', price: { asset: 'USDC', amount: '2' } } });
    expect(made.status).toBe(201);
    const { payment, confirmed } = await w.purchase(made.body, await w.chain.wallet());
    expect(payment.recipient).toBe(signer.address);
    expect(confirmed.payment.status).toBe('CONFIRMED');
  });

  it('nonces are limited to thirty a minute per address', async () => {
    const strict = new World({ RATE_MULTIPLIER: '1' });
    const { address } = await generateKeyPairSigner();
    const headers = { 'CF-Connecting-IP': '203.0.113.77' };
    const ask = () => strict.call('POST', '/v1/auth/wallet/nonce', { body: { wallet_address: address }, headers });
    for (let i = 0; i < 30; i++) expect((await ask()).status).toBe(200);
    expect(await ask()).toMatchObject({ status: 429, body: { code: 'rate_limited' } });
  });
});

describe('POST /v1/auth/refresh', () => {
  let merchant: Merchant;
  let account: Account;
  beforeAll(async () => {
    merchant = await w.merchant('growth');
    account = (await findAccountByEmail(ctxAt(Date.now()), merchant.email))!;
  });
  const ctxAt = (now: number): Ctx => newCtx(w.env, { requestId: 'test', now, defer: () => {} });
  const signedIn = (agoMs: number, method: SessionMethod = 'password') =>
    sessionSince(ctxAt(Date.now()), account, Date.now() - agoMs, method);
  const tokenIssued = async (agoMs: number, signedInAgoMs = agoMs) =>
    (await issueToken(ctxAt(Date.now() - agoMs), account, await signedIn(signedInAgoMs))).token;
  const refresh = (token: string) => w.call('POST', '/v1/auth/refresh', { body: { token } });
  const claimsOf = (token: string) => JSON.parse(atob(token.split('.')[1]!.replaceAll('-', '+').replaceAll('_', '/')));

  it('a refresh returns a valid token with the current claims', async () => {
    const { status, body } = await refresh(merchant.token);
    expect(status).toBe(200);
    // The token was issued on the free plan.
    expect(body).toMatchObject({ user_id: merchant.userId, tier: 'growth', email: merchant.email });
    expect((await w.call('GET', '/v1/account/me', { key: body.token })).status).toBe(200);
  });

  it('the token is accepted in the body or as Bearer, with or without a body', async () => {
    const bearer = { Authorization: `Bearer ${merchant.token}` };
    expect((await w.call('POST', '/v1/auth/refresh', { headers: bearer })).status).toBe(200);
    expect((await w.call('POST', '/v1/auth/refresh', { headers: bearer, body: {} })).status).toBe(200);
    const announced = { ...bearer, 'content-type': 'application/json' };
    expect((await w.call('POST', '/v1/auth/refresh', { headers: announced })).status).toBe(200);
    expect((await w.call('POST', '/v1/auth/refresh', { headers: announced, raw: '' })).status).toBe(200);
    for (const headers of [{}, { 'content-type': 'application/json' }] as Record<string, string>[])
      expect(await w.call('POST', '/v1/auth/refresh', { headers })).toMatchObject({ status: 401, body: { code: 'invalid_authorization' } });
    expect((await w.call('POST', '/v1/auth/refresh', { headers: bearer, raw: '{' })).status).toBe(422);
  });

  it('a token can be renewed up to seven days after its expiry', async () => {
    expect((await refresh(await tokenIssued(8 * DAY - 60_000))).status).toBe(200);
    expect((await refresh(await tokenIssued(8 * DAY + 60_000))).status).toBe(401);
    expect((await w.call('GET', '/v1/account/me', { key: await tokenIssued(2 * DAY) })).status).toBe(401);
  });

  it('a session ends thirty days after sign-in, despite renewals', async () => {
    expect((await refresh(await tokenIssued(0, 30 * DAY - 60_000))).status).toBe(200);
    expect((await refresh(await tokenIssued(0, 30 * DAY + 60_000))).status).toBe(401);
  });

  it('a refresh preserves the time and method of the sign-in and the start of the session', async () => {
    const began = Date.now() - 3 * DAY;
    const [authTime, factorTime] = [began + DAY, began + DAY + 2_000];
    const signIn = { ...(await signedIn(Date.now() - began, 'nonce')), authTime, factorTime };
    const { token } = await issueToken(ctxAt(began + 2 * DAY), account, signIn);
    const { auth_time, factor_time, first_iat, amr, sid, jti, role } = claimsOf(token);
    expect([auth_time, factor_time, first_iat]).toEqual([authTime, factorTime, began].map((at) => Math.floor(at / 1000)));
    expect([amr, sid, role]).toEqual(['nonce', signIn.sessionId, 'owner']);
    const { body } = await refresh(token);
    const renewed = claimsOf(body.token);
    expect(renewed).toMatchObject({ auth_time, factor_time, first_iat, amr, sid, role });
    expect(body).toMatchObject({ session_id: sid, account_id: account.id, role: 'owner' });
    expect(renewed.jti).not.toBe(jti);
  });

  it('a token of an earlier version, a foreign one and garbage are refused with 401', async () => {
    const signIn = await signedIn(0);
    const stale = (await issueToken(ctxAt(Date.now()), { ...account, tokenVersion: account.tokenVersion - 1 }, signIn)).token;
    const foreignKeys = newCtx({ ...w.env, JWT_KEYS: btoa('x'.repeat(32)).replace('=', '') }, { requestId: 'test', defer: () => {} });
    const forged = (await issueToken(foreignKeys, account, signIn)).token;
    for (const token of [stale, forged, 'nonsense', `${merchant.token}x`, '']) {
      const refused = await refresh(token);
      expect(refused, token).toMatchObject({ status: 401, body: { code: 'invalid_authorization' } });
    }
  });
});

describe('POST /v1/auth/logout', () => {
  it('logout answers 200 to a signed-in person and leaves the token valid', async () => {
    const { token } = await w.merchant();
    expect(await w.call('POST', '/v1/auth/logout', { key: token })).toMatchObject({ status: 200, body: { detail: expect.any(String) } });
    expect((await w.call('GET', '/v1/account/me', { key: token })).status).toBe(200);
    expect((await w.call('POST', '/v1/auth/logout')).status).toBe(401);
  });
});

describe('POST /v1/auth/login', () => {
  it('an unknown email and a wrong password take equally long and get the same answer', async () => {
    const { email } = await w.merchant();
    const times: Record<string, number[]> = { known: [], unknown: [] };
    const bodies = new Set<string>();
    for (let attempt = 0; attempt < 15; attempt++) {
      for (const who of ['known', 'unknown']) {
        const started = performance.now();
        const body = { email: who === 'known' ? email : `nobody-${attempt}@example.com`, password: 'not the password' };
        const answer = await w.call('POST', '/v1/auth/login', { body });
        times[who]!.push(performance.now() - started);
        bodies.add(JSON.stringify([answer.status, answer.body.code, answer.body.detail, answer.body.meta]));
      }
    }
    expect(bodies.size).toBe(1);
    const median = (list: number[]) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)]!;
    const ratio = median(times.known!) / median(times.unknown!);
    expect(ratio).toBeGreaterThan(1 / 1.5);
    expect(ratio).toBeLessThan(1.5);
  });
});
