import type { MiddlewareHandler } from 'hono';
import { createMiddleware } from 'hono/factory';
import { ApiError, assert } from '#core/errors.ts';
import { HOUR, SECOND } from '#core/time.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Actor, Ctx, Tenant } from '#platform/context.ts';
import { hasRole, type Need, type Role, type RoleGroup, rolesWith } from '#rules/access/roles.ts';
import { hasScope } from '#rules/access/scopes.ts';
import type { Factor } from '#rules/access/sessions.ts';
import type { Permission } from '#rules/admission.ts';
import type { CallBucket, PublicBucketName } from '#rules/plans.ts';
import { checkIdempotencyKey, idempotencyErrors, racedKeyErrors, requireIdempotencyKey, requireSoundKey } from './idempotency-key.ts';
import {
  type ActorEnv,
  type AppEnv,
  bodyErrors,
  errors,
  type Failure,
  protocolBodyErrors,
  type RouteContext,
  type ViewerEnv,
} from './openapi.ts';
import { countCall, hitCeiling, type KnownCaller, publicBucket, type Subject } from './rate-limit.ts';

/** Errors of an invalid credential, even if the route requires none. */
const viewerErrors = [
  'invalid_authorization',
  { code: 'invalid_authorization', status: 403 },
  'account_suspended',
  'account_deleted',
] as const;
const callerErrors = [...viewerErrors, 'rate_limited'] as const;

const tenantOf = ({ accountId: merchantId, livemode }: Actor): Tenant => ({ merchantId, livemode });

/** Sets the actor, and the context to the actor's database. */
export async function setActor(c: RouteContext<ActorEnv>, actor: Actor): Promise<void> {
  const scope = await loadScope(c.var.ctx, tenantOf(actor));
  c.var.ctx.acting.actor = actor;
  c.set('caller', actor);
  c.set('actor', actor);
  c.set('scope', scope);
  c.set('shard', scope);
}

type Check<E extends AppEnv> = (c: RouteContext<E>) => void | Promise<void>;

interface Access {
  scope: Need;
  bucket?: CallBucket;
  needsNoFactor?: true | undefined;
}

const requireActor = (permission: Permission, { bucket = 'requests', ...access }: Access, ...checks: Check<ActorEnv>[]) =>
  createMiddleware<ActorEnv>(async (c, next) => {
    const actor = await c.var.authenticate(c, permission, { bucket, ...access });
    await setActor(c, access.scope === 'webhooks:write' ? { ...actor, leavesAccess: true } : actor);
    for (const check of checks) await check(c);
    await next();
  });

const requireKey = (bucket: CallBucket, scope: Need) =>
  createMiddleware<ActorEnv>(async (c, next) => {
    const actor = await c.var.authenticate(c, 'execute', { bucket, scope });
    if (actor.via !== 'key') {
      const detail = 'The call is for servers. Send a key in X-Svc-Key.';
      throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'key_required' } });
    }
    await setActor(c, actor);
    await next();
  });

/** Throws 403 invalid_authorization for a live key, and for a token without sandbox mode. */
function requireSandbox(c: RouteContext<ActorEnv>): void {
  if (!c.var.scope.livemode) return;
  const detail = 'The call exists only in the sandbox. Send a sandbox key, or a token and `?mode=sandbox`.';
  throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'sandbox_key_required' } });
}

/** Throws 403 invalid_authorization for a sandbox key, because payments to the service itself have no sandbox. */
function requireLiveMode(c: RouteContext<ActorEnv>): void {
  if (c.var.scope.livemode) return;
  const detail = 'The call has no sandbox. Send a live key or a token.';
  throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'mode' } });
}

export const tokenRequired = (): ApiError => {
  const detail = 'A key cannot make this call. Use a signed-in session.';
  return new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'token_required' } });
};

/** `memberParam`: path parameter with a person's id. No role is needed for a call of persons about themselves. */
const requirePerson = (scope: Need, memberParam: string | undefined, ...checks: Check<ActorEnv>[]) =>
  createMiddleware<ActorEnv>(async (c, next) => {
    const actor = await c.var.authenticate(c, null, { scope, unlessBy: memberParam && c.req.param(memberParam) });
    if (actor.via === 'key') throw tokenRequired();
    await setActor(c, actor);
    for (const check of checks) await check(c);
    await next();
  });

/** Sets the actor to the person's own id, so that the call acts on the person from whichever account it is made. */
const requireSelf = (...checks: Check<ActorEnv>[]) =>
  createMiddleware<ActorEnv>(async (c, next) => {
    const actor = await c.var.authenticate(c, null, { isSelf: true });
    if (actor.via === 'key') throw tokenRequired();
    await setActor(c, { ...actor, accountId: actor.personId! });
    for (const check of checks) await check(c);
    await next();
  });

/** Refusal of a role that may not make the call. */
export function roleRequired(role: Role, needs: readonly Role[]): ApiError {
  const detail = `The role ${role} may not make the call. Ask a member who is ${needs.join(' or ')}.`;
  return new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'role', role, needs } });
}

export const roleRefused = (role: Role, need: Need): ApiError => roleRequired(role, rolesWith(need));

export const scopeRefused = (need: Need): ApiError =>
  new ApiError('invalid_authorization', {
    status: 403,
    detail: `The key lacks the scope ${need}. Use a key that has it.`,
    meta: { reason: 'scope', needs: need },
  });

/** Access that a field of a call needs beyond the access of the call. Throws 403 invalid_authorization (role, scope). */
export function requireAccess({ role, scopes, via }: Actor, need: Need): void {
  if (role !== null && !hasRole(role, need)) throw roleRefused(role, need);
  if (via === 'key' && scopes && !hasScope(scopes, need)) throw scopeRefused(need);
}

export const readPerson = createMiddleware<AppEnv>(async (c, next) => {
  await hitCeiling(c);
  const person = c.req.header('Authorization') === undefined ? null : await c.var.authenticate(c, null, { isSelf: true });
  if (person?.via === 'key') throw tokenRequired();
  c.set('caller', person);
  await next();
});

/** True if the request carries a key or a token, valid or not. */
export const showsCredential = ({ req }: Pick<RouteContext, 'req'>): boolean =>
  req.header('X-Svc-Key') !== undefined || req.header('Authorization') !== undefined;

/** Authenticated callers are rate limited by account, anonymous ones by the bucket. */
const readViewer = (bucket: PublicBucketName, scope: Need, subject: Subject, ...checks: Check<ViewerEnv>[]) =>
  createMiddleware<ViewerEnv>(async (c, next) => {
    const caller = showsCredential(c) ? await c.var.authenticate(c, null, { scope }) : null;
    c.set('caller', caller);
    c.set('viewer', caller && tenantOf(caller));
    if (!caller) await countCall(c, bucket, subject);
    for (const check of checks) await check(c);
    await next();
  });

type Security = Record<string, string[]>[];
const MERCHANT: Security = [{ apiKey: [] }, { bearer: [] }];

export interface KindOptions {
  /** `required`: fails without an Idempotency-Key. `none`: accepts no key. */
  key?: 'required' | 'optional' | 'none';
  mode?: 'sandbox' | 'live';
  bucket?: CallBucket | PublicBucketName;
  /** Path parameter, or another subject that separates callers of one bucket. */
  by?: string | Subject;
  /** Callers whom a full bucket does not hold up. */
  known?: KnownCaller;
  limit?: Check<ActorEnv>;
  /** True for a read that a person without a factor may make in every account. */
  needsNoFactor?: true;
  security?: Security;
  guards?: readonly MiddlewareHandler<AppEnv>[];
}
interface Asked extends KindOptions {
  path: string;
  group?: RoleGroup;
  memberParam?: string;
  query?: unknown;
  codes?: readonly Failure[];
  once?: unknown;
  leased?: unknown;
}

export interface Kind {
  security?: Security;
  /** Access that a restricted key or a person's role needs. */
  scope?: Need;
  middleware: MiddlewareHandler | readonly MiddlewareHandler[];
  key: 'required' | 'optional' | 'none';
  takesMode: boolean;
  codes: readonly Failure[];
}

const modeChecks = ({ mode }: Asked): Check<ActorEnv>[] =>
  mode === undefined ? [] : mode === 'live' ? [requireLiveMode] : [requireSandbox];
const isRead = ({ path }: Asked): boolean => path.startsWith('GET ');
function scopeOf(asked: Asked): Need {
  assert(asked.group !== undefined, `${asked.path} has a group`);
  return `${asked.group}:${isRead(asked) ? 'read' : 'write'}`;
}
const takesKey = ({ once, leased, key = once || leased ? 'optional' : 'none' }: Asked): Kind['key'] => key;
const keyCheck = (key: Kind['key']): Check<AppEnv>[] =>
  key === 'none' ? [] : [key === 'required' ? requireIdempotencyKey : requireSoundKey];
/** Requests race for an answer in the database. An object stores its answers itself. */
const keyErrors = (key: Kind['key'], { once, leased }: Asked) =>
  key === 'none' ? [] : key === 'required' && !once && !leased ? idempotencyErrors : racedKeyErrors;
const subjectOf = (by: string | Subject = () => ''): Subject => (typeof by === 'string' ? (c) => c.req.param(by) ?? '' : by);
const openErrors = (asked: Asked, key: Kind['key']): readonly Failure[] => [
  ...(!isRead(asked) ? bodyErrors : asked.path.includes('{') || asked.query ? (['validation_error'] as const) : []),
  ...keyErrors(key, asked),
  ...(asked.codes?.includes('rate_limited') ? [] : (['rate_limited'] as const)),
];

function personKind(asked: Asked): { kind: Omit<Kind, 'middleware'>; checks: Check<ActorEnv>[] } {
  const { limit, key = isRead(asked) ? 'none' : 'optional' } = asked;
  const codes = [...callerErrors, ...(isRead(asked) ? (['validation_error'] as const) : bodyErrors), ...keyErrors(key, asked)];
  return { kind: { security: [{ bearer: [] }], key, takesMode: false, codes }, checks: [...keyCheck(key), ...(limit ? [limit] : [])] };
}

export const KINDS = {
  read: (asked: Asked): Kind => ({
    security: MERCHANT,
    scope: scopeOf(asked),
    middleware: requireActor('read', { scope: scopeOf(asked), needsNoFactor: asked.needsNoFactor }, ...modeChecks(asked)),
    key: 'none',
    takesMode: asked.mode !== 'live',
    codes: [...callerErrors, 'validation_error'],
  }),
  write: (asked: Asked): Kind => {
    const { key = 'optional', bucket = 'requests' } = asked;
    return {
      security: MERCHANT,
      scope: scopeOf(asked),
      middleware: requireActor('execute', { scope: scopeOf(asked), bucket: bucket as CallBucket }, ...modeChecks(asked), ...keyCheck(key)),
      key,
      takesMode: asked.mode !== 'live',
      codes: [...callerErrors, ...bodyErrors, ...keyErrors(key, asked)],
    };
  },
  key: (asked: Asked): Kind => ({
    security: [{ apiKey: [] }],
    scope: scopeOf(asked),
    middleware: requireKey(asked.bucket as CallBucket, scopeOf(asked)),
    key: 'none',
    takesMode: false,
    codes: [...callerErrors, 'validation_error', ...protocolBodyErrors],
  }),
  person: (asked: Asked): Kind => {
    const { kind, checks } = personKind(asked);
    return {
      ...kind,
      scope: scopeOf(asked),
      middleware: requirePerson(scopeOf(asked), asked.memberParam, ...checks, ...modeChecks(asked)),
    };
  },
  self: (asked: Asked): Kind => {
    const { kind, checks } = personKind(asked);
    return { ...kind, middleware: requireSelf(...checks) };
  },
  viewer: (asked: Asked): Kind => {
    const key = takesKey(asked);
    return {
      security: [{}, { apiKey: [] }, { bearer: [] }],
      scope: scopeOf(asked),
      middleware: readViewer(asked.bucket as PublicBucketName, scopeOf(asked), subjectOf(asked.by), ...keyCheck(key)),
      key,
      takesMode: true,
      codes: [...openErrors(asked, key), ...viewerErrors],
    };
  },
  public: (asked: Asked): Kind => {
    const { bucket, by, known, security, guards = [] } = asked;
    const key = takesKey(asked);
    const limit = bucket ? [publicBucket(bucket as PublicBucketName, subjectOf(by), known)] : [];
    const middleware = [...limit, ...guards, ...(key === 'none' ? [] : [checkIdempotencyKey(key)])];
    return { ...(security ? { security } : {}), middleware, key, takesMode: false, codes: openErrors(asked, key) };
  },
} satisfies Record<string, (asked: Asked) => Kind>;

export const merchantBodyErrors = (...codes: Failure[]) => errors(...callerErrors, ...bodyErrors, ...codes);

const isRecent = (ctx: Ctx, at: number | null): boolean => at !== null && ctx.wallNow - at <= ctx.config.FRESH_SIGN_IN_SECONDS * SECOND;

/**
 * True if the person signed in recently to this service, or with a factor, proved it recently. A bare nonce does not count: it names no
 * domain, so a phishing page can obtain its signature.
 */
export const isFreshSignIn = (ctx: Ctx, { signIn, factors }: Actor): boolean =>
  signIn !== null && (factors ? isRecent(ctx, signIn.factorTime) : isRecent(ctx, signIn.authTime) && signIn.method !== 'nonce');

/** Required to change payout addresses or delete the account. Throws 403 sign_in_required, or step_up_required for a person with a factor. */
export function requireFreshSignIn(ctx: Ctx, actor: Actor): void {
  requireStepUp(ctx, actor);
  if (!isFreshSignIn(ctx, actor)) throw signInRequired(ctx, actor);
}

/**
 * Required for live keys, which are revocable, so a bare nonce counts too. Throws 403 sign_in_required, or step_up_required for a person with
 * a factor.
 */
export function requireRecentSignIn(ctx: Ctx, actor: Actor): void {
  requireStepUp(ctx, actor);
  if (!actor.factors && !isRecent(ctx, actor.signIn?.authTime ?? null)) throw signInRequired(ctx, actor);
}

/** Throws 403 step_up_required for a person with a factor that was not proven recently. A caller without a factor passes. */
export function requireStepUp(ctx: Ctx, actor: Actor): void {
  if (actor.factors && !isFreshSignIn(ctx, actor)) throw stepUpRequired(actor.factors);
}

/** Time for which a proof of staff counts: a working day. */
const STAFF_PROOF_MS = 12 * HOUR;

/** Throws 403 factor_required for staff without a factor, step_up_required for an old proof, unless the deployment lets them act without. */
export function requireStaffFactor({ config, wallNow }: Ctx, { via, factors, signIn }: Actor): void {
  if (config.STAFF_FACTOR === 'optional' || via === 'key') return;
  if (!factors) {
    const detail = 'Staff need a second factor. Add a passkey or an authenticator app, then repeat the call.';
    const meta = { reason: 'factor_required', enrol: '/dashboard/security' };
    throw new ApiError('invalid_authorization', { status: 403, detail, meta });
  }
  const { factorTime = null } = signIn ?? {};
  if (factorTime === null || wallNow - factorTime > STAFF_PROOF_MS) throw stepUpRequired(factors);
}

function stepUpRequired(methods: readonly Factor[]): ApiError {
  const detail =
    'The call requires a recent proof of your second factor. Send one to meta.step_up, then repeat the call with the new token.';
  const meta = { reason: 'step_up_required', methods, step_up: '/v1/auth/step-up' };
  return new ApiError('invalid_authorization', { status: 403, detail, meta });
}

function signInRequired({ config }: Ctx, { signIn }: Actor): ApiError {
  const minutes = Math.ceil(config.FRESH_SIGN_IN_SECONDS / 60);
  const isBareNonce = signIn?.method === 'nonce';
  const detail = isBareNonce
    ? 'The session was signed with the bare nonce. Request a new message, sign the whole `message` with the wallet, then repeat the call.'
    : `The call requires a sign-in within the last ${minutes} minutes. Sign in again, then repeat it.`;
  const meta = { reason: 'sign_in_required', ...(isBareNonce ? { sign_in: '/v1/auth/wallet/nonce' } : {}) };
  return new ApiError('invalid_authorization', { status: 403, detail, meta });
}
