import { CUSTOMER_EVENT_TYPES, planFoldedCustomers } from '#features/customers/fold.ts';
import { planBilledReceipts } from '#features/receipts/buyer-details.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { commit, type Write } from '#platform/db/commit.ts';
import { mayGoOn, type Swept } from '#platform/db/sweeps.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { AnalyticsCursor } from '#platform/db/tables/office/analytics.ts';
import { deliveryCounts } from '#rules/analytics/answer-times.ts';
import { countsOf, type MetricDelta, negated } from '#rules/analytics/metrics.ts';
import { deltasFromEvent, METRIC_EVENT_TYPES } from './deltas.ts';
import { aggregate, merge } from './merge.ts';
import {
  deleteEmptyRows,
  type EndedDeliveries,
  listEndedDeliveries,
  listMetricEvents,
  loadFolded,
  openCursors,
  stepAnalyticsCursor,
  steppedCursor,
  takeEndedDeliveries,
  writeFolded,
} from './store.ts';

/** Events per step: each touches at most two days of its merchant. */
const EVENTS_MAX = 250;
const DELIVERIES_MAX = 500;
const FOLDED_EVENT_TYPES = [...METRIC_EVENT_TYPES, ...CUSTOMER_EVENT_TYPES];
/** Steps per invocation: each is about five statements. */
const STEPS_MAX = 100;

/**
 * Folds new events into metrics, customers and the billed parties of receipts, and ended deliveries, live first, so that live metrics do not wait for the sandbox. Each step commits its sums and the
 * cursor in one batch, so a crash neither loses nor doubles anything.
 */
export async function sweepAnalytics(ctx: Shard): Promise<Swept> {
  let taken = 0;
  for (let step = 0; step < STEPS_MAX && mayGoOn(ctx); step++) {
    const cursors = await openCursors(ctx.db);
    const folded = (await foldMode(ctx, cursors.live)) || (await foldMode(ctx, cursors.sandbox));
    if (folded === 0) return { taken, end: 'empty' };
    taken += folded;
  }
  return { taken, end: 'bound' };
}

const foldMode = async (ctx: Shard, cursor: AnalyticsCursor): Promise<number> =>
  (await foldEvents(ctx, cursor)) || foldDeliveries(ctx, steppedCursor(cursor));

async function foldEvents(ctx: Shard, cursor: AnalyticsCursor): Promise<number> {
  const { found, end } = await listMetricEvents(ctx.db, cursor, FOLDED_EVENT_TYPES, EVENTS_MAX);
  const isEnd = found.length < EVENTS_MAX;
  const after = { seq: isEnd ? end : found.at(-1)!.seq, ...(isEnd ? { foldedAt: ctx.now } : {}) };
  const each = found.map((event) => ({ event, deltas: deltasFromEvent(event) }));
  const ofCustomers = await planFoldedCustomers(
    ctx.db,
    each.map(({ event, deltas }) => ({ event, counts: countsOf(...deltas.map(({ counts }) => counts)) })),
  );
  const billed = await planBilledReceipts(ctx.db, found, ctx.now);
  const writes = [...stepAnalyticsCursor(ctx, cursor, after), ...ofCustomers, ...billed];
  await fold(
    ctx,
    writes,
    each.flatMap(({ deltas }) => deltas),
  );
  return found.length;
}

async function foldDeliveries(ctx: Shard, cursor: AnalyticsCursor): Promise<number> {
  const ended = await listEndedDeliveries(ctx.db, cursor, DELIVERIES_MAX);
  if (ended.length === 0) return 0;
  await fold(ctx, [...stepAnalyticsCursor(ctx, cursor), ...takeEndedDeliveries(ctx.db, ended)], ended.map(deltaOfEnded));
  return ended.length;
}

function deltaOfEnded({ merchantId, livemode, quarter: at, hasSucceeded, answerClass, count }: EndedDeliveries): MetricDelta {
  const one = deliveryCounts(hasSucceeded, answerClass < 0 ? null : answerClass);
  return {
    merchantId,
    livemode,
    at,
    counts: Object.fromEntries(Object.entries(one).map(([name, value]) => [name, value * BigInt(count)])),
  };
}

async function fold(ctx: Shard, steps: Write[], deltas: readonly MetricDelta[]): Promise<void> {
  await commit(ctx, { events: [], writes: [...steps, ...(await planFolded(ctx.db, deltas))], result: undefined });
}

async function planFolded(db: Db, deltas: readonly MetricDelta[]): Promise<Write[]> {
  const added = aggregate(deltas);
  return added.days.length + added.totals.length === 0 ? [] : writeFolded(db, merge(added, await loadFolded(db, added)));
}

/**
 * Plans the writes that subtract a sandbox session's events before their deletion. Metrics cannot be rebuilt from the remaining events:
 * some are archived, and deliveries are counted without an event. Aborts the batch if sandbox events are folded meanwhile.
 */
export async function planSubtract(ctx: Scope, events: StoredEvent[]): Promise<Write[]> {
  const { sandbox } = await openCursors(ctx.db);
  const folded = events.filter(({ seq }) => seq <= sandbox.seq);
  const writes = await planFolded(ctx.db, negated(folded.flatMap(deltasFromEvent)));
  return [...stepAnalyticsCursor(ctx, sandbox), ...writes, ...deleteEmptyRows(ctx.db, ctx.merchantId)];
}
