import { importJWK, type JWTPayload, errors as joseErrors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { keyRing } from '#core/crypto.ts';
import { type AccountId, newId, type SessionId, type TokenId } from '#core/ids.ts';
import { DAY, SECOND, unixSeconds } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { ROLES, type Role } from '#rules/access/roles.ts';
import { SIGN_IN_METHODS, type SignIn } from '#rules/admission.ts';
import { planAt } from '#rules/plans.ts';
import { isStaffMember } from '../store.ts';

/** Session tokens: JWT, EdDSA pinned, 24 hours. Bound to a session of the person and to the person's token version. */
const LIFETIME_MS = DAY;
const CLOCK_SKEW_MS = 30 * SECOND;

const Claims = z
  .object({
    sub: z.uuid().transform((id) => id as AccountId),
    sid: z.uuid().transform((id) => id as SessionId),
    acc: z
      .uuid()
      .transform((id) => id as AccountId)
      .optional(),
    role: z.enum(ROLES),
    ver: z.int(),
    auth_time: z.int(),
    factor_time: z.int().optional(),
    first_iat: z.int(),
    amr: z.enum(SIGN_IN_METHODS),
    exp: z.int(),
  })
  .transform((claims) => ({
    ...claims,
    signIn: {
      sessionId: claims.sid,
      authTime: claims.auth_time * SECOND,
      factorTime: claims.factor_time === undefined ? null : claims.factor_time * SECOND,
      firstIat: claims.first_iat * SECOND,
      method: claims.amr,
    } satisfies SignIn,
  }));
type TokenClaims = z.infer<typeof Claims>;

export const claimsOf = (account: Account) => ({
  svc_score: false,
  svc_pay: true,
  svc_ops: false,
  is_staff: isStaffMember(account),
});

/** Account that a person acts on, and the person's role there. */
export interface Acting {
  account: Account;
  role: Role;
}

export const actingClaims = (person: Account, { account }: Pick<Acting, 'account'>) => ({
  ...claimsOf(account),
  is_staff: account.id === person.id && isStaffMember(person),
});

export async function issueToken(
  ctx: Ctx,
  person: Account,
  signIn: SignIn,
  acting: Acting = { account: person, role: 'owner' },
): Promise<{ token: string; expiresAt: number }> {
  const [key] = keyRing(ctx.config.JWT_KEYS);
  const token = await new SignJWT({
    tier: planAt(acting.account, ctx.now),
    ...actingClaims(person, acting),
    auth_time: unixSeconds(signIn.authTime),
    ...(signIn.factorTime !== null && { factor_time: unixSeconds(signIn.factorTime) }),
    first_iat: unixSeconds(signIn.firstIat),
    amr: signIn.method,
    ver: person.tokenVersion,
    sid: signIn.sessionId,
    ...(acting.account.id !== person.id && { acc: acting.account.id }),
    role: acting.role,
  })
    .setJti(newId<TokenId>(ctx.wallNow, person.id))
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: key!.keyId })
    .setSubject(person.id)
    .setIssuer(issuerOf(ctx))
    .setAudience(audienceOf(ctx))
    .setIssuedAt(unixSeconds(ctx.wallNow))
    .setExpirationTime(unixSeconds(ctx.wallNow + LIFETIME_MS))
    .sign(await importJWK(key!.jwk, 'EdDSA'));
  return { token, expiresAt: unixSeconds(ctx.wallNow + LIFETIME_MS) * 1000 };
}

const issuerOf = ({ baseUrl }: Ctx): string => baseUrl;
const audienceOf = ({ config }: Ctx): string => config.network.caip2;

/** Rejects tokens of another deployment: two deployments, such as staging and production, may share a key by mistake. */
const isForUs = (ctx: Ctx, { iss, aud }: JWTPayload): boolean => iss === issuerOf(ctx) && aud === audienceOf(ctx);

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
