import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Db, Shard } from '#platform/context.ts';
import { IN_ORDER, isAfter } from '#platform/db/acts/find.ts';
import { openEvents } from '#platform/db/acts/read.ts';
import { boundId, fieldOf, idField, jsonRows } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { ACT_EVENTS_MAX, acts, type EventRow, events } from '#platform/db/tables/events.ts';
import {
  type AnalyticsCursor,
  analyticsCursors,
  analyticsDays,
  analyticsQuarters,
  analyticsTotals,
  endedDeliveries,
  type StoredCounts,
} from '#platform/db/tables/office/analytics.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import type { Counts } from '#rules/analytics/metrics.ts';
import type { EventType } from '#rules/events.ts';

export type Parts = Record<string, Counts>;

const parsed = (stored: StoredCounts): Counts => Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, BigInt(value)]));
const parsedParts = (stored: Record<string, StoredCounts>): Parts =>
  Object.fromEntries(Object.entries(stored).map(([part, counts]) => [part, parsed(counts)]));
const storable = (counts: Counts): StoredCounts =>
  Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, value.toString()]));
const storableParts = (parts: Parts): Record<string, StoredCounts> =>
  Object.fromEntries(Object.entries(parts).flatMap(([part, counts]) => (Object.keys(counts).length > 0 ? [[part, storable(counts)]] : [])));

interface MetricOwner {
  merchantId: string;
  livemode: boolean;
}
export interface DayMetrics extends MetricOwner {
  day: number;
  quarters: Parts;
  products: Parts;
}
export interface QuarterMetrics extends MetricOwner {
  quarter: number;
  products: Parts;
}
interface TotalMetrics extends MetricOwner {
  counts: Counts;
}
export interface Folded {
  days: DayMetrics[];
  quarters: QuarterMetrics[];
  totals: TotalMetrics[];
}

const isOwner = (table: { merchantId: SQLiteColumn; livemode: SQLiteColumn }): SQL =>
  sql`${table.merchantId} = ${idField('merchantId')} AND ${table.livemode} = j.value ->> 'livemode'`;

export async function loadFolded(db: Db, { days, quarters, totals }: Folded): Promise<Folded> {
  const keys = <T extends object>(rows: T[], ...names: (keyof T)[]): object[] =>
    rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
  const [knownDays, knownQuarters, knownTotals] = await db.batch([
    db
      .select({ row: analyticsDays })
      .from(jsonRows(keys(days, 'merchantId', 'livemode', 'day')))
      .innerJoin(analyticsDays, sql`${isOwner(analyticsDays)} AND ${analyticsDays.day} = j.value ->> 'day'`),
    db
      .select({ row: analyticsQuarters })
      .from(jsonRows(keys(quarters, 'merchantId', 'livemode', 'quarter')))
      .innerJoin(analyticsQuarters, sql`${isOwner(analyticsQuarters)} AND ${analyticsQuarters.quarter} = j.value ->> 'quarter'`),
    db
      .select({ row: analyticsTotals })
      .from(jsonRows(keys(totals, 'merchantId', 'livemode')))
      .innerJoin(analyticsTotals, isOwner(analyticsTotals)),
  ]);
  return {
    days: knownDays.map(({ row }) => ({ ...row, quarters: parsedParts(row.quarters), products: parsedParts(row.products) })),
    quarters: knownQuarters.map(({ row }) => ({ ...row, products: parsedParts(row.products) })),
    totals: knownTotals.map(({ row }) => ({ ...row, counts: parsed(row.counts) })),
  };
}

const CHUNK_CHARACTERS = 400_000;

function chunksOf(rows: object[]): string[] {
  const chunks: string[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const text of rows.map((row) => JSON.stringify(row))) {
    if (length + text.length > CHUNK_CHARACTERS) {
      chunks.push([]);
      length = 0;
    }
    chunks.at(-1)!.push(text);
    length += text.length;
  }
  return chunks.map((texts) => `[${texts.join()}]`);
}

/** Upserts rows by key. `columns` are names in the rows, and the last `values` of them are replaced. */
const replaceRows = (db: Db, table: SQLiteTable, key: string[], values: string[], rows: object[]): Write[] =>
  chunksOf(rows).map((chunk) => {
    const fields = sql.join(
      [...key, ...values].map((name) => (name === 'merchantId' ? idField(name) : fieldOf(name))),
      sql`, `,
    );
    const target = sql.raw(key.map(snake).join());
    const set = sql.raw(values.map((name) => `${snake(name)} = excluded.${snake(name)}`).join());
    return db
      .insert(table)
      .select(sql`SELECT ${fields} FROM json_each(${chunk}) j WHERE true ON CONFLICT (${target}) DO UPDATE SET ${set}`) as unknown as Write;
  });

const snake = (name: string): string => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
const OWNER = ['merchantId', 'livemode'];

export const writeFolded = (db: Db, { days, quarters, totals }: Folded): Write[] => [
  ...replaceRows(
    db,
    analyticsDays,
    [...OWNER, 'day'],
    ['quarters', 'products'],
    days.map((row) => ({ ...row, quarters: storableParts(row.quarters), products: storableParts(row.products) })),
  ),
  ...replaceRows(
    db,
    analyticsQuarters,
    [...OWNER, 'quarter'],
    ['products'],
    quarters.map((row) => ({ ...row, products: storableParts(row.products) })),
  ),
  ...replaceRows(
    db,
    analyticsTotals,
    OWNER,
    ['counts'],
    totals.map((row) => ({ ...row, counts: storable(row.counts) })),
  ),
];

export const deleteEmptyRows = (db: Db, merchantId: string): Write[] => {
  const mine = sql`merchant_id = ${boundId(merchantId)} AND livemode = 0`;
  return [
    db.delete(analyticsDays).where(sql`${mine} AND quarters = '{}' AND products = '{}'`),
    db.delete(analyticsQuarters).where(sql`${mine} AND products = '{}'`),
    db.delete(analyticsTotals).where(sql`${mine} AND counts = '{}'`),
  ];
};

export type EndedDeliveries = typeof endedDeliveries.$inferSelect;

export const takeEndedDeliveries = (db: Db, taken: EndedDeliveries[]): Write[] => [
  db
    .update(endedDeliveries)
    .set({ count: sql`${endedDeliveries.count} - (j.value ->> 'count')` })
    .from(jsonRows(taken))
    .where(
      sql`${isOwner(endedDeliveries)} AND ${endedDeliveries.quarter} = j.value ->> 'quarter'
        AND ${endedDeliveries.hasSucceeded} = j.value ->> 'hasSucceeded' AND ${endedDeliveries.answerClass} = j.value ->> 'answerClass'`,
    ),
  db.delete(endedDeliveries).where(eq(endedDeliveries.count, 0)),
];

export const unfoldedEvents = (db: Db, { merchantId, livemode }: MetricOwner, types: readonly EventType[], limit: number) =>
  db
    .select()
    .from(events)
    .where(
      and(
        eq(events.merchantId, merchantId),
        eq(events.livemode, livemode),
        isAfter(sql`coalesce((SELECT seq FROM analytics_cursors WHERE name = ${cursorNameOf(livemode)}), 0)`),
        sql`+${inArray(events.type, [...types])}`,
      ),
    )
    .orderBy(IN_ORDER)
    .limit(limit);

export async function loadMetrics(
  db: Db,
  owner: MetricOwner & { from: number; to: number; edges: [number, number][] },
  tail: ReturnType<typeof unfoldedEvents>,
) {
  const { merchantId, livemode, from, to, edges } = owner;
  const mine = sql`merchant_id = ${boundId(merchantId)} AND livemode = ${livemode ? 1 : 0}`;
  const isEdge = sql.join(
    edges.map(([start, end]) => sql`(quarter >= ${start} AND quarter < ${end})`),
    sql` OR `,
  );
  const [[cursor], days, quarters, totals, unfolded] = await db.batch([
    db
      .select()
      .from(analyticsCursors)
      .where(eq(analyticsCursors.name, cursorNameOf(livemode))),
    db.select().from(analyticsDays).where(sql`${mine} AND day >= ${from} AND day < ${to}`).orderBy(asc(analyticsDays.day)),
    db
      .select()
      .from(analyticsQuarters)
      .where(edges.length === 0 ? sql`false` : sql`${mine} AND (${isEdge})`),
    db.select().from(analyticsTotals).where(mine),
    tail,
  ]);
  return {
    foldedAt: cursor?.foldedAt ?? 0,
    days: days.map((row) => ({ ...row, quarters: parsedParts(row.quarters), products: parsedParts(row.products) })),
    quarters: quarters.map((row) => ({ ...row, products: parsedParts(row.products) })),
    totals: totals[0] ? parsed(totals[0].counts) : {},
    unfolded: openEvents(unfolded as EventRow[]),
  };
}

/**
 * Modes are folded separately: live metrics do not wait for the sandbox, and an erased sandbox session does not abort a fold of live
 * events.
 */
const CURSORS = { live: 'events', sandbox: 'sandbox' } as const;
const cursorNameOf = (livemode: boolean): string => (livemode ? CURSORS.live : CURSORS.sandbox);

interface AnalyticsCursors {
  live: AnalyticsCursor;
  sandbox: AnalyticsCursor;
}

export async function openCursors(db: Db): Promise<AnalyticsCursors> {
  const names = Object.values(CURSORS);
  const [, cursors] = await db.batch([
    db
      .insert(analyticsCursors)
      .values(names.map((name) => ({ name, seq: 0, foldedAt: 0, version: 1 })))
      .onConflictDoNothing(),
    db.select().from(analyticsCursors).where(inArray(analyticsCursors.name, names)),
  ]);
  const named = (name: string): AnalyticsCursor => cursors.find((cursor) => cursor.name === name)!;
  return { live: named(CURSORS.live), sandbox: named(CURSORS.sandbox) };
}

/** Steps the cursor. Aborts the batch if another run has stepped it since the read. */
export const stepAnalyticsCursor = (ctx: Shard, before: AnalyticsCursor, after: Partial<AnalyticsCursor> = {}): Write[] =>
  casUpdate(ctx, analyticsCursors, before, after);

export const steppedCursor = (cursor: AnalyticsCursor): AnalyticsCursor => ({ ...cursor, version: cursor.version + 1 });

/** The database that a partition leaves folds its events, and its counts come along. */
const IS_HELD = sql`lower(substr(hex(${events.merchantId}), 18, 3)) NOT IN (SELECT partition FROM held WHERE state = 'arriving')`;

export async function listMetricEvents(db: Db, { name, seq }: AnalyticsCursor, types: readonly EventType[], limit: number) {
  const [found, [end]] = await db.batch([
    db
      .select()
      .from(events)
      // The unary pluses make SQLite search by the order of the events.
      .where(
        and(isAfter(seq), sql`+${events.livemode} = ${name === CURSORS.live ? 1 : 0} AND +${inArray(events.type, [...types])}`, IS_HELD),
      )
      .orderBy(IN_ORDER)
      .limit(limit),
    // The highest number that an event of the last act may have.
    db.select({ seq: sql<number>`coalesce((max(seq) + 1) * ${ACT_EVENTS_MAX} - 1, 0)` }).from(acts),
  ]);
  return { found: openEvents(found), end: end!.seq };
}

export const listEndedDeliveries = (db: Db, { name }: AnalyticsCursor, limit: number): Promise<EndedDeliveries[]> =>
  db
    .select()
    .from(endedDeliveries)
    .where(eq(endedDeliveries.livemode, name === CURSORS.live))
    .limit(limit);
