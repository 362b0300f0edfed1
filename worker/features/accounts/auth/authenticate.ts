import { ApiError, notAMember, sessionEnded, unreachable } from '#core/errors.ts';
import { type AccountId, admissionIdOf, partitionOfAdmission } from '#core/ids.ts';
import type { Actor, Ctx } from '#platform/context.ts';
import { findShardAt } from '#platform/db/directory.ts';
import { roleRefused, scopeRefused } from '#platform/http/callers.ts';
import { type AskedAccess, given, type RouteContext } from '#platform/http/openapi.ts';
import { countRefusedCredential, ipOf, rateHeaders, rateLimited, requireRefusalsLeft } from '#platform/http/rate-limit.ts';
import { admissionObject } from '#platform/objects.ts';
import type { Need, Role } from '#rules/access/roles.ts';
import type { Factor } from '#rules/access/sessions.ts';
import type { AdmissionAnswer, AdmissionRequest, AdmissionRpc, Credential, Permission, RefusalReason, SignIn } from '#rules/admission.ts';
import type { CallBucket } from '#rules/plans.ts';
import { parseRawKey } from '../keys/raw-key.ts';
import { findAdmission } from '../store.ts';

interface Presented {
  admissionId: string;
  credentials: Credential[];
  signIn: SignIn | null;
  /** Person of a token, and the account that the token acts on. */
  personId: AccountId | null;
  actsOn?: AccountId;
  /** Factors of a person in the account of another. */
  factors?: readonly Factor[];
  tokenVersion?: number;
  /** True if the key's own MAC digits prove that this service issued the key. */
  isVouched: boolean;
}

/**
 * Authenticates the caller with one call to the account's admission object, without a database read once the object has loaded the account.
 * Throws 401 (no or bad credential), 403 (suspended, deleted, scope, mode) or 429.
 */
export async function authenticate(
  c: RouteContext,
  permission: Permission | null,
  { bucket = 'requests', scope, unlessBy, isSelf = false, needsNoFactor = isSelf }: AskedAccess = {},
): Promise<Actor> {
  const { ctx } = c.var;
  const presented = await readCredential(c, ctx, isSelf);
  // Any caller can invent a key of the first format, so the database is asked for such keys only for callers with refusals left.
  if (!presented.isVouched) requireRefusalsLeft(c);
  const mode = modeOf(c);
  // Members always may leave.
  const isAboutSelf = presented.personId !== null && presented.personId === unlessBy;
  const request = {
    permission,
    scope: isAboutSelf ? null : (scope ?? null),
    ip: ipOf(c),
    mode: mode === 'unknown' ? null : mode,
    bucket,
    rateMultiplier: ctx.config.RATE_MULTIPLIER,
    now: ctx.now,
    wallNow: ctx.wallNow,
    ...(isSelf && presented.actsOn !== presented.personId && { isElsewhere: true as const }),
    ...((needsNoFactor || isAboutSelf) && { needsNoFactor: true as const }),
    ...(c.var.isInner && { isInner: true as const }),
  };
  if (isSelf) await requireMember(c, presented, request);
  const answer = c.var.admitted?.admission ?? (await admit(ctx, presented, request));
  const keyId = answer.ok ? answer.caller.keyId : 'keyId' in answer && answer.keyId;
  if (keyId) c.set('key', { keyId, admissionId: presented.admissionId });
  if ('rate' in answer && answer.rate) for (const [name, value] of Object.entries(rateHeaders(answer.rate))) c.header(name, value);
  if (!answer.ok) {
    ctx.note(`refused: ${answer.reason}`);
    if (answer.reason === 'rate' && answer.rate) throw rateLimited(answer.rate, ctx.wallNow);
    if (answer.reason === 'role' && 'role' in answer && answer.role && presented.personId && presented.actsOn)
      c.set('refusedMember', {
        accountId: presented.actsOn,
        personId: presented.personId,
        role: answer.role,
        livemode: mode !== 'sandbox',
      });
    return refuse(c, answer.reason, { needs: scope, role: 'role' in answer ? answer.role : undefined });
  }
  if (mode === 'unknown') throw new ApiError('validation_error', { problems: [UNKNOWN_MODE] });
  return {
    ...answer.caller,
    via: presented.personId === null ? 'key' : 'jwt',
    signIn: presented.signIn,
    ...given('actsOn', presented.actsOn ?? null),
    ...given('tokenVersion', presented.tokenVersion ?? null),
    ...given('factors', presented.factors ?? answer.caller.factors ?? null),
  };
}

/** Throws 401 not_a_member if the person of a token has left the account that it acts on. Calls about the person check it too. */
async function requireMember(
  c: RouteContext,
  { personId, actsOn }: Presented,
  request: Omit<AdmissionRequest, 'credential'>,
): Promise<void> {
  if (personId === null || actsOn === undefined || actsOn === personId) return;
  const credential = { kind: 'member' as const, accountId: actsOn, personId, hasFactor: true };
  const answer = await admitOne(c.var.ctx, admissionIdOf(actsOn), { ...request, credential });
  if (!answer.ok && (answer.reason === 'not_a_member' || answer.reason === 'unknown_key')) await refuse(c, 'not_a_member');
}

interface Said {
  detail?: string;
  needs?: Need | undefined;
  role?: Role | undefined;
}

/** Throws 401 or 403 for a bad credential and counts the refusal against the caller's address. Throws 429 after too many. */
async function refuse(c: RouteContext, reason: RefusalReason | 'unknown', said: Said = {}): Promise<never> {
  const error = refusal(reason, said);
  if (error.status === 401) await countRefusedCredential(c);
  throw error;
}

/** A key of the first format does not identify its pepper, so each hash is tried while there are several peppers. */
async function admit(ctx: Ctx, presented: Presented, request: Omit<AdmissionRequest, 'credential'>): Promise<AdmissionAnswer> {
  let answer: AdmissionAnswer = { ok: false, reason: 'unknown_key' };
  for (const credential of presented.credentials) {
    answer = await admitOne(ctx, presented.admissionId, { ...request, credential });
    if (answer.ok || answer.reason !== 'unknown_key') break;
  }
  return answer;
}

async function admitOne(ctx: Ctx, admissionId: string, request: AdmissionRequest): Promise<AdmissionAnswer> {
  // Writes nothing for an unknown account: a made-up key must not create an object.
  return (await askAccount(ctx, admissionId, (object) => object.admit(request))) ?? { ok: false, reason: 'unknown_key' };
}

async function askAccount<A extends { ok: boolean }>(
  ctx: Ctx,
  admissionId: string,
  ask: (object: AdmissionRpc) => Promise<A | { ok: false; reason: 'unknown' }>,
): Promise<A | { ok: false; reason: 'unknown' } | null> {
  const object = admissionObject(ctx, `account:${admissionId}`);
  const answer = await ask(object);
  if (answer.ok || !('reason' in answer) || answer.reason !== 'unknown') return answer;
  const home = findShardAt(ctx, partitionOfAdmission(admissionId));
  const known = home && (await findAdmission(home.db, admissionId));
  if (!known) return null;
  await object.load(known.account, known.keys);
  return ask(object);
}

/**
 * Counts a call by another party on a merchant's product in the merchant's bucket, with one call to the account's object. Throws 404 if the
 * merchant does not exist, 429 if the bucket is full.
 */
export async function countForMerchant(
  c: RouteContext,
  { merchantId, livemode }: { merchantId: string; livemode: boolean },
  bucket: CallBucket,
): Promise<void> {
  const { config, now, wallNow } = c.var.ctx;
  const call = { bucket, livemode, rateMultiplier: config.RATE_MULTIPLIER, now, wallNow };
  const counted = await askAccount(c.var.ctx, admissionIdOf(merchantId), (object) => object.count(call));
  if (counted === null || !('rate' in counted)) throw new ApiError('not_found');
  for (const [name, value] of Object.entries(rateHeaders(counted.rate))) c.header(name, value);
  if (!counted.ok) throw rateLimited(counted.rate, wallNow);
}

export const bearerOf = (c: RouteContext): string | null => /^Bearer +([\w.-]+)$/i.exec(c.req.header('Authorization') ?? '')?.[1] ?? null;

async function readCredential(c: RouteContext, ctx: Ctx, isSelf: boolean): Promise<Presented> {
  const bearer = bearerOf(c);
  // Accepts a key as a bearer token too, because some clients can set no other header.
  const rawKey = c.req.header('X-Svc-Key') ?? (bearer?.startsWith('svc_') ? bearer : undefined);
  if (rawKey !== undefined) {
    const parsed = parseRawKey(ctx, rawKey);
    if (!parsed) return refuse(c, 'unknown_key', { detail: 'The API key is not of this deployment. Check that it was copied completely.' });
    const { admissionId, keyHashes, isVouched } = parsed;
    return { admissionId, credentials: keyHashes.map((keyHash) => ({ kind: 'key', keyHash })), signIn: null, personId: null, isVouched };
  }
  // Loaded on demand, because most calls are made by servers with a key.
  const claims = bearer ? await (await import('./tokens.ts')).readToken(ctx, bearer) : null;
  if (!claims) {
    if (bearer === null) throw new ApiError('invalid_authorization');
    return refuse(c, 'stale_token');
  }
  const { sub: personId, acc: accountId = personId, signIn } = claims;
  const session = { sessionId: claims.sid, tokenVersion: claims.ver };
  const ofPerson = { signIn, personId, actsOn: accountId, tokenVersion: claims.ver, isVouched: true };
  if (isSelf || accountId === personId)
    return { ...ofPerson, admissionId: admissionIdOf(personId), credentials: [{ kind: 'jwt', accountId: personId, ...session }] };
  // The person's own object knows the session, the account's object the role.
  const person = await askAccount(ctx, admissionIdOf(personId), (object) => object.admitPerson(session, ctx.wallNow));
  if (!person?.ok) return refuse(c, person?.reason ?? 'stale_token');
  const { factors = null } = person;
  return {
    ...ofPerson,
    ...given('factors', factors),
    admissionId: admissionIdOf(accountId),
    credentials: [{ kind: 'member', accountId, personId, hasFactor: factors !== null }],
  };
}

const UNKNOWN_MODE = { loc: ['query', 'mode'], msg: 'Expected live or sandbox', type: 'invalid_value' };

function modeOf(c: RouteContext): 'live' | 'sandbox' | 'unknown' | null {
  const mode = c.req.query('mode');
  // Sign-in routes use the `mode` parameter for something else.
  if (mode === undefined || c.req.path.startsWith('/v1/auth/oauth/')) return null;
  return mode === 'live' || mode === 'sandbox' ? mode : 'unknown';
}

/** Maps many internal reasons to few public messages, so that an outsider learns nothing from the difference. */
function refusal(reason: RefusalReason | 'unknown', { detail, needs, role }: Said): ApiError {
  switch (reason) {
    case 'unknown':
    case 'unknown_key':
    case 'revoked':
    case 'stale_token':
      return new ApiError('invalid_authorization', detail === undefined ? {} : { detail });
    case 'session_ended':
      return sessionEnded();
    case 'not_a_member':
      return notAMember();
    case 'expired':
      return new ApiError('invalid_authorization', {
        detail: 'The key has expired. Create another one, or move its end while it still works.',
        meta: { reason: 'expired' },
      });
    case 'address':
      return new ApiError('invalid_authorization', {
        status: 403,
        detail: 'The key is not accepted from this address. Its owner decides from which networks it is.',
        meta: { reason: 'ip_not_allowed' },
      });
    case 'scope':
      return scopeRefused(needs!);
    case 'factor':
      return new ApiError('invalid_authorization', {
        status: 403,
        detail: 'The account requires a second factor of its members. Add a passkey or an authenticator app, then repeat the call.',
        meta: { reason: 'factor_required', enrol: '/dashboard/security' },
      });
    case 'role':
      return roleRefused(role!, needs!);
    case 'account_suspended':
    case 'account_deleted':
      return new ApiError(reason);
    case 'permission':
      return new ApiError('invalid_authorization', {
        status: 403,
        detail: 'The key lacks the required permission. Use a key with execute.',
        meta: { reason: 'permission' },
      });
    case 'mode':
      return new ApiError('invalid_authorization', {
        status: 403,
        detail: 'The key belongs to the other mode. Use a key of this mode.',
        meta: { reason: 'mode' },
      });
    case 'rate':
      return new ApiError('rate_limited', { retryAfterSeconds: 1 });
    default:
      return unreachable(reason);
  }
}
