/**
 * The record of an Idempotency-Key: whose request it was, what it was told, and for how long that is remembered.
 * @module
 */

import { and, eq, type SQL, sql } from 'drizzle-orm';
import { pepperedHashes, seal, sha256Hex, unseal } from '#core/crypto.ts';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import { ApiError, storyOf } from '#core/errors.ts';
import { DAY, HOUR, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { abortUnlessChanged, type Write } from './commit.ts';
import { type Swept, sweepRounds } from './sweeps.ts';
import { idempotencyRecords } from './tables/idempotency.ts';

export interface IdempotentRequest {
  /** Account or setup intent, livemode, method and concrete path: the same key elsewhere is another request. */
  scope: string;
  key: string;
  /** The body's text as it was received; empty where there was none. */
  text: string;
  keepMs?: number;
  /** Body or answer holds a secret: the fingerprint is keyed and the answer sealed, so that the database holds neither in clear. */
  isSecret?: boolean;
}

/** An answer before it becomes bytes; without a body for 204. `isFinished: false` says that it is to be judged afresh next time. */
export interface Answer {
  status: number;
  body?: unknown;
  isFinished?: false;
}

export interface StoredAnswer {
  status: number;
  body: string;
  replayed: boolean;
}

export const toStoredAnswer = ({ status, body }: Answer): StoredAnswer => ({
  status,
  body: body === undefined ? '' : JSON.stringify(body),
  replayed: false,
});

type IdempotencyRecord = typeof idempotencyRecords.$inferSelect;
const KEEP_MS = 24 * HOUR;
/** Of routes that move money. */
export const MONEY_KEEP_MS = 30 * DAY;

export const newRecord = (ctx: Ctx, request: IdempotentRequest, fence: number) => ({
  scope: request.scope,
  key: request.key,
  fingerprint: fingerprintsOf(ctx, request)[0],
  fence,
  expiresAt: ctx.wallNow + (request.keepMs ?? KEEP_MS),
});

export async function findRecord(ctx: Shard, { scope, key }: IdempotentRequest): Promise<IdempotencyRecord | null> {
  const mine = and(eq(idempotencyRecords.scope, scope), eq(idempotencyRecords.key, key));
  const known = await ctx.db.select().from(idempotencyRecords).where(mine).get();
  return known && known.expiresAt > ctx.wallNow ? known : null;
}

/** Fields of an answer that only the database knows, by the time its batch runs: an id it gave. */
export type LateFields = Record<string, SQL>;

/** Past its life, or a lease that ended without an answer: its holder's fence finishes nothing once the record has another. */
const isOver = (now: number): SQL =>
  sql`(${idempotencyRecords.expiresAt} <= ${now} OR (${idempotencyRecords.status} IS NULL AND ${idempotencyRecords.leaseUntil} <= ${now}))`;

/** A record that is over gives way to the new one; any other fails the batch. */
export async function insertRecord(
  ctx: Shard,
  request: IdempotentRequest,
  { fence, answer: { status, body }, late = {} }: { fence: number; answer: StoredAnswer; late?: LateFields },
): Promise<Write[]> {
  const whole = Object.entries(late).reduce((text, [name, value]) => sql`json_set(${text}, ${`$.${name}`}, ${value})`, sql`${body}`);
  const answer = request.isSecret
    ? { body: null, sealedBody: await seal(ctx.config.SEAL_KEYS, purposeOf(request), body) }
    : { body: whole, sealedBody: null };
  const { scope, key, ...anew } = { ...newRecord(ctx, request, fence), status, ...answer, leaseUntil: null };
  return [
    ctx.db
      .insert(idempotencyRecords)
      .values({ scope, key, ...anew })
      .onConflictDoUpdate({ target: [idempotencyRecords.scope, idempotencyRecords.key], set: anew, setWhere: isOver(ctx.wallNow) }),
    abortUnlessChanged(ctx),
  ];
}

function requireSame(ctx: Ctx, known: IdempotencyRecord, request: IdempotentRequest): void {
  if (!fingerprintsOf(ctx, request).includes(known.fingerprint)) throw new ApiError('idempotency_conflict');
}

/** True for a lease whose holder crashed before it answered; the same request may go on. 409 idempotency_conflict for another body. */
export function isAbandoned(ctx: Ctx, known: IdempotencyRecord, request: IdempotentRequest): boolean {
  requireSame(ctx, known, request);
  return known.status === null && (known.leaseUntil ?? ctx.wallNow) <= ctx.wallNow;
}

/** What a record tells the request that found it. 409 idempotency_conflict for another body, idempotency_in_progress under a lease. */
export async function replayRecord(ctx: Ctx, known: IdempotencyRecord, request: IdempotentRequest): Promise<StoredAnswer> {
  requireSame(ctx, known, request);
  const { status, sealedBody } = known;
  const body = sealedBody === null ? known.body : await openAnswer(ctx, request, sealedBody);
  if (status !== null && body !== null) return { status, body, replayed: true };
  const waitMs = Math.max(SECOND, (known.leaseUntil ?? ctx.wallNow) - ctx.wallNow);
  throw new ApiError('idempotency_in_progress', { retryAfterSeconds: 1, meta: { lease_ms: waitMs } });
}

/** 409 idempotency_conflict where the key it was sealed with is gone from the configuration: that answer cannot be repeated. */
async function openAnswer(ctx: Ctx, request: IdempotentRequest, sealed: string): Promise<string> {
  try {
    return await unseal(ctx.config.SEAL_KEYS, purposeOf(request), sealed);
  } catch (error) {
    ctx.note(`kept answer: ${storyOf(error)}`);
    const detail =
      'The request succeeded, but its stored response cannot be decrypted. Read the created object; a new key creates another one.';
    throw new ApiError('idempotency_conflict', { detail, meta: { reason: 'answer_lost' } });
  }
}

/** A sealed answer opens for its own request alone. */
const purposeOf = ({ scope, key }: IdempotentRequest): string => answerPurpose(`${scope}\n${key}`);
export const answerPurpose = (scopeAndKey: string): string => `idempotency:${scopeAndKey}`;

/**
 * Tells a request from another under its key: SHA-256 of the canonical body as it was received, unknown fields and all. A body with a
 * secret is keyed, under each pepper: a record may hold any of them, a new one holds the first.
 */
export function fingerprintsOf(ctx: Ctx, { text, isSecret }: IdempotentRequest): [string, ...string[]] {
  const canonical = canonicalTextOf(text);
  return isSecret ? pepperedHashes(ctx.config.PEPPER, 'idempotency', canonical) : [sha256Hex(utf8(canonical))];
}

/** RFC 8785 where the text has such a form: a number no double holds, or nesting beyond the stack, has none. */
function canonicalTextOf(text: string): string {
  if (text === '') return 'null';
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
}

const ROUNDS = { max: 500, roundsMax: 40 };

/** Deletes records whose life is over, finished or not: no request reads them any more, and their keys are free. */
export const sweepIdempotencyRecords = (ctx: Shard): Promise<Swept> =>
  sweepRounds(ctx, ROUNDS, async (max) => {
    const ended = sql`rowid IN (SELECT rowid FROM claims WHERE expires_at <= ${ctx.wallNow} ORDER BY expires_at LIMIT ${max})`;
    return (await ctx.db.delete(idempotencyRecords).where(ended)).meta.changes;
  });
