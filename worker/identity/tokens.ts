import { importJWK, errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import type { Ctx } from '../context.ts';
import { keyRing } from '../core/crypto.ts';
import { DAY, SECOND, unixSeconds } from '../core/time.ts';
import { planAt } from '../plans.ts';
import { type Account, isStaffMember } from './store.ts';

/** Session tokens: JWT, EdDSA pinned, 24 hours. Stateless, but bound to the account's token version. (contract section 2) */
const LIFETIME_MS = DAY;
const CLOCK_SKEW_MS = 30 * SECOND;

const Claims = z.object({ sub: z.uuid(), ver: z.int(), auth_time: z.int(), exp: z.int() });
export type TokenClaims = z.infer<typeof Claims>;

export const claimsOf = (account: Account) => ({
  svc_score: false,
  svc_pay: true,
  svc_ops: false,
  is_staff: isStaffMember(account),
});

/** A fresh token. `authTime` (ms) is when the person last proved who they are, kept through refreshes. */
export async function issueToken(ctx: Ctx, account: Account, authTime: number): Promise<{ token: string; expiresAt: number }> {
  const [key] = keyRing(ctx.config.JWT_KEYS);
  const token = await new SignJWT({
    tier: planAt(account, ctx.now),
    ...claimsOf(account),
    auth_time: unixSeconds(authTime),
    ver: account.tokenVersion,
  })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: key!.keyId })
    .setSubject(account.id)
    .setIssuedAt(unixSeconds(ctx.now))
    .setExpirationTime(unixSeconds(ctx.now + LIFETIME_MS))
    .sign(await importJWK(key!.jwk, 'EdDSA'));
  return { token, expiresAt: unixSeconds(ctx.now + LIFETIME_MS) * 1000 };
}

/** The claims of a token we signed that expired no longer ago than `graceMs`, or null. */
export async function readToken(ctx: Ctx, token: string, graceMs: number = CLOCK_SKEW_MS): Promise<TokenClaims | null> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = keyRing(ctx.config.JWT_KEYS).find(({ keyId }) => keyId === kid);
        if (!key) throw new joseErrors.JWKSNoMatchingKey();
        const { d: _, ...publicJwk } = key.jwk;
        return importJWK(publicJwk, 'EdDSA');
      },
      { algorithms: ['EdDSA'], typ: 'JWT', currentDate: new Date(ctx.now), clockTolerance: graceMs / SECOND },
    );
    return Claims.parse(payload);
  } catch {
    return null;
  }
}
