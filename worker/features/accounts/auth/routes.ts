import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { newestOf } from '#platform/db/directory.ts';
import type { Account, LoginNonce } from '#platform/db/tables/accounts.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { created, DetailResponse, orNull, type RouteContext, Timestamp } from '#platform/http/openapi.ts';
import { countPasswordTry, countRefusedCredential, rememberSignIn, underCeiling } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import type { SignIn, SignInMethod } from '#rules/admission.ts';
import { PLAN_NAMES, planAt } from '#rules/plans.ts';
import { bearerOf } from './authenticate.ts';
import { emailKeysOf, logIn, normaliseEmail, refreshSession, registerAccount } from './sign-in.ts';
import { claimsOf, issueToken } from './tokens.ts';
import { issueLoginNonce, logInWithWallet } from './wallet-sign-in.ts';

export const ClaimsBody = z
  .object({ svc_score: z.boolean(), svc_pay: z.boolean(), svc_ops: z.boolean(), is_staff: z.boolean() })
  .openapi('Claims');
const AuthResponse = z
  .object({
    token: z.string(),
    user_id: z.uuid(),
    tier: z.enum(PLAN_NAMES),
    email: orNull(z.string()),
    claims: ClaimsBody,
    expires_at: Timestamp,
  })
  .openapi('AuthResponse');

export const Email = z.email().max(254).openapi({ example: 'ada@example.com' });
const RegisterRequest = z
  .object({ email: Email, password: z.string().max(1024), display_name: ShownName(120) })
  .openapi('RegisterRequest', { example: { email: 'ada@example.com', password: 'correct horse', display_name: 'Ada' } });
const LoginRequest = z.object({ email: Email, password: z.string().max(1024) }).openapi('LoginRequest');

const signedInNow = ({ wallNow }: Ctx, method: SignInMethod): SignIn => ({ authTime: wallNow, firstIat: wallNow, method });

/** A token of a session that begins now, or goes on. */
async function toAuthResponse(ctx: Ctx, account: Account, signIn: SignIn) {
  const { token, expiresAt } = await issueToken(ctx, account, signIn);
  return {
    token,
    user_id: account.id,
    tier: planAt(account, ctx.now),
    email: account.email,
    claims: claimsOf(account),
    expires_at: iso(expiresAt),
  };
}

/** Counted per address and e-mail, so that a caller cannot lock the owner of an e-mail out from another address. */
async function emailOf(c: RouteContext): Promise<string> {
  const body: unknown = await c.req.json().catch(() => null);
  const email = typeof body === 'object' && body !== null && 'email' in body && typeof body.email === 'string' ? body.email : '';
  return emailKeysOf(c.var.ctx, email).keys[0];
}

const WalletAddress = z.string().max(64).openapi({ description: 'base58', example: '7v91N7iZ9mNicL8WfG6cgSCKyRXydQjLh6UYBWwm6y1Q' });
const NonceRequest = z.object({ wallet_address: WalletAddress }).openapi('WalletNonceRequest');
const NonceResponse = z
  .object({ message_nonce: z.string(), message: z.string(), issued_at: Timestamp, expires_at: Timestamp })
  .openapi('WalletNonce');
const WalletLoginRequest = z
  .object({
    wallet_address: WalletAddress,
    signed_message: z
      .string()
      .max(128)
      .openapi({
        description:
          'base58 Ed25519 signature of `message`, or of the bare `message_nonce`. The bare nonce names no domain: a session from it ' +
          'makes keys, but never sets a payout wallet, moves an external product id, sets a password or deletes the account.',
      }),
    message_nonce: z.string().max(64),
  })
  .openapi('WalletLoginRequest');
const RefreshRequest = z.object({ token: z.string().max(4096).optional() }).openapi('RefreshRequest');

const toNonceResource = ({ nonce, message, expiresAt }: LoginNonce, issuedAt: number) => ({
  message_nonce: nonce,
  message,
  issued_at: iso(issuedAt),
  expires_at: iso(expiresAt),
});

export const authRoutes = routes('Authentication')
  .public({
    path: 'POST /auth/register',
    id: 'register',
    summary: 'Create an account',
    description: 'Create an account on the free plan.',
    bucket: 'register',
    body: RegisterRequest,
    returns: created(AuthResponse, 'The account exists; this is its session'),
    codes: ['email_registered', 'password_too_short'],
    shard: ({ ctx }) => newestOf(ctx),
    once: ({ shard, body: { display_name: displayName, ...login } }, storeAnswer) =>
      registerAccount(shard, { ...login, displayName }, storeAnswer),
    present: (account, { shard }) => toAuthResponse(shard, account, signedInNow(shard, 'pwd')),
    isSecret: true,
  })
  .public({
    path: 'POST /auth/login',
    id: 'login',
    summary: 'Log in with a password',
    description:
      'Sign in with e-mail and password. After 100 tries for one account in an hour from addresses that never signed in to it, one more from such ' +
      'an address is 429 `rate_limited`, whether the account exists or not; a new password by e-mail opens it there.',
    bucket: 'login',
    by: emailOf,
    body: LoginRequest,
    returns: AuthResponse,
    codes: ['invalid_credentials', 'account_suspended', 'account_deleted'],
    answer: async ({ c, ctx, body }) => {
      const email = normaliseEmail(body.email);
      await countPasswordTry(c, email);
      const account = await logIn(ctx, body);
      await rememberSignIn(c, email);
      return toAuthResponse(ctx, account, signedInNow(ctx, 'pwd'));
    },
  })
  .public({
    path: 'POST /auth/wallet/nonce',
    id: 'createWalletNonce',
    summary: 'Get a sign-in message',
    description: 'A Sign-In With Solana text for this wallet to sign, good once and for five minutes.',
    bucket: 'nonce',
    body: NonceRequest,
    returns: NonceResponse,
    codes: ['invalid_wallet_address'],
    answer: async ({ ctx, body }) => toNonceResource(await issueLoginNonce(ctx, body.wallet_address), ctx.wallNow),
  })
  .public({
    path: 'POST /auth/wallet',
    id: 'loginWithWallet',
    summary: 'Log in with a wallet',
    description: 'Sign in with a wallet; the first time creates its account.',
    bucket: 'wallet-login',
    body: WalletLoginRequest,
    returns: AuthResponse,
    codes: ['invalid_credentials', 'account_suspended', 'account_deleted', 'invalid_wallet_address'],
    answer: async ({ ctx, body: { wallet_address, signed_message, message_nonce } }) => {
      const proof = { walletAddress: wallet_address, signature: signed_message, nonce: message_nonce };
      const { account, method } = await logInWithWallet(ctx, proof);
      return toAuthResponse(ctx, account, signedInNow(ctx, method));
    },
  })
  .public({
    path: 'POST /auth/refresh',
    id: 'refreshToken',
    summary: 'Renew a token',
    description:
      'For a token that is valid or expired at most 7 days ago, given in the body or as Bearer; at most 30 days after signing in.',
    security: [{}, { bearer: [] }],
    guards: [underCeiling],
    body: RefreshRequest,
    isBodyOptional: true,
    returns: AuthResponse,
    codes: ['invalid_authorization', 'account_suspended', 'account_deleted'],
    answer: async ({ c, ctx, body }) => {
      const token = body.token ?? bearerOf(c);
      const { account, signIn } = await refreshSession(ctx, token).catch(async (error) => {
        if (token !== null && error instanceof ApiError && error.status === 401) await countRefusedCredential(c);
        throw error;
      });
      return toAuthResponse(ctx, account, signIn);
    },
  })
  .person({
    path: 'POST /auth/logout',
    id: 'logout',
    summary: 'Log out',
    description: 'Says goodbye; the client discards its token.',
    key: 'none',
    returns: DetailResponse,
    answer: () => ({ detail: 'Signed out. Discard the token: until it expires it is still good.' }),
  });
