/**
 * Record of an Idempotency-Key: owner, request fingerprint, answer and expiry.
 * @module
 */

import { and, eq, type SQL, sql } from 'drizzle-orm';
import { pepperedHashes, seal, sha256Hex, unseal } from '#core/crypto.ts';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { DAY, HOUR, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { abortUnlessChanged, type Write } from './commit.ts';
import { mayGoOn, type Swept } from './sweeps.ts';
import { cursors } from './tables/candidates.ts';
import { idempotencyRecords } from './tables/idempotency.ts';

export interface IdempotentRequest {
  /** Account or setup intent, livemode, method and concrete path. The same key in another scope is another request. */
  scope: string;
  key: string;
  text: string;
  retentionMs?: number;
  /** True if body or answer holds a secret: the fingerprint is keyed and the answer sealed. */
  isSecret?: boolean;
}

/** Answer before serialization, without a body for 204. `isFinished: false`: the answer is not stored. */
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
export const ANSWER_RETENTION_MS = 24 * HOUR;
export const MONEY_RETENTION_MS = 30 * DAY;

export const newRecord = (ctx: Ctx, request: IdempotentRequest, fence: number) => ({
  scope: request.scope,
  key: request.key,
  fingerprint: fingerprintsOf(ctx, request)[0],
  fence,
  expiresAt: ctx.wallNow + (request.retentionMs ?? ANSWER_RETENTION_MS),
});

export async function findRecord(ctx: Shard, { scope, key }: IdempotentRequest): Promise<IdempotencyRecord | null> {
  const mine = and(eq(idempotencyRecords.scope, scope), eq(idempotencyRecords.key, key));
  const known = await ctx.db.select().from(idempotencyRecords).where(mine).get();
  return known && known.expiresAt > ctx.wallNow ? known : null;
}

export type LateFields = Record<string, SQL>;

/** Expired, or a lease that expired without an answer. The old holder's fence finishes nothing after a takeover. */
const isOver = (now: number): SQL =>
  sql`(${idempotencyRecords.expiresAt} <= ${now} OR (${idempotencyRecords.status} IS NULL AND ${idempotencyRecords.leaseUntil} <= ${now}))`;

/** Inserts a record over an expired one. Any other existing record aborts the batch. */
export async function insertRecord(
  ctx: Shard,
  request: IdempotentRequest,
  { fence, answer: { status, body }, late = {} }: { fence: number; answer: StoredAnswer; late?: LateFields },
): Promise<Write[]> {
  const fields = Object.entries(late);
  const withLate = () => fields.reduce((text, [name, value]) => sql`json_set(${text}, ${`$.${name}`}, ${value})`, sql`${body}`);
  const answer = request.isSecret
    ? { body: null, sealedBody: await seal(ctx.config.SEAL_KEYS, purposeOf(request), body) }
    : { body: fields.length > 0 ? withLate() : body, sealedBody: null };
  const { scope, key, ...values } = { ...newRecord(ctx, request, fence), status, ...answer, leaseUntil: null };
  return [
    ctx.db
      .insert(idempotencyRecords)
      .values({ scope, key, ...values })
      .onConflictDoUpdate({ target: [idempotencyRecords.scope, idempotencyRecords.key], set: values, setWhere: isOver(ctx.wallNow) }),
    abortUnlessChanged(ctx),
  ];
}

function requireSame(ctx: Ctx, known: IdempotencyRecord, request: IdempotentRequest): void {
  if (!fingerprintsOf(ctx, request).includes(known.fingerprint)) throw new ApiError('idempotency_conflict');
}

/** True for the lease of a crashed holder, which the same request may take over. Throws 409 idempotency_conflict for another body. */
export function isAbandoned(ctx: Ctx, known: IdempotencyRecord, request: IdempotentRequest): boolean {
  requireSame(ctx, known, request);
  return known.status === null && (known.leaseUntil ?? ctx.wallNow) <= ctx.wallNow;
}

/**
 * Returns the stored answer to the same request. Throws 409 idempotency_conflict for another body, idempotency_in_progress under a lease.
 */
export async function replayRecord(ctx: Ctx, known: IdempotencyRecord, request: IdempotentRequest): Promise<StoredAnswer> {
  requireSame(ctx, known, request);
  const { status, sealedBody } = known;
  const body = sealedBody === null ? known.body : await openAnswer(ctx, request, sealedBody);
  if (status !== null && body !== null) return { status, body, replayed: true };
  const waitMs = Math.max(SECOND, (known.leaseUntil ?? ctx.wallNow) - ctx.wallNow);
  throw new ApiError('idempotency_in_progress', { retryAfterSeconds: 1, meta: { lease_ms: waitMs } });
}

/** Throws 409 idempotency_conflict if the sealing key left the configuration, because the answer cannot be repeated. */
async function openAnswer(ctx: Ctx, request: IdempotentRequest, sealed: string): Promise<string> {
  try {
    return await unseal(ctx.config.SEAL_KEYS, purposeOf(request), sealed);
  } catch (error) {
    ctx.note(`kept answer: ${formatErrorChain(error)}`);
    const detail =
      'The request succeeded, but its stored response cannot be decrypted. Read the created object; a new key creates another one.';
    throw new ApiError('idempotency_conflict', { detail, meta: { reason: 'answer_lost' } });
  }
}

const purposeOf = ({ scope, key }: IdempotentRequest): string => answerPurpose(`${scope}\n${key}`);
export const answerPurpose = (scopeAndKey: string): string => `idempotency:${scopeAndKey}`;

/**
 * Fingerprints of a request: SHA-256 of the canonical body as received, unknown fields included. With a secret the hash is keyed under each
 * pepper: an old record may use any, a new one uses the first.
 */
export function fingerprintsOf(ctx: Ctx, { text, isSecret }: IdempotentRequest): [string, ...string[]] {
  const canonical = canonicalTextOf(text);
  return isSecret ? pepperedHashes(ctx.config.PEPPER, 'idempotency', canonical) : [sha256Hex(utf8(canonical))];
}

/** RFC 8785 form. Returns the text unchanged for numbers beyond a double or nesting beyond the stack. */
function canonicalTextOf(text: string): string {
  if (text === '') return 'null';
  try {
    return canonicalJson(JSON.parse(text));
  } catch {
    return text;
  }
}

const PAGE_MAX = 2_000;
const PAGES_MAX = 10;
const CURSOR = 'idempotency';
type Position = Pick<IdempotencyRecord, 'scope' | 'key'>;

const at = ({ scope, key }: Position): SQL => sql`(${scope}, ${key})`;

async function findPosition({ db }: Shard): Promise<Position> {
  const [known] = await db.select({ last: cursors.walkBefore }).from(cursors).where(eq(cursors.name, CURSOR));
  return JSON.parse(known?.last ?? '{"scope":"","key":""}');
}

const savePosition = ({ db, wallNow }: Shard, last: Position) =>
  db
    .insert(cursors)
    .values({ name: CURSOR, walkBefore: JSON.stringify(last), passedAt: wallNow, version: 1 })
    .onConflictDoUpdate({ target: cursors.name, set: { walkBefore: JSON.stringify(last), passedAt: wallNow } });

/**
 * Deletes expired records on a walk through the table, and continues where the last run ended. An index of expiries would cost a row for
 * each record, while a record may be deleted late: `findRecord` ignores it from its expiry on.
 */
export async function sweepIdempotencyRecords(ctx: Shard): Promise<Swept> {
  const start = await findPosition(ctx);
  let [taken, last]: [number, Position] = [0, start];
  let end: Swept['end'] = 'bound';
  for (let page = 0; page < PAGES_MAX && mayGoOn(ctx); page++) {
    const isAhead = sql`(scope, key) > ${at(last)}`;
    const [pageEnd] = await ctx.db.all<Position>(
      sql`SELECT scope, key FROM claims WHERE ${isAhead} ORDER BY scope, key LIMIT 1 OFFSET ${PAGE_MAX - 1}`,
    );
    const isOfPage = pageEnd ? sql`${isAhead} AND (scope, key) <= ${at(pageEnd)}` : isAhead;
    taken += (await ctx.db.delete(idempotencyRecords).where(sql`${isOfPage} AND expires_at <= ${ctx.wallNow}`)).meta.changes;
    last = pageEnd ?? { scope: '', key: '' };
    if (pageEnd) continue;
    end = 'empty';
    break;
  }
  if (last.key !== start.key || last.scope !== start.scope) await savePosition(ctx, last);
  return { taken, end };
}
