/**
 * One holder at a time for a request whose effect takes more than one batch: because a node or a stranger's server is asked in the
 * middle, or because there is too much of it.
 * @module
 */

import { and, eq, sql } from 'drizzle-orm';
import { ApiError, storyOf } from '#core/errors.ts';
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
  /** Names this taking of the lease, and no other. */
  fence: number;
  /** Belongs into the batch of the final effect: stores the answer, and aborts the batch if the lease was taken over. */
  finish(answer: { status: number; body: string }): Write[];
  /** Nothing came of it: the key is free again, for the same request or another. */
  release(): Promise<unknown>;
}

const LEASE_MS = 30 * SECOND;
/** For so long a lease that was never finished still tells another body from the one it was taken for. */
const UNFINISHED_KEEP_MS = 24 * HOUR;

/**
 * Takes the lease or tells why not. The lease of a holder that crashed is taken over after 30 s, by the same request alone; the new holder goes on
 * from what the state says happened. A lease whose answer was lost is recognised by its fence, so that its own request does not
 * wait for its end.
 */
export async function takeLease(
  ctx: Shard,
  request: IdempotentRequest,
): Promise<{ answer: StoredAnswer; fence: number } | { lease: Lease }> {
  const fence = newFence();
  const taken = await insertLease(ctx, request, fence).catch((error: unknown) => {
    ctx.note(`lease: ${storyOf(error)}`);
    return null;
  });
  if (taken) return { lease: leaseOf(ctx, request, fence) };
  const known = await findRecord(ctx, request).catch((error: unknown) => {
    // It may have been taken without this request knowing: released, so that the next try need not wait for its end.
    ctx.defer(leaseOf(ctx, request, fence).release());
    throw error;
  });
  if (known?.fence === fence) return { lease: leaseOf(ctx, request, fence) };
  if (known) return { answer: await replayRecord(ctx, known, request), fence: known.fence };
  // Freed between the two looks, or never stored.
  throw new ApiError(taken === null ? 'temporarily_unavailable' : 'idempotency_race', { retryAfterSeconds: 1 });
}

/** For effects in many batches, or around a call to a stranger's server: one at a time, and answered once. */
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
    ctx.note(`answer not stored: ${storyOf(error)}`);
    const known = await findRecord(ctx, request);
    // Under its own fence the record is this very answer.
    if (known?.fence === held.lease.fence && known.status !== null) return answer;
    if (known) return replayRecord(ctx, known, request);
    throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
}

/** The key is free for the next try; where even that fails, when the lease ends. */
export const releaseLease = (ctx: Ctx, held: Lease): Promise<unknown> =>
  held.release().catch((error: unknown) => ctx.note(`lease not released: ${storyOf(error)}`));

async function insertLease(ctx: Shard, request: IdempotentRequest, fence: number): Promise<boolean> {
  const { scope, key, ...record } = newRecord(ctx, request, fence);
  const anew = {
    ...record,
    status: null,
    body: null,
    sealedBody: null,
    leaseUntil: ctx.wallNow + LEASE_MS,
    expiresAt: ctx.wallNow + UNFINISHED_KEEP_MS,
  };
  const isSame = amongIds(idempotencyRecords.fingerprint, fingerprintsOf(ctx, request));
  const rows = await ctx.db
    .insert(idempotencyRecords)
    .values({ scope, key, ...anew })
    .onConflictDoUpdate({
      target: [idempotencyRecords.scope, idempotencyRecords.key],
      set: anew,
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
