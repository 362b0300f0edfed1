import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import { scopeOf } from '#platform/chain/scope.ts';
import type { Actor, Ctx, Tenant } from '#platform/context.ts';
import type { Permission, SignIn } from '#rules/admission.ts';
import type { CallBucket, PublicBucketName } from '#rules/plans.ts';
import { optionalKeyErrors, requireIdempotencyKey, requireSoundKey } from './idempotency-key.ts';
import { type ActorEnv, type AppEnv, bodyErrors, errors, type RouteContext, type ViewerEnv } from './openapi.ts';
import { countCall, hitCeiling, type Subject } from './rate-limit.ts';

/** What any route for merchants may refuse because of who calls. */
export const callerErrors = [
  'invalid_authorization',
  { code: 'invalid_authorization', status: 403 },
  'account_suspended',
  'account_deleted',
  'rate_limited',
] as const;

const tenantOf = ({ accountId: merchantId, livemode }: Actor): Tenant => ({ merchantId, livemode });

/** From here on the request is the actor's, in the database where they live. */
export async function setActor(c: RouteContext<ActorEnv>, actor: Actor): Promise<void> {
  const scope = await scopeOf(c.var.ctx, tenantOf(actor));
  c.set('caller', actor);
  c.set('actor', actor);
  c.set('scope', scope);
  c.set('shard', scope);
}

/** What else a route holds a request against once its caller is known. */
type Check<E extends AppEnv> = (c: RouteContext<E>) => void | Promise<void>;

const requireActor = (permission: Permission, bucket: CallBucket = 'requests', ...checks: Check<ActorEnv>[]) =>
  createMiddleware<ActorEnv>(async (c, next) => {
    await setActor(c, await c.var.authenticate(c, permission, bucket));
    for (const check of checks) await check(c);
    await next();
  });

/** A route for a merchant's key or token: security scheme, admission and their error responses, together. */
export const merchantRoute = (permission: Permission) => ({
  security: [{ apiKey: [] }, { bearer: [] }] as Record<string, string[]>[],
  middleware: requireActor(permission),
});

const requireKey = (bucket: CallBucket) =>
  createMiddleware<ActorEnv>(async (c, next) => {
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
  middleware: requireActor('execute', bucket, requireIdempotencyKey),
});

/** A merchant's write: done once per Idempotency-Key where one is sent. */
export const writeRoute = {
  security: merchantRoute('execute').security,
  middleware: requireActor('execute', 'requests', requireSoundKey),
};

/** 403 invalid_authorization for a live key, and for a token that does not ask for the sandbox. */
function requireSandbox(c: RouteContext<ActorEnv>): void {
  if (!c.var.scope.livemode) return;
  const detail = 'This is the sandbox. Call it with a sandbox key, or with a token and `?mode=sandbox`.';
  throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'sandbox_key_required' } });
}

/** Routes of the sandbox; a write is done once per Idempotency-Key where one is sent. */
export const sandboxRoute = {
  read: { security: merchantRoute('read').security, middleware: requireActor('read', 'requests', requireSandbox) },
  write: { security: merchantRoute('execute').security, middleware: requireActor('execute', 'requests', requireSandbox, requireSoundKey) },
};

/** 403 invalid_authorization for a sandbox key: what the service itself is paid has no sandbox. */
function requireLiveMode(c: RouteContext<ActorEnv>): void {
  if (c.var.scope.livemode) return;
  const detail = 'This has no sandbox. Call it with a live key or a token.';
  throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'mode' } });
}

/** Routes of live mode alone; a write is done once per Idempotency-Key where one is sent. */
export const liveRoute = {
  read: { security: merchantRoute('read').security, middleware: requireActor('read', 'requests', requireLiveMode) },
  write: { security: merchantRoute('execute').security, middleware: requireActor('execute', 'requests', requireLiveMode, requireSoundKey) },
};

const tokenRequired = (): ApiError => {
  const detail = 'A key cannot do this. Use a signed-in session.';
  return new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'token_required' } });
};

const requirePerson = (...checks: Check<ActorEnv>[]) =>
  createMiddleware<ActorEnv>(async (c, next) => {
    const actor = await c.var.authenticate(c, null);
    if (actor.via === 'key') throw tokenRequired();
    await setActor(c, actor);
    for (const check of checks) await check(c);
    await next();
  });

/** A route only a signed-in person may use: a leaked key must not be able to make or keep keys. */
export const personRoute = { security: [{ bearer: [] }] as Record<string, string[]>[], middleware: requirePerson() };

/** Same as `personRoute`, but for a write, which is done once per Idempotency-Key where one is sent. */
export const keyedPersonRoute = (...checks: Check<ActorEnv>[]) => ({
  security: personRoute.security,
  middleware: requirePerson(requireSoundKey, ...checks),
});

/** Same as `keyedPersonRoute`, in live mode alone. */
export const livePersonRoute = keyedPersonRoute(requireLiveMode);

const readPerson = createMiddleware<AppEnv>(async (c, next) => {
  await hitCeiling(c);
  const person = c.req.header('Authorization') === undefined ? null : await c.var.authenticate(c, null);
  if (person?.via === 'key') throw tokenRequired();
  c.set('caller', person);
  await next();
});

/** A public route that does something else for a person who shows a token; `caller` is that person, or null. */
export const openPersonRoute = { security: [{}, { bearer: [] }] as Record<string, string[]>[], middleware: readPerson };

/** A public route whose answer is fuller for the owner: a credential is optional, but a bad one is still refused. */
export const viewerRoute = (bucket: PublicBucketName, subject: Subject) => ({
  security: [{}, { apiKey: [] }, { bearer: [] }] as Record<string, string[]>[],
  middleware: readViewer(bucket, subject),
});

/** Same as `viewerRoute`, but for a write, which is done once per Idempotency-Key where one is sent. */
export const keyedViewerRoute = (bucket: PublicBucketName, subject: Subject) => ({
  security: viewerRoute(bucket, subject).security,
  middleware: readViewer(bucket, subject, requireSoundKey),
});

/** True if the request carries a key or a token, good or bad. */
export const showsCredential = ({ req }: Pick<RouteContext, 'req'>): boolean =>
  req.header('X-Svc-Key') !== undefined || req.header('Authorization') !== undefined;

/** Who shows a credential is counted by the account; the bucket is for strangers. */
const readViewer = (bucket: PublicBucketName, subject: Subject, ...checks: Check<ViewerEnv>[]) =>
  createMiddleware<ViewerEnv>(async (c, next) => {
    const caller = showsCredential(c) ? await c.var.authenticate(c, null) : null;
    c.set('caller', caller);
    c.set('viewer', caller && tenantOf(caller));
    if (!caller) await countCall(c, bucket, subject);
    for (const check of checks) await check(c);
    await next();
  });

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
