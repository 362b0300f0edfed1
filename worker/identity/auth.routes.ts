import { createRoute, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Ctx } from '../context.ts';
import { iso } from '../core/time.ts';
import { publicBodyErrors } from '../http/guards.ts';
import { type AppEnv, created, jsonBody, ok, orNull, router, Timestamp } from '../http/openapi.ts';
import { publicBucket } from '../http/rate-limit.ts';
import { PLAN_NAMES } from '../plans.ts';
import { emailKeyOf, logIn, registerAccount } from './sign-in.ts';
import type { Account } from './store.ts';
import { claimsOf, issueToken } from './tokens.ts';

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

const Email = z.email().max(254).openapi({ example: 'ada@example.com' });
const RegisterRequest = z
  .object({ email: Email, password: z.string().max(1024), display_name: z.string().trim().min(1).max(120) })
  .openapi('RegisterRequest', { example: { email: 'ada@example.com', password: 'correct horse', display_name: 'Ada' } });
const LoginRequest = z.object({ email: Email, password: z.string().max(1024) }).openapi('LoginRequest');

async function toAuthResponse(ctx: Ctx, account: Account) {
  const { token, expiresAt } = await issueToken(ctx, account, ctx.now);
  return { token, user_id: account.id, tier: account.plan, email: account.email, claims: claimsOf(account), expires_at: iso(expiresAt) };
}

/** Counted per address and e-mail, so that nobody can lock a stranger out from elsewhere. */
async function emailOf(c: Context<AppEnv>): Promise<string> {
  const body: unknown = await c.req.json().catch(() => null);
  const email = typeof body === 'object' && body !== null && 'email' in body && typeof body.email === 'string' ? body.email : '';
  return emailKeyOf(c.var.ctx, email);
}

const register = createRoute({
  method: 'post',
  path: '/auth/register',
  operationId: 'register',
  tags: ['Authentication'],
  summary: 'Create an account on the free plan',
  middleware: publicBucket('register'),
  request: jsonBody(RegisterRequest),
  responses: {
    ...created(AuthResponse, 'The account exists; this is its session'),
    ...publicBodyErrors('email_registered', 'password_too_short', 'rate_limited'),
  },
});
const login = createRoute({
  method: 'post',
  path: '/auth/login',
  operationId: 'login',
  tags: ['Authentication'],
  summary: 'Sign in with e-mail and password',
  middleware: publicBucket('login', emailOf),
  request: jsonBody(LoginRequest),
  responses: { ...ok(AuthResponse), ...publicBodyErrors('invalid_credentials', 'account_suspended', 'account_deleted', 'rate_limited') },
});

export const authRoutes = router()
  .openapi(register, async (c) => {
    const { email, password, display_name } = c.req.valid('json');
    const account = await registerAccount(c.var.ctx, { email, password, displayName: display_name });
    return c.json(await toAuthResponse(c.var.ctx, account), 201);
  })
  .openapi(login, async (c) => c.json(await toAuthResponse(c.var.ctx, await logIn(c.var.ctx, c.req.valid('json'))), 200));
