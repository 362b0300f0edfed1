import { QUARTER, quarterOf, utcDayOf } from '#core/days.ts';
import { DAY } from '#core/time.ts';
import { addCounts, type Counts, countsOf, type MetricDelta } from '#rules/analytics/metrics.ts';
import type { Folded, Parts } from './store.ts';

export function aggregate(deltas: readonly MetricDelta[]): Folded {
  const days = new Map<string, Folded['days'][number]>();
  const quarters = new Map<string, Folded['quarters'][number]>();
  const totals = new Map<string, Folded['totals'][number]>();
  const rowOf = <T>(rows: Map<string, T>, key: string, made: T): T => {
    const row = rows.get(key) ?? made;
    rows.set(key, row);
    return row;
  };
  for (const { merchantId, livemode, at, counts, productId } of deltas) {
    const owner = { merchantId, livemode };
    const key = `${merchantId} ${livemode}`;
    const [day, quarter] = [utcDayOf(at), quarterOf(at)];
    const ofDay = rowOf(days, `${key} ${day}`, { ...owner, day, quarters: {}, products: {} });
    addPart(ofDay.quarters, String(Math.floor((at % DAY) / QUARTER)), counts);
    addCounts(rowOf(totals, key, { ...owner, counts: {} }).counts, counts);
    if (productId === undefined) continue;
    addPart(ofDay.products, productId, counts);
    addPart(rowOf(quarters, `${key} ${quarter}`, { ...owner, quarter, products: {} }).products, productId, counts);
  }
  const isMoved = (counts: Counts) => Object.keys(counts).length > 0;
  const areMoved = (parts: Parts) => Object.values(parts).some(isMoved);
  return {
    days: [...days.values()].filter((row) => areMoved(row.quarters) || areMoved(row.products)),
    quarters: [...quarters.values()].filter(({ products }) => areMoved(products)),
    totals: [...totals.values()].filter(({ counts }) => isMoved(counts)),
  };
}

function addPart(parts: Parts, name: string, counts: Counts): void {
  parts[name] ??= {};
  addCounts(parts[name], counts);
}

const mergedParts = (one: Parts, other: Parts = {}): Parts =>
  Object.fromEntries([...new Set([...Object.keys(one), ...Object.keys(other)])].map((name) => [name, countsOf(one[name], other[name])]));

export function merge(added: Folded, stored: Folded): Folded {
  const keyOf = ({ merchantId, livemode, period }: { merchantId: string; livemode: boolean; period?: number }) =>
    `${merchantId} ${livemode} ${period}`;
  const days = new Map(stored.days.map((row) => [keyOf({ ...row, period: row.day }), row]));
  const quarters = new Map(stored.quarters.map((row) => [keyOf({ ...row, period: row.quarter }), row]));
  const totals = new Map(stored.totals.map((row) => [keyOf(row), row]));
  return {
    days: added.days.map((row) => {
      const known = days.get(keyOf({ ...row, period: row.day }));
      return { ...row, quarters: mergedParts(row.quarters, known?.quarters), products: mergedParts(row.products, known?.products) };
    }),
    quarters: added.quarters.map((row) => ({
      ...row,
      products: mergedParts(row.products, quarters.get(keyOf({ ...row, period: row.quarter }))?.products),
    })),
    totals: added.totals.map((row) => ({ ...row, counts: countsOf(row.counts, totals.get(keyOf(row))?.counts) })),
  };
}
