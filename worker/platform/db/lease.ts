/**
 * Leases for requests that take several batches, because an external call is in between or the work is too large.
 * @module
 */

import { and, eq, sql } from 'drizzle-orm';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { newFence } from '#core/ids.ts';
import { HOUR, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { amongIds } from './among.ts';
import { abortUnlessChanged, commit, type Write } from './commit.ts';
import {
  type Answer,
  findRecord,
  fingerprintsOf,
  type IdempotentRequest,
  newRecord,
  replayRecord,
  type StoredAnswer,
  toStoredAnswer,
} from './idempotency-record.ts';
import { idempotencyRecords } from './tables/idempotency.ts';

export interface Lease {
  fence: number;
  /** Writes for the batch of the final effect: they store the answer and abort the batch if the lease was taken over. */
  finish(answer: { status: number; body: string }): Write[];
  release(): Promise<unknown>;
}

const LEASE_MS = 30 * SECOND;
/** Retention of an unfinished lease, so that the key still rejects another body. */
const UNFINISHED_RETENTION_MS = 24 * HOUR;

/**
 * Takes the lease or throws. The lease of a crashed holder can be taken over after 30 s, by the same request alone, which continues from
 * the stored state. If the database's answer was lost, the fence identifies our own lease, so the request does not wait for its expiry.
 */
export async function takeLease(
  ctx: Shard,
  request: IdempotentRequest,
): Promise<{ answer: StoredAnswer; fence: number } | { lease: Lease }> {
  const fence = newFence();
  const taken = await insertLease(ctx, request, fence).catch((error: unknown) => {
    ctx.note(`lease: ${formatErrorChain(error)}`);
    // The fence refused the lease: the partition moves.
    if (error instanceof Error && error.cause instanceof ApiError) throw error.cause;
    return null;
  });
  if (taken) return { lease: leaseOf(ctx, request, fence) };
  const known = await findRecord(ctx, request).catch((error: unknown) => {
    // The lease may be ours with the answer lost. Release it so that a retry need not wait for its expiry.
    ctx.defer(leaseOf(ctx, request, fence).release());
    throw error;
  });
  if (known?.fence === fence) return { lease: leaseOf(ctx, request, fence) };
  if (known) return { answer: await replayRecord(ctx, known, request), fence: known.fence };
  // Released between the two reads, or never stored.
  throw new ApiError(taken === null ? 'temporarily_unavailable' : 'idempotency_race', { retryAfterSeconds: 1 });
}

/** Runs an effect with many batches or an external call under a lease, and answers once. */
export async function answerLeased<T>(
  ctx: Shard,
  request: IdempotentRequest | null,
  run: () => Promise<T>,
  present: (result: T) => Answer | Promise<Answer>,
): Promise<StoredAnswer> {
  if (!request) return toStoredAnswer(await present(await run()));
  const held = await takeLease(ctx, request);
  if ('answer' in held) return held.answer;
  let presented: Answer;
  try {
    presented = await present(await run());
  } catch (error) {
    await releaseLease(ctx, held.lease);
    throw error;
  }
  const answer = toStoredAnswer(presented);
  if (presented.isFinished === false) {
    await releaseLease(ctx, held.lease);
    return answer;
  }
  try {
    await commit(ctx, { events: [], writes: held.lease.finish(answer), result: null });
    return answer;
  } catch (error) {
    ctx.note(`answer not stored: ${formatErrorChain(error)}`);
    const known = await findRecord(ctx, request);
    // A record under our own fence is this very answer.
    if (known?.fence === held.lease.fence && known.status !== null) return answer;
    if (known) return replayRecord(ctx, known, request);
    if (error instanceof ApiError) throw error;
    throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
}

/** Frees the key for a retry. If the release fails, the key is free when the lease expires. */
export const releaseLease = (ctx: Ctx, held: Lease): Promise<unknown> =>
  held.release().catch((error: unknown) => ctx.note(`lease not released: ${formatErrorChain(error)}`));

async function insertLease(ctx: Shard, request: IdempotentRequest, fence: number): Promise<boolean> {
  const { scope, key, ...record } = newRecord(ctx, request, fence);
  const values = {
    ...record,
    status: null,
    body: null,
    sealedBody: null,
    leaseUntil: ctx.wallNow + LEASE_MS,
    expiresAt: ctx.wallNow + UNFINISHED_RETENTION_MS,
  };
  const isSame = amongIds(idempotencyRecords.fingerprint, fingerprintsOf(ctx, request));
  const rows = await ctx.db
    .insert(idempotencyRecords)
    .values({ scope, key, ...values })
    .onConflictDoUpdate({
      target: [idempotencyRecords.scope, idempotencyRecords.key],
      set: values,
      setWhere: sql`${idempotencyRecords.expiresAt} <= ${ctx.wallNow} OR (${idempotencyRecords.status} IS NULL AND ${idempotencyRecords.leaseUntil} <= ${ctx.wallNow} AND ${isSame})`,
    })
    .returning({ fence: idempotencyRecords.fence });
  return rows.length > 0;
}

function leaseOf(ctx: Shard, request: IdempotentRequest, fence: number): Lease {
  const { scope, key, fingerprint, expiresAt } = newRecord(ctx, request, fence);
  const held = and(
    eq(idempotencyRecords.scope, scope),
    eq(idempotencyRecords.key, key),
    eq(idempotencyRecords.fence, fence),
    eq(idempotencyRecords.fingerprint, fingerprint),
    sql`${idempotencyRecords.status} IS NULL`,
  );
  return {
    fence,
    finish: ({ status, body }) => [
      ctx.db.update(idempotencyRecords).set({ status, body, leaseUntil: null, expiresAt }).where(held),
      abortUnlessChanged(ctx),
    ],
    release: () => ctx.db.delete(idempotencyRecords).where(held),
  };
}
