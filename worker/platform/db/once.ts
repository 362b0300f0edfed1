/**
 * Exactly-once answers for an Idempotency-Key: the batch of the effect also stores status and body, so a replay is byte-equal and a crash
 * leaves both or neither. Refusals are not stored.
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

/** Facts of an effect: fields of its answer that the database adds, and the row before it. */
interface Effect<T> {
  late?: LateFields;
  before?: T;
  isUnchanged?: true;
}

/** Creates the writes that store the answer of `result`. They belong in the batch of the effect. */
export type StoreAnswer<T> = (result: T, effect?: Effect<T>) => Promise<Write[]>;
export const skipStoring: StoreAnswer<unknown> = async () => [];

export const withAnswer = async <T>(change: Change<T>, writes: Promise<Write[]>): Promise<Change<T>> => ({
  ...change,
  writes: [...change.writes, ...(await writes)],
});

/** Stores the answer although nothing changes: a later repetition of this request must not undo a change that others made meanwhile. */
export const unchangedWithAnswer = async <T>(result: T, storeAnswer: StoreAnswer<T>): Promise<Change<T>> =>
  withAnswer(unchanged(result), storeAnswer(result, { isUnchanged: true }));

/**
 * Runs an effect within the database alone. `run` commits the effect and the writes of `storeAnswer` in one batch. Returns the stored
 * answer if the same request was faster, or if only the answer of our own batch was lost.
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
  const storeAnswer = async (result: T, { late }: Effect<T> = {}): Promise<Write[]> => {
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
  // The effect was already stored, by a rival or by our own batch with its answer lost, or the result was presented in another form.
  const stored = last ? await findStored() : null;
  return stored ?? toStoredAnswer(await present(result));
}

/**
 * Commits a planned change with its answer. If the database refuses the effect, `explain` returns the error (quota, duplicate name), or
 * null if the plan is outdated and the same request may be retried.
 */
export async function commitWithAnswer<T>(
  ctx: Shard,
  change: Change<T> & { before?: T },
  storeAnswer: StoreAnswer<T>,
  explain: (planned: T) => Promise<ApiError | null> = async () => null,
): Promise<T> {
  try {
    const { result, before, events, writes } = change;
    const effect = {
      ...(before === undefined ? {} : { before }),
      ...(events.length + writes.length === 0 ? { isUnchanged: true as const } : {}),
    };
    return await commit(ctx, await withAnswer(change, storeAnswer(result, effect)));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    if (!isConstraint(error)) throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
    throw (await explain(change.result)) ?? new ApiError('idempotency_race', { retryAfterSeconds: 1 });
  }
}
