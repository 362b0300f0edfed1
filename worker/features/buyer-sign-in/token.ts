import { importJWK, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { keyRing } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import { type AccountId, type CustomerId, newId, type TokenId } from '#core/ids.ts';
import { LOCALE_NAMES, type Locale } from '#core/locales.ts';
import { DAY, HOUR, SECOND, unixSeconds } from '#core/time.ts';
import { isSpent, spendLink } from '#features/accounts/auth/emailed-links.ts';
import type { Ctx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { RouteContext } from '#platform/http/openapi.ts';
import type { BuyerSubject } from '#rules/access/buyers.ts';
import { isErasedSince } from './store.ts';

/** A wallet can be asked again at any time, a mailbox or a merchant’s page less safely. */
const LIFE_MS: Record<BuyerSubject['kind'], number> = { wallet: DAY, email: HOUR, customer: HOUR };
const AUDIENCE = 'buyer';

const Subject = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('wallet'), wallet_address: z.string() }),
  z.object({ kind: z.literal('email'), email: z.string() }),
  z.object({
    kind: z.literal('customer'),
    account_id: z.uuid().transform((id) => id as AccountId),
    customer_id: z.uuid().transform((id) => id as CustomerId),
    livemode: z.boolean(),
  }),
]);
const Claims = z.object({
  jti: z.uuid().transform((id) => id as TokenId),
  exp: z.int(),
  network: z.string(),
  subject: Subject,
  locale: z.enum(LOCALE_NAMES).optional(),
  return_url: z.string().optional(),
});

/** Additions of a portal link: language, and the page to go back to. */
export interface BuyerSurroundings {
  locale?: Locale | undefined;
  return_url?: string | undefined;
}

export interface BuyerSession extends BuyerSurroundings {
  tokenId: TokenId;
  subject: BuyerSubject;
  expiresAt: number;
}

/** Issues the token of a buyer's session. No other route takes it, because of its audience. */
export async function issueBuyerToken(
  ctx: Ctx,
  subject: BuyerSubject,
  around: BuyerSurroundings = {},
): Promise<{ token: string; subject: BuyerSubject; expiresAt: number }> {
  const [key] = keyRing(ctx.config.JWT_KEYS);
  const expiresAt = unixSeconds(ctx.wallNow + LIFE_MS[subject.kind]) * SECOND;
  const token = await new SignJWT({ subject, network: ctx.config.network.caip2, ...around })
    .setJti(newId<TokenId>(ctx.wallNow, null))
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JWT', kid: key!.keyId })
    .setIssuer(ctx.baseUrl)
    .setAudience(AUDIENCE)
    .setIssuedAt(unixSeconds(ctx.wallNow))
    .setExpirationTime(unixSeconds(expiresAt))
    .sign(await importJWK(key!.jwk, 'EdDSA'));
  return { token, subject, expiresAt };
}

/** Reads a buyer's token. Null for any other token, and for one of another deployment. */
async function readBuyerToken(ctx: Ctx, token: string): Promise<BuyerSession | null> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = keyRing(ctx.config.JWT_KEYS).find(({ keyId }) => keyId === kid);
        if (!key) throw new Error('unknown key');
        const { d: _, ...publicJwk } = key.jwk;
        return importJWK(publicJwk, 'EdDSA');
      },
      { algorithms: ['EdDSA'], typ: 'JWT', issuer: ctx.baseUrl, audience: AUDIENCE, currentDate: new Date(ctx.wallNow) },
    );
    const { jti, exp, network, subject, ...around } = Claims.parse(payload);
    return network === ctx.config.network.caip2 ? { tokenId: jti, subject, expiresAt: exp * SECOND, ...around } : null;
  } catch {
    return null;
  }
}

const refused = (reason?: 'session_ended'): ApiError =>
  new ApiError('invalid_authorization', {
    detail: 'The session of the buyer has ended, or the token is not one of a buyer. Sign in at /me again.',
    ...(reason && { meta: { reason } }),
  });

const stateOf = (tokenId: TokenId): string => `buyer:${tokenId}`;

/** An erasure of the customer ends the sessions that the merchant's links began before. */
const isOfErased = async (ctx: Ctx, { subject, expiresAt }: BuyerSession): Promise<boolean> =>
  subject.kind === 'customer' &&
  (await isErasedSince(homeOf(ctx, subject.account_id), subject.customer_id, expiresAt - LIFE_MS[subject.kind]));

/** Session of a call. Throws 401 invalid_authorization for an absent, expired or ended one, and for a merchant's token. */
export async function requireBuyerSession(c: RouteContext): Promise<BuyerSession> {
  const { ctx } = c.var;
  const [, token] = /^Bearer (\S{1,4096})$/i.exec(c.req.header('Authorization') ?? '') ?? [];
  const session = token === undefined ? null : await readBuyerToken(ctx, token);
  if (!session) throw refused();
  if ((await isSpent(ctx, stateOf(session.tokenId))) || (await isOfErased(ctx, session))) throw refused('session_ended');
  return session;
}

/** Ends a session. A repeated call changes nothing. */
export const endBuyerSession = async (ctx: Ctx, { tokenId, expiresAt }: BuyerSession): Promise<void> =>
  void (await spendLink(ctx, stateOf(tokenId), expiresAt));
