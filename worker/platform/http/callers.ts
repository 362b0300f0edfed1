import type { Context, MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import { scopeOf } from '#platform/chain/scope.ts';
import type { Actor, Ctx } from '#platform/context.ts';
import type { Permission, SignIn } from '#rules/admission.ts';
import type { CallBucket } from '#rules/plans.ts';
import { checkIdempotencyKey, optionalKeyErrors, requireIdempotencyKey } from './idempotency-key.ts';
import { type AppEnv, bodyErrors, errors } from './openapi.ts';

/** What any route for merchants may refuse because of who calls. */
const callerErrors = [
  'invalid_authorization',
  { code: 'invalid_authorization', status: 403 },
  'account_suspended',
  'account_deleted',
  'rate_limited',
] as const;

/** From here on the request is the actor's, in the database where they live. */
export async function setActor(c: Context<AppEnv>, actor: Actor): Promise<void> {
  const scope = await scopeOf(c.var.ctx, { merchantId: actor.accountId, livemode: actor.livemode });
  c.set('actor', actor);
  c.set('scope', scope);
  c.set('shard', scope);
}

const requireActor = (permission: Permission, bucket: CallBucket = 'requests') =>
  createMiddleware<AppEnv>(async (c, next) => {
    await setActor(c, await c.var.authenticate(c, permission, bucket));
    await next();
  });

/** A route for a merchant's key or token: security scheme, admission and their error responses, together. */
export const merchantRoute = (permission: Permission) => ({
  security: [{ apiKey: [] }, { bearer: [] }] as Record<string, string[]>[],
  middleware: requireActor(permission),
});

const requireKey = (bucket: CallBucket) =>
  createMiddleware<AppEnv>(async (c, next) => {
    const actor = await c.var.authenticate(c, 'execute', bucket);
    if (actor.via !== 'key') {
      const detail = 'This is called by servers. Send a key in X-Svc-Key.';
      throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'key_required' } });
    }
    await setActor(c, actor);
    await next();
  });

/** A route of machines alone: a key that may execute, no token. */
export const keyRoute = (bucket: CallBucket) => ({
  security: [{ apiKey: [] }] as Record<string, string[]>[],
  middleware: requireKey(bucket),
});

/** A write that must not happen twice: like `merchantRoute`, and the caller names it by an Idempotency-Key. */
export const idempotentRoute = (bucket: CallBucket = 'requests') => ({
  security: merchantRoute('execute').security,
  middleware: [requireActor('execute', bucket), requireIdempotencyKey],
});

/** A merchant's write: done once per Idempotency-Key where one is sent. */
export const writeRoute = {
  security: merchantRoute('execute').security,
  middleware: [requireActor('execute'), checkIdempotencyKey],
};

const requirePerson = createMiddleware<AppEnv>(async (c, next) => {
  const actor = await c.var.authenticate(c, null);
  if (actor.via === 'key') {
    throw new ApiError('invalid_authorization', {
      status: 403,
      detail: 'A key cannot do this. Use a signed-in session.',
      meta: { reason: 'token_required' },
    });
  }
  await setActor(c, actor);
  await next();
});

/** A route only a signed-in person may use: a leaked key must not be able to make or keep keys. */
export const personRoute = { security: [{ bearer: [] }] as Record<string, string[]>[], middleware: requirePerson };

/** The same for a write: done once per Idempotency-Key where one is sent. */
export const keyedPersonRoute = { security: personRoute.security, middleware: [requirePerson, checkIdempotencyKey] };

/** A public route whose answer is fuller for the owner: a credential is optional, but a bad one is still refused. */
export const viewerRoute = (bucket: MiddlewareHandler<AppEnv>) => ({
  security: [{}, { apiKey: [] }, { bearer: [] }] as Record<string, string[]>[],
  middleware: [readViewer, unlessViewer(bucket)],
});

/** The same for a write: done once per Idempotency-Key where one is sent. */
export const keyedViewerRoute = (bucket: MiddlewareHandler<AppEnv>) => ({
  security: viewerRoute(bucket).security,
  middleware: [readViewer, unlessViewer(bucket), checkIdempotencyKey],
});

const readViewer = createMiddleware<AppEnv>(async (c, next) => {
  const hasCredential = c.req.header('X-Svc-Key') !== undefined || c.req.header('Authorization') !== undefined;
  c.set('viewer', hasCredential ? await c.var.authenticate(c, null) : null);
  await next();
});

/** Who showed a credential was counted by the account; a bucket is for strangers. */
const unlessViewer = (bucket: MiddlewareHandler<AppEnv>): MiddlewareHandler<AppEnv> =>
  createMiddleware<AppEnv>((c, next) => (c.var.viewer ? next() : bucket(c, next)));

/** What a public route may refuse because of a credential that is shown although none is needed. */
export const viewerErrors = [
  'invalid_authorization',
  { code: 'invalid_authorization', status: 403 },
  'account_suspended',
  'account_deleted',
] as const;

type Codes = Parameters<typeof errors>;
export const merchantErrors = (...codes: Codes) => errors(...callerErrors, 'validation_error', ...codes);
/** Of `writeRoute`. */
export const merchantWriteErrors = (...codes: Codes) => errors(...callerErrors, ...bodyErrors, ...optionalKeyErrors, ...codes);
export const merchantBodyErrors = (...codes: Codes) => errors(...callerErrors, ...bodyErrors, ...codes);
export const publicBodyErrors = (...codes: Codes) => errors(...bodyErrors, ...codes);

const isRecent = (ctx: Ctx, signIn: SignIn): boolean => ctx.wallNow - signIn.authTime <= ctx.config.FRESH_SIGN_IN_SECONDS * SECOND;

/**
 * Did a person prove so recently, and to this service, that it is them? The bare nonce does not count: it names no domain, so a
 * phishing page can have it signed.
 */
export const isFreshSignIn = (ctx: Ctx, { signIn }: Actor): boolean =>
  signIn !== null && isRecent(ctx, signIn) && signIn.method !== 'nonce';

/** For what decides where money goes, and for the end of an account. 403 sign_in_required. */
export function requireFreshSignIn(ctx: Ctx, actor: Actor): void {
  if (!isFreshSignIn(ctx, actor)) throw signInRequired(ctx, actor);
}

/** For live keys, which can be revoked: the bare nonce counts too. 403 sign_in_required. */
export function requireRecentSignIn(ctx: Ctx, actor: Actor): void {
  if (!actor.signIn || !isRecent(ctx, actor.signIn)) throw signInRequired(ctx, actor);
}

function signInRequired({ config }: Ctx, { signIn }: Actor): ApiError {
  const minutes = Math.ceil(config.FRESH_SIGN_IN_SECONDS / 60);
  const isBareNonce = signIn?.method === 'nonce';
  const detail = isBareNonce
    ? 'This needs a sign-in with the whole text, which names this service. Ask for a new one, have the wallet sign `message`, then repeat it.'
    : `This needs a person who signed in within the last ${minutes} minutes. Sign in again, then repeat it.`;
  const meta = { reason: 'sign_in_required', ...(isBareNonce ? { sign_in: '/v1/auth/wallet/nonce' } : {}) };
  return new ApiError('invalid_authorization', { status: 403, detail, meta });
}
