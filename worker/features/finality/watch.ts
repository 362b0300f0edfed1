import { storyOf } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import { facilitatedFate } from '#features/facilitator/fate.ts';
import { refundFate } from '#features/payments/refunds/seen.ts';
import { unmatchedFate } from '#features/payments/unmatched/unmatched.ts';
import { paymentFate } from '#features/payments/watch/finality.ts';
import { activationFate } from '#features/plans/activation-fate.ts';
import type { Shard } from '#platform/context.ts';
import { commit, forEach } from '#platform/db/commit.ts';
import type { FateFollower, Watched } from '#platform/db/fate.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import { DOUBT_MS, type Finality, STATUSES_MAX } from '#solana/finality.ts';
import { CLAIMS_SOURCE, noteLooks, type Source, stepTogether, takeDue, UNMATCHED_SOURCE } from './store.ts';

/** What follows when a transaction is final, dropped or back, by what it paid: one row for each kind. */
const FATES: Record<Watched['kind'], FateFollower> = {
  checkout: paymentFate,
  x402: paymentFate,
  metered: paymentFate,
  subscription: paymentFate,
  activation: activationFate,
  facilitator: facilitatedFate,
  refund: refundFate,
  unmatched: unmatchedFate,
};

/** Steps in one batch; their events fit one message of the queue. */
const GROUP_MAX = 40;
/** Batches on their way at once: as many connections as the platform keeps open for one invocation. */
const LANES = 6;
/** Bounds on one run for each kind of source, so that neither waits for the other: time, and calls of a page at the most. */
const SHARE_MS = 20 * SECOND;
const PAGE_CALLS = 60;
/** Calls that one run leaves to the second source. */
const UNMATCHED_CALLS = 150;

type Look = Watched & { finality: Finality };

/**
 * A minute after a transaction was confirmed, the cluster has usually made it final; that is noted. What the finalized chain is
 * proven to be without is taken back, whatever it paid: twice proven, because nothing is so rare and so costly to get wrong. It is
 * looked for even then, and given again where it is there after all. A node that cannot tell changes nothing.
 */
export async function sweepFinality(ctx: Shard): Promise<Swept> {
  const claims = await watchSource(ctx, CLAIMS_SOURCE, UNMATCHED_CALLS);
  const unmatched = await watchSource(ctx, UNMATCHED_SOURCE);
  return { taken: claims.taken + unmatched.taken, isFinished: claims.isFinished && unmatched.isFinished };
}

async function watchSource(ctx: Shard, source: Source, leftOver = 0): Promise<Swept> {
  let taken = 0;
  const endsAtMs = ctx.elapsedMs() + SHARE_MS;
  while (ctx.elapsedMs() < endsAtMs && ctx.budget.left > PAGE_CALLS + leftOver) {
    const due = await takeDue(ctx, source, STATUSES_MAX);
    taken += due.length;
    if (due.length > 0 && !(await lookAtWatched(ctx, source, due))) return { taken, isFinished: true };
    if (due.length < STATUSES_MAX) return { taken, isFinished: true };
  }
  return { taken, isFinished: false };
}

/** False where no node could be asked. */
async function lookAtWatched(ctx: Shard, source: Source, due: Watched[]): Promise<boolean> {
  const answer = await ctx.chain.finalityOf(due);
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    return false;
  }
  const looks = due.map((watched, i): Look => ({ ...watched, finality: answer.finality[i]! }));
  const isThere = ({ finality: { kind } }: Look) => kind === 'finalized';
  const isAbsent = ({ finality: { kind } }: Look) => kind === 'absent';
  const isSeen = ({ finality: { kind } }: Look) => kind === 'seen';
  const dropped = looks.filter(({ droppedAt }) => droppedAt !== null);
  const standing = looks.filter(({ droppedAt }) => droppedAt === null);
  const isBelieved = ({ doubtedAt }: Look) => doubtedAt !== null && ctx.now >= doubtedAt + DOUBT_MS;
  const notes = noteLooks(ctx, source, {
    seen: standing.filter(isSeen).map(asSeen),
    doubted: standing.filter((look) => isAbsent(look) && look.doubtedAt === null).map(asSeen),
    seenAgain: dropped.filter(isSeen).map(asSeen),
    stillAbsent: dropped.filter(isAbsent).map(asSeen),
  });
  await commit(ctx, { events: [], writes: notes, result: null });
  for (const [kind, final] of Map.groupBy(standing.filter(isThere), ({ kind }) => kind)) await makeFinal(ctx, source, kind, final);
  await forEach(
    ctx,
    standing.filter((look) => isAbsent(look) && isBelieved(look)),
    (look) => FATES[look.kind].onDropped(ctx, look.subjectId, stepTogether(ctx, source, [asSeen(look)], 'dropped')),
  );
  await forEach(ctx, dropped.filter(isThere), (look) =>
    FATES[look.kind].onReturned(ctx, look.subjectId, stepTogether(ctx, source, [asSeen(look)], 'returned')),
  );
  return true;
}

/** Many in one batch, some batches at once; where one fails each by itself, so that one of them holds up no other. */
async function makeFinal(ctx: Shard, source: Source, kind: Watched['kind'], looks: Look[]): Promise<void> {
  const store = (group: Look[]) => {
    const seen = group.map(asSeen);
    const subjectIds = seen.map(({ subjectId }) => subjectId);
    return FATES[kind].onFinal(ctx, subjectIds, stepTogether(ctx, source, seen, 'final'));
  };
  const groups = Array.from({ length: Math.ceil(looks.length / GROUP_MAX) }, (_, i) => looks.slice(i * GROUP_MAX, (i + 1) * GROUP_MAX));
  const storeGroup = (group: Look[]) =>
    store(group).catch((error: unknown) => {
      ctx.note(`final: ${storyOf(error)}`);
      return group.length > 1 ? forEach(ctx, group, (look) => store([look])) : null;
    });
  await forEach(ctx, groups, storeGroup, LANES);
}

/** Where it is by now; where it is nowhere, as it was known. */
const asSeen = ({ subjectId, slot, finality }: Look) => ({ subjectId, slot: 'slot' in finality ? finality.slot : slot });
