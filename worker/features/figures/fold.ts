import { SECOND } from '#core/time.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { commit, type Write } from '#platform/db/commit.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { FigureCursor } from '#platform/db/tables/office/figures.ts';
import { deliveryCounts } from '#rules/figures/answer-times.ts';
import { type Movement, reversed } from '#rules/figures/figures.ts';
import { gather, merge } from './gather.ts';
import { MOVING_TYPES, movementsOfEvent } from './movements.ts';
import {
  dropEmptyFigures,
  type EndedDeliveries,
  listEndedDeliveries,
  listMoving,
  loadFolded,
  openCursors,
  stepFigureCursor,
  steppedCursor,
  takeEndedDeliveries,
  writeFolded,
} from './store.ts';

/** Events of one step: each touches at most two days of its merchant, which are read and written with it. */
const EVENTS_MAX = 250;
const DELIVERIES_MAX = 500;
const SWEEP_MS = 20 * SECOND;
/** Steps of one invocation: each is some five statements. */
const STEPS_MAX = 100;

/**
 * Brings what happened into the figures, live events before those of sandboxes, so that live figures wait for no sandbox. Each step adds its sums and moves the cursor in one batch, so that nothing is
 * counted twice or left out, wherever a run dies. Answers how much it took.
 */
export async function sweepFigures(ctx: Shard): Promise<Swept> {
  let taken = 0;
  for (let step = 0; step < STEPS_MAX && ctx.elapsedMs() < SWEEP_MS; step++) {
    const cursors = await openCursors(ctx.db);
    const folded = (await foldNews(ctx, cursors.live)) || (await foldNews(ctx, cursors.sandbox));
    if (folded === 0) return { taken, isFinished: true };
    taken += folded;
  }
  return { taken, isFinished: false };
}

/** What is new in one mode: the next events, or else deliveries that ended. Answers how much there was. */
const foldNews = async (ctx: Shard, cursor: FigureCursor): Promise<number> =>
  (await foldEvents(ctx, cursor)) || foldDeliveries(ctx, steppedCursor(cursor));

/** The next events behind the cursor. Answers how many there were. */
async function foldEvents(ctx: Shard, cursor: FigureCursor): Promise<number> {
  const { moving, end } = await listMoving(ctx.db, cursor, MOVING_TYPES, EVENTS_MAX);
  const isEnd = moving.length < EVENTS_MAX;
  const after = { seq: isEnd ? end : moving.at(-1)!.seq, ...(isEnd ? { foldedAt: ctx.now } : {}) };
  await fold(ctx, stepFigureCursor(ctx, cursor, after), moving.flatMap(movementsOfEvent));
  return moving.length;
}

async function foldDeliveries(ctx: Shard, cursor: FigureCursor): Promise<number> {
  const ended = await listEndedDeliveries(ctx.db, cursor, DELIVERIES_MAX);
  if (ended.length === 0) return 0;
  await fold(ctx, [...stepFigureCursor(ctx, cursor), ...takeEndedDeliveries(ctx.db, ended)], ended.map(movementOfEnded));
  return ended.length;
}

function movementOfEnded({ merchantId, livemode, quarter: at, hasSucceeded, answerClass, count }: EndedDeliveries): Movement {
  const one = deliveryCounts(hasSucceeded, answerClass < 0 ? null : answerClass);
  return {
    merchantId,
    livemode,
    at,
    counts: Object.fromEntries(Object.entries(one).map(([name, value]) => [name, value * BigInt(count)])),
  };
}

/** Adds movements to the stored figures in one batch with `steps`, of the cursors they are of. Throws where another run was faster. */
async function fold(ctx: Shard, steps: Write[], movements: readonly Movement[]): Promise<void> {
  await commit(ctx, { events: [], writes: [...steps, ...(await planFolded(ctx.db, movements))], result: undefined });
}

/** The writes that add movements to the stored figures: none, where they cancel out. */
async function planFolded(db: Db, movements: readonly Movement[]): Promise<Write[]> {
  const added = gather(movements);
  return added.days.length + added.totals.length === 0 ? [] : writeFolded(db, merge(added, await loadFolded(db, added)));
}

/**
 * Statements, not effects: take what these events of one sandbox brought out of its merchant's figures again, before they are deleted. What
 * was not folded yet is not in them, and never will be. They fail the batch where events of sandboxes are folded meanwhile.
 */
export async function planUnfolded(ctx: Scope, events: StoredEvent[]): Promise<Write[]> {
  const { sandbox } = await openCursors(ctx.db);
  const folded = events.filter(({ seq }) => seq <= sandbox.seq);
  const writes = await planFolded(ctx.db, reversed(folded.flatMap(movementsOfEvent)));
  return [...stepFigureCursor(ctx, sandbox), ...writes, ...dropEmptyFigures(ctx.db, ctx.merchantId)];
}
