import { createRoute, z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { newestOf } from '#platform/db/directory.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account, LoginNonce } from '#platform/db/tables/accounts.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { merchantBodyErrors, personRoute, publicBodyErrors } from '#platform/http/callers.ts';
import {
  answerOnce,
  checkIdempotencyKey,
  OptionalIdempotencyHeader,
  optionalKeyErrors,
  sendStored,
} from '#platform/http/idempotency-key.ts';
import {
  created,
  DetailResponse,
  jsonBody,
  ok,
  optionalJsonBody,
  orNull,
  type RouteContext,
  router,
  Timestamp,
} from '#platform/http/openapi.ts';
import { countPasswordTry, countRefusedCredential, publicBucket, rememberSignIn, underCeiling } from '#platform/http/rate-limit.ts';
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

const register = createRoute({
  method: 'post',
  path: '/auth/register',
  operationId: 'register',
  tags: ['Authentication'],
  summary: 'Create an account',
  description: 'Create an account on the free plan.',
  middleware: [publicBucket('register'), checkIdempotencyKey] as const,
  request: { headers: OptionalIdempotencyHeader, ...jsonBody(RegisterRequest) },
  responses: {
    ...created(AuthResponse, 'The account exists; this is its session'),
    ...publicBodyErrors(...optionalKeyErrors, 'email_registered', 'password_too_short', 'rate_limited'),
  },
});
const login = createRoute({
  method: 'post',
  path: '/auth/login',
  operationId: 'login',
  tags: ['Authentication'],
  summary: 'Log in with a password',
  description:
    'Sign in with e-mail and password. After 100 tries for one account in an hour from addresses that never signed in to it, one more from such ' +
    'an address is 429 `rate_limited`, whether the account exists or not; a new password by e-mail opens it there.',
  middleware: publicBucket('login', emailOf),
  request: jsonBody(LoginRequest),
  responses: { ...ok(AuthResponse), ...publicBodyErrors('invalid_credentials', 'account_suspended', 'account_deleted', 'rate_limited') },
});

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

const nonce = createRoute({
  method: 'post',
  path: '/auth/wallet/nonce',
  operationId: 'createWalletNonce',
  tags: ['Authentication'],
  summary: 'Get a sign-in message',
  description: 'A Sign-In With Solana text for this wallet to sign, good once and for five minutes.',
  middleware: publicBucket('nonce'),
  request: jsonBody(NonceRequest),
  responses: { ...ok(NonceResponse), ...publicBodyErrors('invalid_wallet_address', 'rate_limited') },
});
const wallet = createRoute({
  method: 'post',
  path: '/auth/wallet',
  operationId: 'loginWithWallet',
  tags: ['Authentication'],
  summary: 'Log in with a wallet',
  description: 'Sign in with a wallet; the first time creates its account.',
  middleware: publicBucket('wallet-login'),
  request: jsonBody(WalletLoginRequest),
  responses: {
    ...ok(AuthResponse),
    ...publicBodyErrors('invalid_credentials', 'account_suspended', 'account_deleted', 'invalid_wallet_address', 'rate_limited'),
  },
});

const refresh = createRoute({
  method: 'post',
  path: '/auth/refresh',
  operationId: 'refreshToken',
  tags: ['Authentication'],
  summary: 'Renew a token',
  description: 'For a token that is valid or expired at most 7 days ago, given in the body or as Bearer; at most 30 days after signing in.',
  security: [{}, { bearer: [] }] as Record<string, string[]>[],
  middleware: underCeiling,
  request: optionalJsonBody(RefreshRequest),
  responses: { ...ok(AuthResponse), ...publicBodyErrors('rate_limited', 'invalid_authorization', 'account_suspended', 'account_deleted') },
});
const logout = createRoute({
  method: 'post',
  path: '/auth/logout',
  operationId: 'logout',
  tags: ['Authentication'],
  summary: 'Log out',
  description: 'Says goodbye; the client discards its token.',
  ...personRoute,
  responses: { ...ok(DetailResponse), ...merchantBodyErrors() },
});

export const authRoutes = router()
  .openapi(register, async (c) => {
    const { email, password, display_name } = c.req.valid('json');
    const ctx = newestOf(c.var.ctx);
    c.set('shard', ctx);
    const run = (storeAnswer: StoreAnswer<Account>) => registerAccount(ctx, { email, password, displayName: display_name }, storeAnswer);
    const present = async (account: Account) => ({ status: 201, body: await toAuthResponse(ctx, account, signedInNow(ctx, 'pwd')) });
    return sendStored(c, await answerOnce(c, run, present, { isSecret: true }));
  })
  .openapi(login, async (c) => {
    const { ctx } = c.var;
    const input = c.req.valid('json');
    const email = normaliseEmail(input.email);
    await countPasswordTry(c, email);
    const account = await logIn(ctx, input);
    await rememberSignIn(c, email);
    return c.json(await toAuthResponse(ctx, account, signedInNow(ctx, 'pwd')), 200);
  })
  .openapi(nonce, async (c) => {
    const { ctx } = c.var;
    return c.json(toNonceResource(await issueLoginNonce(ctx, c.req.valid('json').wallet_address), ctx.wallNow), 200);
  })
  .openapi(wallet, async (c) => {
    const { wallet_address, signed_message, message_nonce } = c.req.valid('json');
    const proof = { walletAddress: wallet_address, signature: signed_message, nonce: message_nonce };
    const { ctx } = c.var;
    const { account, method } = await logInWithWallet(ctx, proof);
    return c.json(await toAuthResponse(ctx, account, signedInNow(ctx, method)), 200);
  })
  .openapi(refresh, async (c) => {
    const token = c.req.valid('json').token ?? bearerOf(c);
    const { account, signIn } = await refreshSession(c.var.ctx, token).catch(async (error) => {
      if (token !== null && error instanceof ApiError && error.status === 401) await countRefusedCredential(c);
      throw error;
    });
    return c.json(await toAuthResponse(c.var.ctx, account, signIn), 200);
  })
  .openapi(logout, (c) => c.json({ detail: 'Signed out. Discard the token: until it expires it is still good.' }, 200));
