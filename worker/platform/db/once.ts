/**
 * Exactly-once answers for a caller's Idempotency-Key: the finished status and body are stored in the batch of the effect, so that
 * a replay is byte-equal and a crash leaves either both or neither. Refusals are not kept.
 * @module
 */

import { ApiError } from '#core/errors.ts';
import { newFence } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { type Change, commit, isConstraint, unchanged, type Write } from './commit.ts';
import {
  type Answer,
  findRecord,
  type IdempotentRequest,
  insertRecord,
  isAbandoned,
  type LateFields,
  replayRecord,
  type StoredAnswer,
  toStoredAnswer,
} from './idempotency-record.ts';

/** The statements that store the answer `result` makes, with what the database adds to it: they belong into the batch of the effect. */
export type StoreAnswer<T> = (result: T, late?: LateFields) => Promise<Write[]>;
/** For callers without a key. */
export const skipStoring: StoreAnswer<unknown> = async () => [];

/** A change with its answer beside it in the batch. */
export const withAnswer = async <T>(change: Change<T>, writes: Promise<Write[]>): Promise<Change<T>> => ({
  ...change,
  writes: [...change.writes, ...(await writes)],
});

/**
 * Nothing to change, and the answer is kept all the same: after others have changed it, the repetition of a request that changed
 * nothing must not change it back.
 */
export const unchangedWithAnswer = async <T>(result: T, storeAnswer: StoreAnswer<T>): Promise<Change<T>> =>
  withAnswer(unchanged(result), storeAnswer(result));

/**
 * For effects that live in the database alone. `run` has the effect, with what `storeAnswer` gives for its result in the same batch. Where
 * the same request was faster, or only the answer of our own batch was lost, the stored answer is given.
 */
export async function answerOnce<T>(
  ctx: Shard,
  request: IdempotentRequest | null,
  run: (storeAnswer: StoreAnswer<T>) => Promise<T>,
  present: (result: T) => Answer | Promise<Answer>,
): Promise<StoredAnswer> {
  if (!request) return toStoredAnswer(await present(await run(skipStoring)));
  const fence = newFence();
  const findStored = async (): Promise<StoredAnswer | null> => {
    const known = await findRecord(ctx, request);
    if (!known || isAbandoned(ctx, known, request)) return null;
    return { ...(await replayRecord(ctx, known, request)), replayed: known.fence !== fence };
  };
  const known = await findStored();
  if (known) return known;
  const planned: { result: T; answer: StoredAnswer }[] = [];
  const storeAnswer = async (result: T, late?: LateFields): Promise<Write[]> => {
    const answer = toStoredAnswer(await present(result));
    planned.push({ result, answer });
    return insertRecord(ctx, request, { fence, answer, late });
  };
  let result: T;
  try {
    result = await run(storeAnswer);
  } catch (error) {
    const winner = await findStored();
    if (winner) return winner;
    throw error;
  }
  const last = planned.at(-1);
  if (last?.result === result) return last.answer;
  // Found in place already, by another's hand or by our own whose answer was lost; or returned in another form than it was kept.
  const stored = last ? await findStored() : null;
  return stored ?? toStoredAnswer(await present(result));
}

/**
 * Commits a planned change together with its answer. Where the database refused the effect itself, `explain` says why (a quota, a
 * name that is taken); null: what was planned is out of date, and the same request may be tried again.
 */
export async function commitWithAnswer<T>(
  ctx: Shard,
  change: Change<T>,
  storeAnswer: StoreAnswer<T>,
  explain: (planned: T) => Promise<ApiError | null> = async () => null,
): Promise<T> {
  try {
    return await commit(ctx, await withAnswer(change, storeAnswer(change.result)));
  } catch (error) {
    if (!isConstraint(error)) throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
    throw (await explain(change.result)) ?? new ApiError('idempotency_race', { retryAfterSeconds: 1 });
  }
}
