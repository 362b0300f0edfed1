import { z } from '@hono/zod-openapi';
import { createMiddleware } from 'hono/factory';
import { pepperedHashes } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import { IDEMPOTENCY_KEY } from '#core/limits.ts';
import type { IdempotentRequest, StoredAnswer } from '#platform/db/idempotency-record.ts';
import type { AppEnv, RouteContext } from './openapi.ts';
import { callerOf } from './rate-limit.ts';

/** In this order: there, not too long, only visible ASCII. */
function requireWellFormed(key: string): void {
  if (key.length < IDEMPOTENCY_KEY.min) throw new ApiError('idempotency_key_required');
  if (key.length > IDEMPOTENCY_KEY.max) throw new ApiError('idempotency_key_too_long');
  if (!/^[\x21-\x7e]+$/.test(key)) throw new ApiError('idempotency_key_invalid');
}

export const requireIdempotencyKey = (c: RouteContext): void => requireWellFormed(c.req.header('Idempotency-Key') ?? '');

/** Where a key is not asked for, one that is sent has to be one. */
export function requireSoundKey(c: RouteContext): void {
  const key = c.req.header('Idempotency-Key');
  if (key !== undefined) requireWellFormed(key);
}

/** The same, for routes without a caller. */
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
/** Described here, enforced by the route's middleware: a missing key has an error of its own. */
export const IdempotencyHeader = z.object({ 'Idempotency-Key': KeyBody });
export const OptionalIdempotencyHeader = z.object({ 'Idempotency-Key': KeyBody.optional() });

/** Of a key that is none. */
export const malformedKeyErrors = ['idempotency_key_required', 'idempotency_key_too_long', 'idempotency_key_invalid'] as const;
export const idempotencyErrors = [...malformedKeyErrors, 'idempotency_conflict', 'idempotency_in_progress'] as const;

/** Errors of routes that take a key where one is sent. */
export const optionalKeyErrors = [...idempotencyErrors, 'idempotency_race'] as const;

export interface KeyOptions {
  keepMs?: number;
  isSecret?: boolean;
}

/**
 * Callers without a credential are told apart by address, so that none has the answer to another's guessable key. The oldest pepper hashes
 * it: a new one does not turn a repeated request into another. A connector, which showed a secret, may call from any address.
 */
function strangerOf(c: RouteContext): string {
  if (c.var.isConnector) return 'connector';
  return `public:${pepperedHashes(c.var.ctx.config.PEPPER, 'address', callerOf(c).address).at(-1)}`;
}

/** What makes two requests the same one: who, in which mode, to which concrete path, under which key, with which body. */
export async function idempotentRequest(c: RouteContext, options: KeyOptions = {}): Promise<IdempotentRequest> {
  const { caller } = c.var;
  const who = caller ? `${caller.accountId}:${caller.livemode ? 'live' : 'sandbox'}` : strangerOf(c);
  return {
    scope: `${who}:${c.req.method} ${c.req.path}`,
    key: c.req.header('Idempotency-Key')!,
    text: await c.req.text(),
    ...options,
  };
}

/** The request whose answer is stored; null without an Idempotency-Key. */
export const keyedRequest = async (c: RouteContext, options: KeyOptions = {}): Promise<IdempotentRequest | null> =>
  c.req.header('Idempotency-Key') === undefined ? null : idempotentRequest(c, options);

/** Sends the stored answer, byte for byte, and says whether it is a repetition. */
export function sendAnswer(c: RouteContext, { status, body, replayed }: StoredAnswer): never {
  if (replayed) c.header('Idempotent-Replayed', 'true');
  // Its bytes were made from the route's own schema; the framework types only what it serialises itself.
  if (body === '') return c.body(null, status as 204) as never;
  return c.body(body, status as 200, { 'content-type': 'application/json' }) as never;
}
