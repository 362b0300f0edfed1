import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { z } from 'zod';
import { Memory } from '#core/isolate/memory.ts';
import { MINUTE } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { askForToken, askProvider, ProviderAway, withQuery } from '#platform/providers/sign-in.ts';
import type { Attempt, OAuthProvider, Person } from './provider.ts';

const CLOCK_SKEW_SECONDS = 60;
const ALGORITHMS = ['RS256', 'ES256'];

const Discovery = z.object({ issuer: z.string(), authorization_endpoint: z.url(), token_endpoint: z.url(), jwks_uri: z.url() });
type Endpoints = z.infer<typeof Discovery> & { keys: JWTVerifyGetKey; readAt: number };

const known = new Memory<string, Endpoints>(100);
const KNOWN_MS = 10 * MINUTE;

/** Loads the issuer's published configuration (OpenID Connect Discovery 1.0, section 4). */
async function loadEndpoints(ctx: Ctx): Promise<Endpoints> {
  const { GOOGLE_ISSUER: issuer } = ctx.config;
  const remembered = known.get(issuer);
  if (remembered && ctx.wallNow < remembered.readAt + KNOWN_MS) return remembered;
  const read = Discovery.safeParse(await askProvider(ctx, `${issuer}/.well-known/openid-configuration`));
  if (!read.success || read.data.issuer !== issuer) throw new ProviderAway('the discovery document is not of this issuer');
  // Fetches an unknown key at once, because the provider may just have rotated keys.
  const keys = createRemoteJWKSet(new URL(read.data.jwks_uri), { cooldownDuration: 0, cacheMaxAge: KNOWN_MS, timeoutDuration: 5000 });
  const endpoints = { ...read.data, keys, readAt: ctx.wallNow };
  known.set(issuer, endpoints);
  return endpoints;
}

const Tokens = z.object({ id_token: z.string() });
const Claims = z.object({
  sub: z.string().min(1).max(255),
  nonce: z.string(),
  azp: z.string().optional(),
  email: z.string().optional(),
  email_verified: z.union([z.boolean(), z.enum(['true', 'false'])]).optional(),
  name: z.string().optional(),
  /** Domain of a Google Workspace, which assigns its addresses. */
  hd: z.string().optional(),
});

const MAIL_DOMAINS = ['gmail.com', 'googlemail.com'];

/**
 * True if Google assigns the address: its own domains, and those of a Workspace. Any other address may have had another reader since Google
 * verified it (Google Identity, "Authenticate with a backend server").
 */
function isAssigned(email: string | null, hd: string | undefined): boolean {
  const domain = email?.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return domain !== undefined && (MAIL_DOMAINS.includes(domain) || domain === hd?.toLowerCase());
}

/** Verifies an id token of this client and sign-in (OpenID Connect Core 1.0, section 3.1.3.7). Returns its claims. */
async function verifyIdToken(ctx: Ctx, { keys, issuer }: Endpoints, idToken: string, nonce: string): Promise<z.infer<typeof Claims>> {
  const audience = ctx.config.GOOGLE_CLIENT_ID!;
  const { payload } = await jwtVerify(idToken, keys, {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    currentDate: new Date(ctx.wallNow + ctx.elapsedMs()),
    clockTolerance: CLOCK_SKEW_SECONDS,
    maxTokenAge: 1,
    requiredClaims: ['sub', 'exp', 'iat', 'nonce'],
  });
  const claims = Claims.parse(payload);
  if (claims.nonce !== nonce) throw new ProviderAway('the id token is of another sign-in');
  if (Array.isArray(payload.aud) && payload.aud.length > 1 && claims.azp !== audience)
    throw new ProviderAway('the id token is for another client');
  return claims;
}

/** Google, or any OpenID Connect provider under `GOOGLE_ISSUER`. */
export const google: OAuthProvider = {
  name: 'google',
  title: 'Google',

  listMissing: (config) => (['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET'] as const).filter((name) => config[name] === undefined),

  authorizationUrl: async (ctx, { redirectUri, state, nonce, challenge }: Attempt) =>
    withQuery((await loadEndpoints(ctx)).authorization_endpoint, {
      client_id: ctx.config.GOOGLE_CLIENT_ID!,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: 'openid email profile',
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }),

  identify: async (ctx, code, { redirectUri, nonce, verifier }): Promise<Person> => {
    const endpoints = await loadEndpoints(ctx);
    const answer = await askForToken(ctx, endpoints.token_endpoint, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: ctx.config.GOOGLE_CLIENT_ID!,
      client_secret: ctx.config.GOOGLE_CLIENT_SECRET!,
      code_verifier: verifier,
    });
    try {
      const claims = await verifyIdToken(ctx, endpoints, Tokens.parse(answer).id_token, nonce);
      const email = claims.email ?? null;
      const isEmailVerified = claims.email_verified === true || claims.email_verified === 'true';
      const isEmailBelieved = isEmailVerified && isAssigned(email, claims.hd);
      return { subject: claims.sub, email, isEmailVerified, isEmailBelieved, displayName: claims.name ?? email ?? 'Google account' };
    } catch (error) {
      throw error instanceof ProviderAway ? error : new ProviderAway(`the id token is not to be believed: ${(error as Error).name}`);
    }
  },
};
