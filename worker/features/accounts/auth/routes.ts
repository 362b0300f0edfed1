import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { AccountUuid, created, DetailResponse, HomeRegion, orNull, Timestamp } from '#platform/http/openapi.ts';
import { callerOrigin, countRefusedCredential, underCeiling } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { ROLES } from '#rules/access/roles.ts';
import type { SignIn } from '#rules/admission.ts';
import { PLAN_NAMES, planAt } from '#rules/plans.ts';
import { endOwnSession, endOwnSessions } from '../entries/ended-sessions.ts';
import { findActing } from '../members/acting.ts';
import { NEW_TOKEN_VERSION } from '../new-account.ts';
import { signInByLink } from '../passwords/sign-in-link.ts';
import { NonceRequest, NonceResponse, toNonceResource, WalletLoginRequest } from '../wallets/bodies.ts';
import { issueLoginNonce } from '../wallets/proof.ts';
import { logInWithWallet } from '../wallets/sign-in.ts';
import { bearerOf } from './authenticate.ts';
import { knownEmail, knownWallet, messageOfKnownWallet, readEmailKey } from './known-sign-ins.ts';
import { draftFirstSession, startFirstSession, startSession } from './sessions.ts';
import { homeOfRegistration, logIn, refreshSession, registerAccount } from './sign-in.ts';
import { type Acting, actingClaims, issueToken } from './tokens.ts';

export const ClaimsBody = z
  .object({
    svc_score: z.boolean().describe('Score of the account, for tools that require one.'),
    svc_pay: z.boolean().describe('True if the account may receive payments.'),
    svc_ops: z.boolean().describe('True if the account may use operator tools.'),
    is_staff: z.boolean().describe('True if the account operates this deployment.'),
  })
  .openapi('Claims');
export const AuthResponse = z
  .object({
    token: z.string().describe('Session token for `Authorization: Bearer`.'),
    user_id: AccountUuid,
    tier: z.enum(PLAN_NAMES).describe('Plan: `free`, `starter`, `growth` or `scale`.'),
    email: orNull(z.string()),
    account_id: z.uuid(),
    role: z.enum(ROLES),
    session_id: z.uuid().describe('Session of the token. A renewed token keeps it.'),
    claims: ClaimsBody,
    expires_at: Timestamp,
  })
  .openapi('AuthResponse');

export const Email = z.email().max(254).openapi({ example: 'ada@example.com' });
const RegisterRequest = z
  .object({
    email: Email,
    password: z.string().max(1024).describe('Password of 8 to 128 characters, and none of the commonest.'),
    display_name: ShownName(120).describe('Name of the account, as buyers see it.'),
    region: HomeRegion,
  })
  .openapi('RegisterRequest', { example: { email: 'ada@example.com', password: 'correct horse', display_name: 'Ada' } });
const LoginRequest = z
  .object({ email: Email, password: z.string().max(1024).describe('Password of 8 to 128 characters.') })
  .openapi('LoginRequest');

/** `acting`: account that the person acts on. Omitted: the last one. */
export async function toAuthResponse(ctx: Ctx, person: Account, signIn: SignIn, acting?: Acting) {
  const { account, role } = acting ?? (await findActing(ctx, person));
  const { token, expiresAt } = await issueToken(ctx, person, signIn, { account, role });
  return {
    token,
    user_id: person.id,
    tier: planAt(account, ctx.now),
    email: person.email,
    account_id: account.id,
    role,
    session_id: signIn.sessionId,
    claims: actingClaims(person, { account }),
    expires_at: iso(expiresAt),
  };
}

const RefreshRequest = z
  .object({ token: z.string().max(4096).optional().describe('Session token to renew, unless the header carries it.') })
  .openapi('RefreshRequest');

const EmailLinkRequest = z
  .object({ token: z.string().max(200).describe('Token from the email: the part after `#token=` in its link.') })
  .openapi('EmailLinkRequest');
const LogoutRequest = z
  .object({ end: z.enum(['session', 'all']).optional().describe('Sessions to end on the server: that of the token, or all.') })
  .openapi('LogoutRequest');

export const authRoutes = routes('Authentication')
  .public({
    path: 'POST /auth/register',
    id: 'register',
    sdk: 'auth.register',
    summary: 'Create an account',
    description: 'Creates an account on the free plan.',
    bucket: 'register',
    body: RegisterRequest,
    returns: created(AuthResponse, 'Account and its session'),
    codes: ['email_registered', 'password_too_short', 'password_too_common'],
    shard: ({ ctx, body: { email, region } }) => homeOfRegistration(ctx, email, region),
    once: ({ shard, body: { display_name: displayName, region: _region, ...login } }, storeAnswer) =>
      registerAccount(shard, { ...login, displayName }, storeAnswer),
    audit: ['account.created', 'session.started'],
    present: (account, { shard }) => toAuthResponse(shard, account, draftFirstSession(shard, account)),
    // After the account is stored, also by an earlier call that failed here. A refused registration stores no session.
    answered: async ({ c, ctx }, { body }) => {
      const { user_id: id, email, session_id: sessionId } = JSON.parse(body);
      await startFirstSession(ctx, { id, email, tokenVersion: NEW_TOKEN_VERSION }, sessionId, callerOrigin(c));
    },
    isSecret: true,
  })
  .public({
    path: 'POST /auth/login',
    id: 'login',
    sdk: 'auth.login',
    idempotency: 'natural',
    summary: 'Log in with a password',
    description:
      'Signs in with an email address and a password. A person with a factor gets 401 `factor_required` with a ticket for `POST /v1/auth/factor`. After 100 failures within an hour, an unknown network gets 401 `meta.reason: email_link_required`.',
    bucket: 'login',
    by: readEmailKey,
    known: knownEmail,
    body: LoginRequest,
    returns: AuthResponse,
    codes: ['invalid_credentials', 'factor_required', 'account_suspended', 'account_deleted'],
    audit: ['session.started'],
    answer: async ({ c, ctx, body }) => {
      const origin = callerOrigin(c);
      const account = await logIn(ctx, body, origin.ip);
      return toAuthResponse(ctx, account, await startSession(ctx, account, 'password', origin));
    },
  })
  .public({
    path: 'POST /auth/login/email-link',
    id: 'loginWithEmailLink',
    sdk: 'auth.loginWithEmailLink',
    idempotency: 'natural',
    summary: 'Log in with an emailed link',
    description:
      'Signs in with the token of the email after `email_link_required`. The link works once, for 15 minutes. A person with a factor gets 401 `factor_required`.',
    bucket: 'email-proof',
    body: EmailLinkRequest,
    returns: AuthResponse,
    codes: ['invalid_credentials', 'factor_required'],
    audit: ['session.started'],
    answer: async ({ c, ctx, body }) => {
      const { account, signIn } = await signInByLink(ctx, body.token, callerOrigin(c));
      return toAuthResponse(ctx, account, signIn);
    },
  })
  .public({
    path: 'POST /auth/wallet/nonce',
    id: 'createWalletNonce',
    sdk: 'auth.createWalletNonce',
    idempotency: 'natural',
    summary: 'Create a sign-in message',
    description: 'Creates a Sign-In With Solana message for this wallet. Valid once, for five minutes.',
    bucket: 'nonce',
    known: messageOfKnownWallet,
    body: NonceRequest,
    returns: NonceResponse,
    codes: ['invalid_wallet_address'],
    answer: async ({ ctx, body }) => toNonceResource(await issueLoginNonce(ctx, 'merchant', body.wallet_address), ctx.wallNow),
  })
  .public({
    path: 'POST /auth/wallet',
    id: 'loginWithWallet',
    sdk: 'auth.loginWithWallet',
    idempotency: 'natural',
    summary: 'Log in with a wallet',
    description: 'Signs in with a wallet. The first sign-in creates the account. A person with a factor gets 401 `factor_required`.',
    bucket: 'wallet-login',
    known: knownWallet,
    body: WalletLoginRequest,
    returns: AuthResponse,
    codes: ['invalid_credentials', 'factor_required', 'account_suspended', 'account_deleted', 'invalid_wallet_address'],
    audit: ['account.created', 'session.started'],
    answer: async ({ c, ctx, body: { wallet_address, signed_message, message_nonce } }) => {
      const proof = { walletAddress: wallet_address, signature: signed_message, nonce: message_nonce };
      const { account, signIn } = await logInWithWallet(ctx, proof, callerOrigin(c));
      return toAuthResponse(ctx, account, signIn);
    },
  })
  .public({
    path: 'POST /auth/refresh',
    id: 'refreshToken',
    sdk: 'auth.refresh',
    idempotency: 'natural',
    summary: 'Renew a token',
    description:
      'Renews a token that is valid or expired at most 7 days ago, from the body or the Bearer header. Possible until 30 days after the sign-in.',
    security: [{}, { bearer: [] }],
    guards: [underCeiling],
    body: RefreshRequest,
    isBodyOptional: true,
    returns: AuthResponse,
    codes: ['invalid_authorization', 'account_suspended', 'account_deleted'],
    audit: false,
    answer: async ({ c, ctx, body }) => {
      const token = body.token ?? bearerOf(c);
      const { account, signIn, acting } = await refreshSession(ctx, token).catch(async (error) => {
        if (token !== null && error instanceof ApiError && error.status === 401) await countRefusedCredential(c);
        throw error;
      });
      return toAuthResponse(ctx, account, signIn, acting);
    },
  })
  .self({
    path: 'POST /auth/logout',
    id: 'logout',
    sdk: 'auth.logout',
    idempotency: 'natural',
    summary: 'Log out',
    description:
      'Without `end` it has no effect on the server: discard the token. With `end` the session, or every session, ends from the next request on.',
    key: 'none',
    body: LogoutRequest,
    isBodyOptional: true,
    returns: DetailResponse,
    audit: ['session.ended'],
    answer: async ({ ctx, actor, body: { end } }) => {
      if (end === undefined) return { detail: 'Signed out. Discard the token: it remains valid until it expires.' };
      if (end === 'session' && actor.signIn) await endOwnSession(ctx, actor, actor.signIn.sessionId);
      else await endOwnSessions(ctx, actor, null);
      return { detail: end === 'session' ? 'The session has ended.' : 'All sessions have ended.' };
    },
  });
