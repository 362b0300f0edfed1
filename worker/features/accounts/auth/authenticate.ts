import { ApiError, unreachable } from '#core/errors.ts';
import { admissionIdOf } from '#core/ids.ts';
import type { Actor, Ctx } from '#platform/context.ts';
import { findAnywhere } from '#platform/db/directory.ts';
import type { RouteContext } from '#platform/http/openapi.ts';
import { countRefusedCredential, rateHeaders, rateLimited, requireRefusalsLeft } from '#platform/http/rate-limit.ts';
import { admissionObject } from '#platform/objects.ts';
import type { AdmissionAnswer, AdmissionRequest, AdmissionRpc, Credential, Permission, RefusalReason, SignIn } from '#rules/admission.ts';
import type { CallBucket } from '#rules/plans.ts';
import { parseRawKey } from '../keys/raw-key.ts';
import { findAdmission } from '../store.ts';
import { readToken } from './tokens.ts';

interface Presented {
  admissionId: string;
  /** The forms under which the account may know it; the first known one counts. */
  credentials: Credential[];
  signIn: SignIn | null;
  /** Its own digits prove that this service made it. */
  isVouched: boolean;
}

/**
 * Credential -> Actor, in one call to the account's admission object; no database once the object has loaded the account.
 * Refuses with 401 (no or bad credential), 403 (suspended, deleted, scope, mode) or 429.
 */
export async function authenticate(c: RouteContext, permission: Permission | null, bucket: CallBucket = 'requests'): Promise<Actor> {
  const { ctx } = c.var;
  const presented = await readCredential(c, ctx);
  // Keys of the first round can be made up by any caller, so they are looked up only for those who have refusals left.
  if (!presented.isVouched) requireRefusalsLeft(c);
  const mode = modeOf(c);
  const request = {
    permission,
    mode: mode === 'unknown' ? null : mode,
    bucket,
    rateMultiplier: ctx.config.RATE_MULTIPLIER,
    now: ctx.now,
    wallNow: ctx.wallNow,
  };
  const answer = c.var.told?.admission ?? (await admit(ctx, presented, request));
  const keyId = answer.ok ? answer.caller.keyId : 'keyId' in answer && answer.keyId;
  if (keyId) c.set('key', { keyId, admissionId: presented.admissionId });
  if ('rate' in answer && answer.rate) for (const [name, value] of Object.entries(rateHeaders(answer.rate))) c.header(name, value);
  if (!answer.ok) {
    ctx.note(`refused: ${answer.reason}`);
    if (answer.reason === 'rate' && answer.rate) throw rateLimited(answer.rate, ctx.wallNow);
    return refuse(c, answer.reason);
  }
  if (mode === 'unknown') throw new ApiError('validation_error', { problems: [UNKNOWN_MODE] });
  return { ...answer.caller, via: presented.credentials[0]!.kind, signIn: presented.signIn };
}

/** Refuses a bad credential and counts it against the caller's address: 401 or 403, and 429 after too many. */
async function refuse(c: RouteContext, reason: RefusalReason | 'unknown', detail?: string): Promise<never> {
  const error = refusal(reason, detail);
  if (error.status === 401) await countRefusedCredential(c);
  throw error;
}

/** A key of the first round does not tell its pepper, so while there are several its hash under each is asked for. */
async function admit(ctx: Ctx, presented: Presented, request: Omit<AdmissionRequest, 'credential'>): Promise<AdmissionAnswer> {
  let answer: AdmissionAnswer = { ok: false, reason: 'unknown_key' };
  for (const credential of presented.credentials) {
    answer = await admitOne(ctx, presented.admissionId, { ...request, credential });
    if (answer.ok || answer.reason !== 'unknown_key') break;
  }
  return answer;
}

async function admitOne(ctx: Ctx, admissionId: string, request: AdmissionRequest): Promise<AdmissionAnswer> {
  // Nothing is written for a stranger: a made-up key must not leave an object behind.
  return (await askAccount(ctx, admissionId, (object) => object.admit(request))) ?? { ok: false, reason: 'unknown_key' };
}

/** Asks an account's object, which is told the account from the database where it has none yet. null: there is no such account. */
async function askAccount<A extends { ok: boolean }>(
  ctx: Ctx,
  admissionId: string,
  ask: (object: AdmissionRpc) => Promise<A | { ok: false; reason: 'unknown' }>,
): Promise<A | { ok: false; reason: 'unknown' } | null> {
  const object = admissionObject(ctx, `account:${admissionId}`);
  const answer = await ask(object);
  if (answer.ok || !('reason' in answer) || answer.reason !== 'unknown') return answer;
  const known = await findAnywhere(ctx, ({ db }) => findAdmission(db, admissionId));
  if (!known) return null;
  await object.load(known.account, known.keys);
  return ask(object);
}

/**
 * Counts a call that another party makes on what a merchant sells, in the merchant's bucket, in one call to the object of the account. 404
 * where there is no such merchant, 429 where the bucket is full.
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

/** The token of the Authorization header, or null. */
export const bearerOf = (c: RouteContext): string | null => /^Bearer +([\w.-]+)$/i.exec(c.req.header('Authorization') ?? '')?.[1] ?? null;

async function readCredential(c: RouteContext, ctx: Ctx): Promise<Presented> {
  const bearer = bearerOf(c);
  // A key is taken where a token would stand, too: some clients can set no other header.
  const rawKey = c.req.header('X-Svc-Key') ?? (bearer?.startsWith('svc_') ? bearer : undefined);
  if (rawKey !== undefined) {
    const parsed = parseRawKey(ctx, rawKey);
    if (!parsed) return refuse(c, 'unknown_key', 'The API key is not of this deployment. Check that it was copied completely.');
    const { admissionId, keyHashes, isVouched } = parsed;
    return { admissionId, credentials: keyHashes.map((keyHash) => ({ kind: 'key', keyHash })), signIn: null, isVouched };
  }
  const claims = bearer ? await readToken(ctx, bearer) : null;
  if (!claims) {
    if (bearer === null) throw new ApiError('invalid_authorization');
    return refuse(c, 'stale_token');
  }
  const credentials: Credential[] = [{ kind: 'jwt', accountId: claims.sub, tokenVersion: claims.ver }];
  return { admissionId: admissionIdOf(claims.sub), credentials, signIn: claims.signIn, isVouched: true };
}

const UNKNOWN_MODE = { loc: ['query', 'mode'], msg: 'Expected live or sandbox', type: 'invalid_value' };

/** The mode asked for in words; null where none is. One that does not exist is refused after who calls is known. */
function modeOf(c: RouteContext): 'live' | 'sandbox' | 'unknown' | null {
  const mode = c.req.query('mode');
  // Routes of sign-in have a word of that name for something else.
  if (mode === undefined || c.req.path.startsWith('/v1/auth/oauth/')) return null;
  return mode === 'live' || mode === 'sandbox' ? mode : 'unknown';
}

/** Many internal reasons, few public words: an outsider learns nothing from the difference. */
function refusal(reason: RefusalReason | 'unknown', detail?: string): ApiError {
  switch (reason) {
    case 'unknown':
    case 'unknown_key':
    case 'revoked':
    case 'stale_token':
      return new ApiError('invalid_authorization', detail === undefined ? {} : { detail });
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
