import { formatErrorChain } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import { facilitatedOutcome } from '#features/facilitator/outcome.ts';
import { refundOutcome } from '#features/payments/refunds/record-refund.ts';
import { unmatchedOutcome } from '#features/payments/unmatched/unmatched.ts';
import { paymentOutcome } from '#features/payments/watch/final-or-dropped.ts';
import { activationOutcome } from '#features/plans/activation-outcome.ts';
import type { Shard } from '#platform/context.ts';
import { commit, forEach } from '#platform/db/commit.ts';
import type { OutcomeHandler, Watched } from '#platform/db/outcome.ts';
import { addSwept, type Swept } from '#platform/db/sweeps.ts';
import { DOUBT_MS, type Finality, STATUSES_MAX } from '#solana/finality.ts';
import { CLAIMS_SOURCE, listDueTransactions, noteReadings, postponeDue, type Source, stepTogether, UNMATCHED_SOURCE } from './store.ts';

const OUTCOME_HANDLERS: Record<Watched['kind'], OutcomeHandler> = {
  checkout: paymentOutcome,
  x402: paymentOutcome,
  metered: paymentOutcome,
  subscription: paymentOutcome,
  activation: activationOutcome,
  facilitator: facilitatedOutcome,
  refund: refundOutcome,
  unmatched: unmatchedOutcome,
};

/** Steps per batch. Their events fit one queue message. */
const GROUP_MAX = 40;
/** Concurrent batches: the platform's connection limit per invocation. */
const LANES = 6;
/** Limits per source and run, so that neither source waits for the other: time, and the maximum calls of one page. */
const SHARE_MS = 20 * SECOND;
const PAGE_CALLS = 60;
const UNMATCHED_CALLS = 150;

type Reading = Watched & { finality: Finality };

/**
 * Marks transactions as final about a minute after confirmation. Reverses a payment only if the finalized chain is proven twice not to
 * contain the transaction, because an error here is costly. Later checks restore one that is on the chain after all. An unavailable node
 * changes nothing.
 */
export async function sweepFinality(ctx: Shard): Promise<Swept> {
  return addSwept(await watchSource(ctx, CLAIMS_SOURCE, UNMATCHED_CALLS), await watchSource(ctx, UNMATCHED_SOURCE));
}

async function watchSource(ctx: Shard, source: Source, leftOver = 0): Promise<Swept> {
  let taken = 0;
  const endsAtMs = ctx.elapsedMs() + SHARE_MS;
  while (ctx.elapsedMs() < endsAtMs && ctx.budget.left > PAGE_CALLS + leftOver) {
    const due = await listDueTransactions(ctx, source, STATUSES_MAX);
    taken += due.length;
    if (due.length > 0 && !(await checkAndPostpone(ctx, source, due))) return { taken, end: 'paused' };
    if (due.length < STATUSES_MAX) return { taken, end: 'empty' };
  }
  return { taken, end: 'bound' };
}

/** Reschedules transactions that are due still, so that a failing check delays no other. Two concurrent runs check twice and store once. */
async function checkAndPostpone(ctx: Shard, source: Source, due: Watched[]): Promise<boolean> {
  try {
    return await checkWatched(ctx, source, due);
  } finally {
    await commit(ctx, { events: [], writes: [postponeDue(ctx, source, due)], result: null });
  }
}

async function checkWatched(ctx: Shard, source: Source, due: Watched[]): Promise<boolean> {
  const answer = await ctx.chain.finalityOf(due);
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    return false;
  }
  const readings = due.map((watched, i): Reading => ({ ...watched, finality: answer.finality[i]! }));
  const isThere = ({ finality: { kind } }: Reading) => kind === 'finalized';
  const isAbsent = ({ finality: { kind } }: Reading) => kind === 'absent';
  const isSeen = ({ finality: { kind } }: Reading) => kind === 'seen';
  const dropped = readings.filter(({ droppedAt }) => droppedAt !== null);
  const notDropped = readings.filter(({ droppedAt }) => droppedAt === null);
  const isBelieved = ({ doubtedAt }: Reading) => doubtedAt !== null && ctx.now >= doubtedAt + DOUBT_MS;
  const notes = noteReadings(ctx, source, {
    seen: notDropped.filter(isSeen).map(asSeen),
    doubted: notDropped.filter((reading) => isAbsent(reading) && reading.doubtedAt === null).map(asSeen),
    seenAgain: dropped.filter(isSeen).map(asSeen),
    stillAbsent: dropped.filter(isAbsent).map(asSeen),
  });
  await commit(ctx, { events: [], writes: notes, result: null });
  for (const [kind, final] of Map.groupBy(notDropped.filter(isThere), ({ kind }) => kind)) await makeFinal(ctx, source, kind, final);
  await forEach(
    ctx,
    notDropped.filter((reading) => isAbsent(reading) && isBelieved(reading)),
    (reading) => OUTCOME_HANDLERS[reading.kind].onDropped(ctx, reading.subjectId, stepTogether(ctx, source, [asSeen(reading)], 'dropped')),
  );
  await forEach(ctx, dropped.filter(isThere), (reading) =>
    OUTCOME_HANDLERS[reading.kind].onReturned(ctx, reading.subjectId, stepTogether(ctx, source, [asSeen(reading)], 'returned')),
  );
  return true;
}

/**
 * Commits many steps per batch and some batches at once. If a batch fails, commits each step alone, so that one failure does not block
 * others.
 */
async function makeFinal(ctx: Shard, source: Source, kind: Watched['kind'], readings: Reading[]): Promise<void> {
  const store = (group: Reading[]) => {
    const seen = group.map(asSeen);
    const subjectIds = group.map(({ subjectId }) => subjectId);
    return OUTCOME_HANDLERS[kind].onFinal(ctx, subjectIds, stepTogether(ctx, source, seen, 'final'));
  };
  const groups = Array.from({ length: Math.ceil(readings.length / GROUP_MAX) }, (_, i) =>
    readings.slice(i * GROUP_MAX, (i + 1) * GROUP_MAX),
  );
  const storeGroup = (group: Reading[]) =>
    store(group).catch((error: unknown) => {
      ctx.note(`final: ${formatErrorChain(error)}`);
      return group.length > 1 ? forEach(ctx, group, (reading) => store([reading])) : null;
    });
  await forEach(ctx, groups, storeGroup, LANES);
}

const asSeen = ({ key, slot, finality }: Reading) => ({ key, slot: 'slot' in finality ? finality.slot : slot });
