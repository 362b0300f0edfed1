import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { pepperedHashes } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import { IDEMPOTENCY_KEY } from '#core/limits.ts';
import type { Actor } from '#platform/context.ts';
import type { IdempotentRequest, StoredAnswer } from '#platform/db/idempotency-record.ts';
import type { AppEnv, RouteContext } from './openapi.ts';
import { callerOf } from './rate-limit.ts';

/** Throws unless the key is present, short enough and visible ASCII, checked in this order. */
function requireWellFormed(key: string): void {
  if (key.length < IDEMPOTENCY_KEY.min) throw new ApiError('idempotency_key_required');
  if (key.length > IDEMPOTENCY_KEY.max) throw new ApiError('idempotency_key_too_long');
  if (!/^[\x21-\x7e]+$/.test(key)) throw new ApiError('idempotency_key_invalid');
}

export const requireIdempotencyKey = (c: RouteContext): void => requireWellFormed(c.req.header('Idempotency-Key') ?? '');

export function requireSoundKey(c: RouteContext): void {
  const key = c.req.header('Idempotency-Key');
  if (key !== undefined) requireWellFormed(key);
}

export const checkIdempotencyKey = (key: 'required' | 'optional') =>
  createMiddleware<AppEnv>(async (c, next) => {
    if (key === 'required') requireIdempotencyKey(c);
    else requireSoundKey(c);
    await next();
  });

const KeyBody = z
  .string()
  .openapi({ minLength: IDEMPOTENCY_KEY.min, maxLength: IDEMPOTENCY_KEY.max, example: '0b6f6a9e-5f0e-4f0c-9d7e-2f4f0f3f6a51' })
  .describe('Unique key of this request. A repeated request has no second effect. Without a credential, the key counts per IP address.');
/** Documents the header. The route's middleware enforces it, because a missing key has its own error. */
export const IdempotencyHeader = z.object({ 'Idempotency-Key': KeyBody });
export const OptionalIdempotencyHeader = z.object({ 'Idempotency-Key': KeyBody.optional() });

export const malformedKeyErrors = ['idempotency_key_required', 'idempotency_key_too_long', 'idempotency_key_invalid'] as const;
export const idempotencyErrors = [...malformedKeyErrors, 'idempotency_conflict', 'idempotency_in_progress'] as const;

export const racedKeyErrors = [...idempotencyErrors, 'idempotency_race'] as const;

export interface KeyOptions {
  retentionMs?: number;
  isSecret?: boolean;
}

/**
 * Separates anonymous callers by address, so that none receives the answer to another's guessable key. The address is hashed with the
 * oldest pepper, so that a new pepper does not change repeated requests. A connector proved its secret, so its address is ignored.
 */
function strangerOf(c: RouteContext): string {
  if (c.var.isConnector) return 'connector';
  return `public:${pepperedHashes(c.var.ctx.config.PEPPER, 'address', callerOf(c).address).at(-1)}`;
}

/** Separates members of an account: a stored answer may contain what only its receiver proved a factor for, such as a raw key. */
const memberOf = ({ accountId, personId }: Actor): string => (personId === null || personId === accountId ? '' : `:${personId}`);

/** Identity of a request: caller, mode, concrete path, key and body. */
export async function idempotentRequest(c: RouteContext, options: KeyOptions = {}): Promise<IdempotentRequest> {
  const { caller } = c.var;
  const who = caller ? `${caller.accountId}:${caller.livemode ? 'live' : 'sandbox'}${memberOf(caller)}` : strangerOf(c);
  return {
    scope: `${who}:${c.req.method} ${c.req.path}`,
    key: c.req.header('Idempotency-Key')!,
    text: await c.req.text(),
    ...options,
  };
}

export const keyedRequest = async (c: RouteContext, options: KeyOptions = {}): Promise<IdempotentRequest | null> =>
  c.req.header('Idempotency-Key') === undefined ? null : idempotentRequest(c, options);

/** Sends the stored answer byte for byte, and marks a replay. */
export function sendAnswer(c: RouteContext, { status, body, replayed }: StoredAnswer): never {
  if (replayed) c.header('Idempotent-Replayed', 'true');
  // The bytes follow the route's own schema. The framework types only answers that it serializes itself.
  if (body === '') return c.body(null, status as 204) as never;
  return c.body(body, status as 200, { 'content-type': 'application/json' }) as never;
}
