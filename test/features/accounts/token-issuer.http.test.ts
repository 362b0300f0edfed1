import { decodeJwt, importJWK, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { keyRing } from '#core/crypto.ts';
import { readToken } from '#features/accounts/auth/tokens.ts';
import { newCtx } from '#platform/context.ts';
import { NETWORKS } from '#solana/assets.ts';
import { OUTSIDE_ON_MAINNET } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Two deployments with one signing key and the same accounts, as after a copy of the database. */
const production = new World();
const staging = new World({ BASE_URL: 'https://staging.svc.test' });

describe('session token', () => {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await production.merchant();
  });
  const login = async (w: World): Promise<string> =>
    (await w.call('POST', '/v1/auth/login', { body: { email: merchant.email, password: 'correct horse battery' } })).body.token;
  const me = async (w: World, token: string) => (await w.call('GET', '/v1/account/me', { key: token })).status;

  it('a token names its issuer and its network', async () => {
    expect(decodeJwt(await login(production))).toMatchObject({ iss: 'https://svc.test', aud: NETWORKS.devnet.caip2 });
    expect(decodeJwt(await login(staging))).toMatchObject({ iss: 'https://staging.svc.test', aud: NETWORKS.devnet.caip2 });
  });

  it('a token of another deployment with the same key is neither accepted nor refreshed', async () => {
    for (const [home, abroad] of [
      [production, staging],
      [staging, production],
    ] as const) {
      const token = await login(home);
      expect([await me(home, token), await me(abroad, token)]).toEqual([200, 401]);
      const refresh = (w: World) => w.call('POST', '/v1/auth/refresh', { body: { token } });
      expect([(await refresh(home)).status, (await refresh(abroad)).status]).toEqual([200, 401]);
    }
  });

  it('a devnet token is refused on mainnet, even under the same base URL', async () => {
    const real = {
      ...OUTSIDE_ON_MAINNET,
      NETWORK: 'mainnet',
      RPC_URL: 'https://rpc.example.com',
      RATE_MULTIPLIER: '1',
      PRICE_URL: '',
      BASE_URL: 'https://svc.test',
    };
    const mainnet = newCtx({ ...production.env, ...real }, { requestId: 'req_mainnet', defer: () => {} });
    const token = await login(production);
    expect(await readToken(newCtx(production.env, { requestId: 'req_devnet', defer: () => {} }), token)).not.toBeNull();
    expect(await readToken(mainnet, token)).toBeNull();
  });

  it('a token needs both issuer and audience', async () => {
    const [key] = keyRing(production.env.JWT_KEYS as string);
    const iat = Math.floor(Date.now() / 1000);
    const signed = async (names: JWTPayload) =>
      new SignJWT({ ver: 1, auth_time: iat, first_iat: iat, amr: 'pwd', role: 'owner', sid: crypto.randomUUID(), ...names })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: key!.keyId })
        .setSubject(merchant.userId)
        .setIssuedAt(iat)
        .setExpirationTime(iat + 86_400)
        .sign(await importJWK(key!.jwk, 'EdDSA'));
    const ctx = newCtx(production.env, { requestId: 'req_named', defer: () => {} });
    const read = async (names: JWTPayload) => (await readToken(ctx, await signed(names)))?.sub ?? null;
    const names = { iss: 'https://svc.test', aud: NETWORKS.devnet.caip2 };
    expect(await read(names)).toBe(merchant.userId);
    for (const half of [{}, { iss: names.iss }, { aud: names.aud }, { ...names, aud: [names.aud, 'another'] }])
      expect(await read(half)).toBeNull();
  });
});
