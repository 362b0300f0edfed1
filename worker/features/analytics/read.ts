import { dateAt, daysFrom, plusDays, QUARTER, startOfDate, utcDayOf } from '#core/days.ts';
import { ApiError } from '#core/errors.ts';
import type { ProductId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { getAccount } from '#features/accounts/store.ts';
import { listProductNames } from '#features/products/store.ts';
import type { Scope } from '#platform/context.ts';
import { addCounts, type Counts, countsOf, paymentsOf } from '#rules/analytics/metrics.ts';
import { deltasFromEvent, METRIC_EVENT_TYPES } from './deltas.ts';
import { aggregate, merge } from './merge.ts';
import { type DayMetrics, loadMetrics, type Parts, type QuarterMetrics, unfoldedEvents } from './store.ts';

export const WINDOW_DAYS_MAX = 90;
/** Limit of unfolded events in an answer. With more, the answer is as old as the fold. */
const UNFOLDED_MAX = 100;
const TOP_PRODUCTS = 10;

interface AnalyticsQuery {
  windowDays: number;
  dailyDays: number;
  startDate?: string | undefined;
  endDate?: string | undefined;
}

interface AnalyticsWindow {
  start: string;
  end: string;
  days: number;
  timezone: string;
}

const invalid = (field: string, msg: string): ApiError =>
  new ApiError('validation_error', { problems: [{ loc: ['query', field], msg, type: 'invalid_window' }] });

/** Resolves the window of a query: its dates win over its number of days, of which the last is today. Throws 422 validation_error. */
function windowOf({ windowDays, startDate, endDate }: AnalyticsQuery, timezone: string, now: number): AnalyticsWindow {
  if (startDate === undefined && endDate === undefined) {
    const end = dateAt(now, timezone);
    return { start: plusDays(end, 1 - windowDays), end, days: windowDays, timezone };
  }
  if (startDate === undefined) throw invalid('start_date', 'Expected both start_date and end_date');
  if (endDate === undefined) throw invalid('end_date', 'Expected both start_date and end_date');
  if (endDate < startDate) throw invalid('end_date', 'Expected an end after the start');
  const days = daysFrom(startDate, endDate) + 1;
  if (days > WINDOW_DAYS_MAX) throw invalid('start_date', `Expected a window of at most ${WINDOW_DAYS_MAX} days`);
  return { start: startDate, end: endDate, days, timezone };
}

export async function readMetrics(ctx: Scope, from: number, to: number) {
  const [firstDay, lastDay] = [utcDayOf(from), utcDayOf(Math.max(from, to - 1))];
  const edges = [...new Set([from > firstDay ? firstDay : [], to < lastDay + DAY ? lastDay : []].flat())];
  const asked = { merchantId: ctx.merchantId, livemode: ctx.livemode, from: firstDay, to: lastDay + DAY };
  const tail = unfoldedEvents(ctx.db, ctx, METRIC_EVENT_TYPES, UNFOLDED_MAX + 1);
  const stored = await loadMetrics(ctx.db, { ...asked, edges: edges.map((day) => [day, day + DAY]) }, tail);
  const isCaughtUp = stored.unfolded.length <= UNFOLDED_MAX;
  const unfolded = aggregate(stored.unfolded.slice(0, UNFOLDED_MAX).flatMap(deltasFromEvent));
  const merged = merge({ ...unfolded, totals: [] }, { ...stored, totals: [] });
  return {
    days: replaced(stored.days, merged.days, ({ day }) => day),
    quarters: replaced(stored.quarters, merged.quarters, ({ quarter }) => quarter),
    totals: countsOf(stored.totals, ...unfolded.totals.map(({ counts }) => counts)),
    isEdge: (day: number) => edges.includes(day),
    asOf: isCaughtUp ? ctx.now : stored.foldedAt,
  };
}

const replaced = <T>(stored: T[], newer: T[], periodOf: (row: T) => number): T[] => [
  ...new Map([...stored, ...newer].map((row) => [periodOf(row), row])).values(),
];

export interface Analytics {
  window: AnalyticsWindow;
  totals: Counts;
  daily: { date: string; counts: Counts }[];
  topProducts: { productId: string; name: string; counts: Counts }[];
  active: bigint;
  asOf: number;
}

/** Reads a merchant's analytics of a window, by day in the account's zone. Throws 422 validation_error. */
export async function readAnalytics(ctx: Scope, query: AnalyticsQuery): Promise<Analytics> {
  const { timezone } = await getAccount(ctx.db, ctx.merchantId);
  const window = windowOf(query, timezone, ctx.now);
  const dates = Array.from({ length: window.days + 1 }, (_, i) => plusDays(window.start, i));
  const starts = dates.map((date) => startOfDate(date, timezone));
  const [from, to] = [starts[0]!, starts.at(-1)!];
  const { days, quarters, totals, isEdge, asOf } = await readMetrics(ctx, from, to);
  const daily = dailyOf(days, dates, starts);
  const inside = quarters.filter(({ quarter }) => quarter >= from && quarter < to && isEdge(utcDayOf(quarter)));
  const products = productsOf([...days.filter(({ day }) => day >= from && day + DAY <= to && !isEdge(day)), ...inside]);
  return {
    window,
    totals: countsOf(...daily.map(({ counts }) => counts)),
    daily: daily.slice(-Math.min(query.dailyDays, window.days)),
    topProducts: await named(ctx, topOf(products)),
    active: totals.members_active ?? 0n,
    asOf,
  };
}

/** Sums by date. `starts` has one extra entry, the end of the last date. A quarter of an hour belongs to the date it starts in. */
function dailyOf(days: DayMetrics[], dates: string[], starts: number[]): Analytics['daily'] {
  const sums: Counts[] = starts.slice(1).map(() => ({}));
  for (const { day, quarters } of days)
    for (const [number, counts] of Object.entries(quarters)) {
      const at = day + Number(number) * QUARTER;
      const after = starts.findIndex((start) => at < start);
      if (after > 0) addCounts(sums[after - 1]!, counts);
    }
  return sums.map((counts, i) => ({ date: dates[i]!, counts }));
}

function productsOf(rows: (DayMetrics | QuarterMetrics)[]): Parts {
  const sums: Parts = {};
  for (const { products } of rows)
    for (const [productId, counts] of Object.entries(products)) {
      sums[productId] ??= {};
      addCounts(sums[productId], counts);
    }
  return sums;
}

const topOf = (products: Parts): [productId: string, Counts][] =>
  Object.entries(products)
    .sort(([oneId, one], [otherId, other]) => paymentsOf(other) - paymentsOf(one) || (oneId < otherId ? -1 : 1))
    .slice(0, TOP_PRODUCTS);

async function named(ctx: Scope, top: [string, Counts][]): Promise<Analytics['topProducts']> {
  const names = await listProductNames(
    ctx,
    top.map(([productId]) => productId as ProductId),
  );
  return top.map(([productId, counts]) => ({ productId, name: names.get(productId) ?? '', counts }));
}
