import { z } from '@hono/zod-openapi';
import { parse } from 'hono/utils/cookie';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { localPathOf } from '#core/local-path.ts';
import { iso } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf, homeOf } from '#platform/db/directory.ts';
import { readPerson, requireFreshSignIn } from '#platform/http/callers.ts';
import { given, type RouteContext, Timestamp } from '#platform/http/openapi.ts';
import { callerOrigin, hitBucketOrOwn, underCeiling } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { ProviderAway } from '#platform/providers/sign-in.ts';
import { type Origin, SESSION_COOKIE, sessionCookieOf } from '#rules/access/sessions.ts';
import { SIGN_IN_PROVIDERS, type SignInProvider } from '#rules/admission.ts';
import { anyKnownProvider, withTicket } from '../auth/known-sign-ins.ts';
import { AuthResponse, toAuthResponse } from '../auth/routes.ts';
import { endPersonSessions, personObject, startSession } from '../auth/sessions.ts';
import { issueToken, readToken } from '../auth/tokens.ts';
import { ticketOf } from '../factors/ticket.ts';
import { findActing } from '../members/acting.ts';
import { getAccount, takeState } from '../store.ts';
import { isLinked, unlinkIdentity } from './identities.ts';
import { joinAccount, readJoinTicket } from './join.ts';
import { decideOutcome, type OAuthOutcome } from './outcome.ts';
import { NEXT_PATH_MAX, type OAuthProvider, PROVIDER_ERRORS } from './provider.ts';
import { callbackUrlOf, listProviders, requireProvider } from './registry.ts';
import { type BegunSignIn, beginState, MODES, readState, SURFACES } from './state.ts';
import { listIdentities } from './store.ts';

const Provider = z.enum(SIGN_IN_PROVIDERS);
const ProviderParam = z.object({
  provider: z.string().openapi({ param: { name: 'provider', in: 'path' }, enum: [...SIGN_IN_PROVIDERS] }),
});
const DASHBOARD = '/dashboard';

/** Token of a sign-in, or the fragment that says another result. */
type Result = { token: string } | { fragment: string };

async function readResult(ctx: Ctx, outcome: OAuthOutcome, provider: SignInProvider, origin: Origin): Promise<Result> {
  if (outcome.kind === 'refused') return { fragment: `error=${outcome.reason}` };
  if (outcome.kind === 'linked') return { fragment: `linked=${provider}` };
  if (outcome.kind === 'password_required') return { fragment: `error=password_required&ticket=${outcome.ticket}` };
  const { account } = outcome;
  const signIn = await startSession(ctx, account, provider, origin);
  // Unlinked meanwhile. A provider that is unlinked from here on ends this session itself.
  if (!(await isLinked(ctx, account.id, provider))) return { fragment: 'error=access_denied' };
  return { token: (await issueToken(ctx, account, signIn, await findActing(ctx, account))).token };
}

async function finish(
  c: RouteContext,
  provider: OAuthProvider,
  { begun, attempt }: ReturnType<typeof readState>,
  { code, error }: { code?: string | undefined; error?: string | undefined },
): Promise<Result> {
  const { ctx } = c.var;
  if (error !== undefined) return { fragment: `error=${error === 'access_denied' ? error : 'provider_unavailable'}` };
  if (code === undefined) return { fragment: 'error=provider_unavailable' };
  try {
    const outcome = await decideOutcome(ctx, begun, await provider.identify(ctx, code, attempt));
    return await readResult(ctx, outcome, provider.name, callerOrigin(c));
  } catch (failure) {
    const ticket = ticketOf(failure);
    if (ticket !== null) return { fragment: `error=factor_required&ticket=${ticket}` };
    if (!(failure instanceof ProviderAway)) throw failure;
    ctx.note(`${provider.name}: ${failure.message}`);
    return { fragment: 'error=provider_unavailable' };
  }
}

/** Ends the session that the browser had, so that signing out later ends all that it opened. */
async function endFormer(c: RouteContext): Promise<void> {
  const former = parse(c.req.header('Cookie') ?? '', SESSION_COOKIE)[SESSION_COOKIE];
  const claims = former === undefined ? null : await readToken(c.var.ctx, former);
  if (!claims) return;
  // The sign-in is stored already, so a failure here does not end it.
  const { ctx } = c.var;
  await personObject(ctx, claims.sub)
    .endSession(claims.sid, ctx.wallNow)
    .catch((error: unknown) => ctx.note(`former session: ${formatErrorChain(error)}`));
}

/** Path after a sign-in: where the sign-in page would lead, if that began it. */
function afterSignIn(ctx: Ctx, next: string): string {
  const { pathname, searchParams } = new URL(next, ctx.baseUrl);
  return pathname === '/login' ? (localPathOf(searchParams.get('next') ?? '') ?? DASHBOARD) : next;
}

/** Returns the path with the result in its fragment. A page of ours gets the session as its cookie, so no address has the token. */
async function conclude(c: RouteContext, { next, surface }: BegunSignIn, result: Result): Promise<string> {
  if ('fragment' in result) return `${next}#${result.fragment}`;
  if (surface !== 'page') return `${next}#token=${result.token}`;
  await endFormer(c);
  c.header('Set-Cookie', sessionCookieOf(result.token));
  return afterSignIn(c.var.ctx, next);
}

const knownProvider = (name: string) => {
  const found = SIGN_IN_PROVIDERS.find((one) => one === name);
  if (!found) throw new ApiError('not_found');
  return found;
};

export const oauthRoutes = routes('Authentication')
  .public({
    path: 'GET /auth/oauth/providers',
    id: 'listOAuthProviders',
    sdk: 'auth.listProviders',
    summary: 'List sign-in providers',
    description: 'Lists sign-in providers, and the missing configuration of each.',
    guards: [underCeiling],
    returns: z
      .object({
        providers: z.array(
          z.object({
            provider: Provider,
            configured: z.boolean(),
            callback_url: z.string().describe('Callback URL to register at the provider.'),
            missing: z.array(z.string()),
          }),
        ),
      })
      .openapi('OAuthProviders'),
    answer: ({ ctx }) => ({ providers: listProviders(ctx) }),
  })
  .public({
    path: 'GET /auth/oauth/{provider}/start',
    id: 'startOAuth',
    sdk: 'auth.startOAuth',
    summary: 'Start a provider sign-in',
    description:
      'Starts a sign-in, bound to this browser for ten minutes. With a token of a recent sign-in, the provider is linked to that account. `register` creates an account if needed.',
    security: [{}, { bearer: [] }],
    guards: [readPerson],
    params: ProviderParam,
    query: z.object({
      mode: z.enum(MODES).default('login').describe('Purpose of the sign-in: `login` or `register`.'),
      next: z.string().max(NEXT_PATH_MAX).default(DASHBOARD).describe('Path on this site to return to.'),
      surface: z.enum(SURFACES).default('dashboard').describe('Page that began the sign-in.'),
    }),
    returns: z
      .object({
        provider: Provider,
        callback_url: z.string().describe('Callback URL to register at the provider.'),
        authorization_url: z.string(),
      })
      .openapi('OAuthStart'),
    codes: [
      'invalid_authorization',
      { code: 'invalid_authorization', status: 403 },
      'account_suspended',
      'account_deleted',
      'not_found',
      'oauth_not_configured',
    ],
    answer: async ({ c, ctx, params, query: { mode, surface, ...query } }) => {
      const { caller } = c.var;
      if (caller) requireFreshSignIn(ctx, caller);
      const next = localPathOf(query.next);
      if (next === null) {
        const problem = { loc: ['query', 'next'], msg: 'Expected a path of this service', type: 'foreign_url' };
        throw new ApiError('validation_error', { problems: [problem] });
      }
      const provider = requireProvider(ctx, params.provider);
      const tokenVersion = caller ? (await getAccount(homeOf(ctx, caller.accountId).db, caller.accountId)).tokenVersion : null;
      const session = { sessionId: caller?.signIn?.sessionId ?? null, isWithoutFactor: !caller?.factors };
      const asked = { provider: provider.name, mode, surface, next, accountId: caller?.accountId ?? null, tokenVersion, ...session };
      const { attempt, cookie } = beginState(ctx, asked, c.req.header('Cookie'));
      const authorization_url = await provider.authorizationUrl(ctx, attempt).catch((error: unknown) => {
        ctx.note(`${provider.name}: ${formatErrorChain(error)}`);
        throw new ApiError('temporarily_unavailable', { detail: 'The provider does not respond. Retry.', retryAfterSeconds: 5 });
      });
      c.header('Set-Cookie', cookie);
      c.header('Cache-Control', 'no-store');
      return { provider: provider.name, callback_url: callbackUrlOf(ctx, provider.name), authorization_url };
    },
  })
  .public({
    path: 'GET /auth/oauth/{provider}/callback',
    id: 'finishOAuth',
    sdk: false,
    summary: 'Finish a provider sign-in',
    description: `Redirects to \`next\` with the result in the fragment: \`#token=…\`, \`#linked=<provider>\`, or \`#error=\` with one of ${PROVIDER_ERRORS.join(', ')}. For a person with a factor it is \`#error=factor_required&ticket=…\`, for a verified account with a password \`#error=password_required&ticket=…\`. With \`surface=page\` the token is the cookie of our pages. An unknown, used or expired state, or one of another browser, returns 400.`,
    guards: [underCeiling],
    params: ProviderParam,
    query: z.object({
      code: z.string().optional().describe('Authorization code from the provider.'),
      state: z.string().optional().describe('State that was sent with the request.'),
      error: z.string().optional().describe('Error code from the provider.'),
      error_description: z.string().optional().describe('Human-readable error from the provider.'),
    }),
    returns: { 302: { description: 'Redirect to `next`, with the result in the fragment' } },
    codes: ['invalid_state', 'not_found', 'oauth_not_configured'],
    respond: async ({ c, ctx, params, query: { state, ...answer } }) => {
      const provider = requireProvider(ctx, params.provider);
      const read = readState(ctx, state, { provider: provider.name, cookies: c.req.header('Cookie') });
      // Counted with wallet sign-ins, because each callback calls a provider. Counted before the state is used up, so that the callback can
      // be retried.
      await hitBucketOrOwn(c, 'wallet-login', '', anyKnownProvider);
      if (!(await takeState(globalOf(ctx).db, read.begun.id, read.begun.expiresAt))) throw new ApiError('invalid_state');
      const path = await conclude(c, read.begun, await finish(c, provider, read, answer));
      c.header('Cache-Control', 'no-store');
      c.header('Referrer-Policy', 'no-referrer');
      return c.redirect(path, 302) as never;
    },
  })
  .public({
    path: 'POST /auth/oauth/join',
    id: 'joinOAuth',
    sdk: 'auth.joinOAuth',
    idempotency: 'natural',
    summary: 'Join an account by provider',
    description:
      'Completes a sign-in that ended in `password_required`: links the provider and signs in. The ticket works once, for ten minutes.',
    bucket: 'login',
    ...withTicket(readJoinTicket, 'join'),
    body: z.object({ ticket: z.string().max(4096), password: z.string().max(1024) }).openapi('JoinOAuthRequest'),
    returns: AuthResponse,
    codes: ['invalid_credentials', 'factor_required', 'account_suspended', 'account_deleted', 'state_conflict'],
    audit: ['person.provider_linked', 'session.started'],
    answer: async ({ c, ctx, body }) => {
      const { account, signIn } = await joinAccount(ctx, body, callerOrigin(c));
      return toAuthResponse(ctx, account, signIn);
    },
  })
  .self({
    path: 'GET /account/identities',
    id: 'listIdentities',
    sdk: 'account.listIdentities',
    tag: 'Account',
    summary: 'List linked providers',
    description: 'Lists the providers that are linked to this account.',
    returns: z
      .object({
        items: z.array(
          z.object({
            provider: Provider,
            email: z.string().optional(),
            linked_at: Timestamp,
          }),
        ),
      })
      .openapi('SignInIdentities'),
    answer: async ({ scope, actor }) => {
      const rows = await listIdentities(scope.db, actor.accountId);
      const items = rows.map(({ provider, email, linkedAt }) => ({ provider, ...given('email', email), linked_at: iso(linkedAt) }));
      return { items };
    },
  })
  .self({
    path: 'DELETE /account/identities/{provider}',
    id: 'unlinkIdentity',
    sdk: 'account.unlinkIdentity',
    tag: 'Account',
    summary: 'Unlink a provider',
    description:
      'Unlinks a provider and ends the sessions that it began. Requires a recent sign-in. A repeated call changes nothing. The last sign-in method cannot be removed.',
    params: ProviderParam,
    returns: { 204: { description: 'Unlinked' } },
    codes: ['not_found', 'state_conflict'],
    check: ({ params }) => knownProvider(params.provider),
    once: async ({ scope, actor, checked: provider }, storeAnswer) => {
      await unlinkIdentity(scope, actor, provider, storeAnswer);
      return null;
    },
    audit: ['person.provider_unlinked'],
    present: () => undefined,
    // After the change is stored, also by an earlier call that failed here.
    answered: ({ scope, actor, checked: provider }) => endPersonSessions(scope, actor.accountId, { methods: [provider] }),
  });
