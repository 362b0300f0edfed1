import { importJWK, type JWTPayload, errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { keyRing } from '#core/crypto.ts';
import type { AccountId } from '#core/ids.ts';
import { DAY, SECOND, unixSeconds } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { SIGN_IN_METHODS, type SignIn } from '#rules/admission.ts';
import { planAt } from '#rules/plans.ts';
import { isStaffMember } from '../store.ts';

/** Session tokens: JWT, EdDSA pinned, 24 hours. Stateless, but bound to the account's token version. */
const LIFETIME_MS = DAY;
const CLOCK_SKEW_MS = 30 * SECOND;
/** Tokens from before name neither their maker nor whom they are for. Longer than eight days after this none of them lives. */
const NAMED_SINCE_MS = Date.UTC(2027, 5, 1);

// A token of the release before names no method: it counts as the weakest, for the fifteen minutes in which that matters.
const Claims = z
  .object({
    sub: z.uuid().transform((id) => id as AccountId),
    ver: z.int(),
    auth_time: z.int(),
    first_iat: z.int().optional(),
    amr: z.enum(SIGN_IN_METHODS).default('nonce'),
    exp: z.int(),
  })
  .transform((claims) => ({
    ...claims,
    signIn: {
      authTime: claims.auth_time * SECOND,
      firstIat: (claims.first_iat ?? claims.auth_time) * SECOND,
      method: claims.amr,
    } satisfies SignIn,
  }));
export type TokenClaims = z.infer<typeof Claims>;

export const claimsOf = (account: Account) => ({
  svc_score: false,
  svc_pay: true,
  svc_ops: false,
  is_staff: isStaffMember(account),
});

/** A fresh token of the session that `signIn` began. */
export async function issueToken(ctx: Ctx, account: Account, signIn: SignIn): Promise<{ token: string; expiresAt: number }> {
  const [key] = keyRing(ctx.config.JWT_KEYS);
  const token = await new SignJWT({
    tier: planAt(account, ctx.now),
    ...claimsOf(account),
    auth_time: unixSeconds(signIn.authTime),
    first_iat: unixSeconds(signIn.firstIat),
    amr: signIn.method,
    ver: account.tokenVersion,
  })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: key!.keyId })
    .setSubject(account.id)
    .setIssuer(issuerOf(ctx))
    .setAudience(audienceOf(ctx))
    .setIssuedAt(unixSeconds(ctx.wallNow))
    .setExpirationTime(unixSeconds(ctx.wallNow + LIFETIME_MS))
    .sign(await importJWK(key!.jwk, 'EdDSA'));
  return { token, expiresAt: unixSeconds(ctx.wallNow + LIFETIME_MS) * 1000 };
}

/** Who makes tokens: the service as its callers know it. */
const issuerOf = ({ baseUrl }: Ctx): string => baseUrl;
/** Whom they are for: a service on this network. */
const audienceOf = ({ config }: Ctx): string => config.network.caip2;

/** Two deployments may share a key by mistake, as staging and production do: each takes its own tokens alone. */
function isForUs(ctx: Ctx, { iss, aud, iat = 0 }: JWTPayload): boolean {
  if (iss === undefined && aud === undefined) return iat * SECOND < NAMED_SINCE_MS;
  return iss === issuerOf(ctx) && aud === audienceOf(ctx);
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
      { algorithms: ['EdDSA'], typ: 'JWT', currentDate: new Date(ctx.wallNow), clockTolerance: graceMs / SECOND },
    );
    return isForUs(ctx, payload) ? Claims.parse(payload) : null;
  } catch {
    return null;
  }
}
