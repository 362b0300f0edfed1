/**
 * The record of an Idempotency-Key: whose request it was, what it was told, and for how long that is remembered.
 * @module
 */
import { and, eq, lte, type SQL, sql } from 'drizzle-orm';
import type { Ctx } from '../context.ts';
import { pepperedHash, seal, sha256Hex, unseal } from '../core/crypto.ts';
import { canonicalJson, utf8 } from '../core/encoding.ts';
import { ApiError } from '../core/errors.ts';
import { DAY, HOUR, SECOND } from '../core/time.ts';
import { vetoUnlessChanged, type Write } from './commit.ts';
import { claims } from './messaging.ts';
import { type Swept, sweepRounds } from './sweep-pages.ts';

export interface IdempotentRequest {
  /** Account or setup intent, livemode, method and concrete path: the same key elsewhere is another request. */
  scope: string;
  key: string;
  /** The body's text as it was received; empty where there was none. */
  text: string;
  /** The body as the route read it: what the release before fingerprinted, whose records live for up to 30 days. */
  validated?: unknown;
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

type IdempotencyRecord = typeof claims.$inferSelect;
const KEEP_MS = 24 * HOUR;
/** Of routes that move money. */
export const MONEY_KEEP_MS = 30 * DAY;

/** A fence must not come again, also not after its record was deleted, or a holder that slept could finish another's request. */
export function newFence(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number];
  // 53 bits: as many as a number holds exactly, in JavaScript and in the column.
  return (high >>> 11) * 2 ** 32 + low;
}

export const newRecord = (ctx: Ctx, request: IdempotentRequest, fence: number) => ({
  scope: request.scope,
  key: request.key,
  fingerprint: fingerprintOf(ctx, request),
  fence,
  expiresAt: ctx.now + (request.keepMs ?? KEEP_MS),
});

export async function findRecord(ctx: Ctx, { scope, key }: IdempotentRequest): Promise<IdempotencyRecord | null> {
  const mine = and(eq(claims.scope, scope), eq(claims.key, key));
  const known = await ctx.db.select().from(claims).where(mine).get();
  return known && known.expiresAt > ctx.now ? known : null;
}

/** Fields of an answer that only the database knows, by the time its batch runs: an id it gave. */
export type LateFields = Record<string, SQL>;

/** A record past its life gives way to the new one; any other fails the batch. */
export async function insertRecord(
  ctx: Ctx,
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
      .insert(claims)
      .values({ scope, key, ...anew })
      .onConflictDoUpdate({ target: [claims.scope, claims.key], set: anew, setWhere: lte(claims.expiresAt, ctx.now) }),
    vetoUnlessChanged(ctx),
  ];
}

/** What a record tells the request that found it. 409 idempotency_conflict for another body, idempotency_in_progress under a lease. */
export async function replayRecord(ctx: Ctx, known: IdempotencyRecord, request: IdempotentRequest): Promise<StoredAnswer> {
  if (!fingerprintsOf(ctx, request).includes(known.fingerprint)) throw new ApiError('idempotency_conflict');
  const { status, sealedBody } = known;
  const body = sealedBody === null ? known.body : await unseal(ctx.config.SEAL_KEYS, purposeOf(request), sealedBody);
  if (status !== null && body !== null) return { status, body, replayed: true };
  const waitMs = Math.max(SECOND, (known.leaseUntil ?? ctx.now) - ctx.now);
  throw new ApiError('idempotency_in_progress', { retryAfterSeconds: 1, meta: { lease_ms: waitMs } });
}

/** A sealed answer opens for its own request alone. */
const purposeOf = ({ scope, key }: IdempotentRequest): string => `idempotency:${scope}\n${key}`;

/** What tells a request from another under its key: SHA-256 of its canonical body, unknown fields, blanks and all. */
export function fingerprintOf(ctx: Ctx, { text, isSecret }: IdempotentRequest): string {
  const canonical = canonicalTextOf(text);
  // Marked, because the release before hashed another form of the same body.
  return `2:${isSecret ? pepperedHash(ctx.config.PEPPER, 'idempotency', canonical) : sha256Hex(utf8(canonical))}`;
}

/** The fingerprint the release before gave to this request; null where it gave none. */
export const formerFingerprintOf = ({ validated }: IdempotentRequest): string | null =>
  validated === undefined ? null : sha256Hex(utf8(canonicalJson(validated)));

/** All that a record of this very request may hold. */
export function fingerprintsOf(ctx: Ctx, request: IdempotentRequest): string[] {
  const former = formerFingerprintOf(request);
  return [fingerprintOf(ctx, request), ...(former === null ? [] : [former])];
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
export const sweepIdempotencyRecords = (ctx: Ctx): Promise<Swept> =>
  sweepRounds(ctx, ROUNDS, async (max) => {
    const ended = sql`rowid IN (SELECT rowid FROM claims WHERE expires_at <= ${ctx.now} ORDER BY expires_at LIMIT ${max})`;
    return (await ctx.db.delete(claims).where(ended)).meta.changes;
  });
