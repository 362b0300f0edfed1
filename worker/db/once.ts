import { and, eq, sql } from 'drizzle-orm';
import type { Ctx } from '../context.ts';
import { sha256Hex } from '../core/crypto.ts';
import { canonicalJson, utf8 } from '../core/encoding.ts';
import { ApiError } from '../core/errors.ts';
import { HOUR } from '../core/time.ts';
import { type Change, commit, isConstraint, vetoUnlessChanged, type Write } from './commit.ts';
import { claims } from './messaging.ts';

/**
 * Exactly-once answers for a caller's Idempotency-Key: the finished status and body bytes are stored in the batch of the
 * effect, so a replay is byte-equal and a crash leaves either both or neither. Refusals are not kept. (contract section 1)
 */
export interface IdempotentRequest {
  /** Account or setup intent, livemode, method and concrete path: the same key elsewhere is another request. */
  scope: string;
  key: string;
  body: unknown;
  keepMs?: number;
}

export interface StoredAnswer {
  status: number;
  body: string;
  replayed: boolean;
}

const KEEP_MS = 24 * HOUR;
const LEASE_MS = 30_000;

/**
 * For effects that live in the database alone: `plan` decides, `present` renders before the commit. Where the database refused
 * the effect itself, `explain` says why (a quota, a name that is taken); null: what was planned is out of date, try again.
 */
export async function once<T>(
  ctx: Ctx,
  request: IdempotentRequest,
  plan: () => Promise<Change<T>>,
  present: (result: T) => { status: number; body: unknown },
  explain: (planned: T) => Promise<ApiError | null> = async () => null,
): Promise<StoredAnswer> {
  const fingerprint = fingerprintOf(request.body);
  const known = await findClaim(ctx, request);
  if (known) return replay(known, fingerprint, ctx.now);
  const change = await plan();
  const { status, body } = present(change.result);
  const answer = { status, body: JSON.stringify(body), replayed: false };
  const record = { ...claimRow(ctx, request, fingerprint), status, body: answer.body };
  try {
    await commit(ctx, { ...change, writes: [ctx.db.insert(claims).values(record), ...change.writes] });
    return answer;
  } catch (error) {
    const winner = await findClaim(ctx, request);
    if (winner) return { ...replay(winner, fingerprint, ctx.now), replayed: winner.body !== answer.body };
    if (!isConstraint(error)) throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
    throw (await explain(change.result)) ?? new ApiError('idempotency_race', { retryAfterSeconds: 1 });
  }
}

export interface Lease {
  fence: number;
  /** Belongs into the batch of the final effect: stores the answer, and vetoes everything if the lease was taken over. */
  finish(answer: { status: number; body: string }): Write[];
  /** Nothing came of it: the key is free again, for the same request or another. */
  release(): Promise<unknown>;
}

/**
 * For effects with an external call in the middle: takes the lease or tells why not. A holder that died is taken over after
 * 30 s with a higher fence; the newcomer resumes from what the state says happened.
 */
export async function lease(ctx: Ctx, request: IdempotentRequest): Promise<{ answer: StoredAnswer; fence: number } | { lease: Lease }> {
  const fingerprint = fingerprintOf(request.body);
  const row = { ...claimRow(ctx, request, fingerprint), leaseUntil: ctx.now + LEASE_MS };
  const [taken] = await ctx.db
    .insert(claims)
    .values(row)
    .onConflictDoUpdate({
      target: [claims.scope, claims.key],
      set: { fence: sql`${claims.fence} + 1`, leaseUntil: row.leaseUntil },
      setWhere: sql`${claims.status} IS NULL AND ${claims.leaseUntil} <= ${ctx.now} AND ${claims.fingerprint} = ${fingerprint}`,
    })
    .returning({ fence: claims.fence });
  if (taken) return { lease: leaseOf(ctx, request, taken.fence) };
  const known = await findClaim(ctx, request);
  if (!known) throw new ApiError('idempotency_race', { retryAfterSeconds: 1 });
  return { answer: replay(known, fingerprint, ctx.now), fence: known.fence };
}

function leaseOf(ctx: Ctx, { scope, key }: IdempotentRequest, fence: number): Lease {
  const held = and(eq(claims.scope, scope), eq(claims.key, key), eq(claims.fence, fence), sql`${claims.status} IS NULL`);
  return {
    fence,
    finish: ({ status, body }) => [ctx.db.update(claims).set({ status, body, leaseUntil: null }).where(held), vetoUnlessChanged(ctx)],
    release: () => ctx.db.delete(claims).where(held),
  };
}

export const fingerprintOf = (body: unknown): string => sha256Hex(utf8(canonicalJson(body ?? null)));

const claimRow = (ctx: Ctx, request: IdempotentRequest, fingerprint: string) => ({
  scope: request.scope,
  key: request.key,
  fingerprint,
  fence: 1,
  expiresAt: ctx.now + (request.keepMs ?? KEEP_MS),
});

/** The live record of a key. One past its life is removed on the way, so that its key is free again. */
async function findClaim(ctx: Ctx, request: IdempotentRequest): Promise<typeof claims.$inferSelect | null> {
  const mine = and(eq(claims.scope, request.scope), eq(claims.key, request.key));
  const known = await ctx.db.select().from(claims).where(mine).get();
  if (!known || known.expiresAt > ctx.now) return known ?? null;
  await ctx.db.delete(claims).where(and(mine, eq(claims.expiresAt, known.expiresAt)));
  return null;
}

function replay(known: typeof claims.$inferSelect, fingerprint: string, now: number): StoredAnswer {
  if (known.fingerprint !== fingerprint) throw new ApiError('idempotency_conflict');
  if (known.status !== null && known.body !== null) return { status: known.status, body: known.body, replayed: true };
  const waitMs = Math.max(1000, (known.leaseUntil ?? now) - now);
  throw new ApiError('idempotency_in_progress', { retryAfterSeconds: 1, meta: { lease_ms: waitMs } });
}
