import { and, asc, eq, gt, inArray, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Db, Shard } from '#platform/context.ts';
import { jsonRows } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { events, type StoredEvent } from '#platform/db/tables/events.ts';
import {
  endedDeliveries,
  type FigureCursor,
  figureCursors,
  figureDays,
  figureQuarters,
  figureTotals,
  type StoredCounts,
} from '#platform/db/tables/office/figures.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import type { EventType } from '#rules/events.ts';
import type { Counts } from '#rules/figures/figures.ts';

/** Counts by the number of a quarter, or by product. */
export type Parts = Record<string, Counts>;

export const parsed = (stored: StoredCounts): Counts =>
  Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, BigInt(value)]));
export const parsedParts = (stored: Record<string, StoredCounts>): Parts =>
  Object.fromEntries(Object.entries(stored).map(([part, counts]) => [part, parsed(counts)]));
const storable = (counts: Counts): StoredCounts =>
  Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, value.toString()]));
/** Without those that have come to nothing. */
const storableParts = (parts: Parts): Record<string, StoredCounts> =>
  Object.fromEntries(Object.entries(parts).flatMap(([part, counts]) => (Object.keys(counts).length > 0 ? [[part, storable(counts)]] : [])));

export interface FigureOwner {
  merchantId: string;
  livemode: boolean;
}
export interface DayFigures extends FigureOwner {
  day: number;
  quarters: Parts;
  products: Parts;
}
export interface QuarterFigures extends FigureOwner {
  quarter: number;
  products: Parts;
}
export interface TotalFigures extends FigureOwner {
  counts: Counts;
}
export interface Folded {
  days: DayFigures[];
  quarters: QuarterFigures[];
  totals: TotalFigures[];
}

const isOwner = (table: { merchantId: SQLiteColumn; livemode: SQLiteColumn }): SQL =>
  sql`${table.merchantId} = j.value ->> 'merchantId' AND ${table.livemode} = j.value ->> 'livemode'`;

/** The stored figures of all that these name. */
export async function loadFolded(db: Db, { days, quarters, totals }: Folded): Promise<Folded> {
  const keys = <T extends object>(rows: T[], ...names: (keyof T)[]): object[] =>
    rows.map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
  const [knownDays, knownQuarters, knownTotals] = await db.batch([
    db
      .select({ row: figureDays })
      .from(jsonRows(keys(days, 'merchantId', 'livemode', 'day')))
      .innerJoin(figureDays, sql`${isOwner(figureDays)} AND ${figureDays.day} = j.value ->> 'day'`),
    db
      .select({ row: figureQuarters })
      .from(jsonRows(keys(quarters, 'merchantId', 'livemode', 'quarter')))
      .innerJoin(figureQuarters, sql`${isOwner(figureQuarters)} AND ${figureQuarters.quarter} = j.value ->> 'quarter'`),
    db
      .select({ row: figureTotals })
      .from(jsonRows(keys(totals, 'merchantId', 'livemode')))
      .innerJoin(figureTotals, isOwner(figureTotals)),
  ]);
  return {
    days: knownDays.map(({ row }) => ({ ...row, quarters: parsedParts(row.quarters), products: parsedParts(row.products) })),
    quarters: knownQuarters.map(({ row }) => ({ ...row, products: parsedParts(row.products) })),
    totals: knownTotals.map(({ row }) => ({ ...row, counts: parsed(row.counts) })),
  };
}

/** Of the text of one parameter. */
const CHUNK_CHARACTERS = 400_000;

/** The rows again in groups whose texts are not too long for one statement. */
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

/** Rows in the place of those of the same key. `columns` by their names in the rows; the last `values` of them are replaced. */
const replaceRows = (db: Db, table: SQLiteTable, key: string[], values: string[], rows: object[]): Write[] =>
  chunksOf(rows).map((chunk) => {
    const fields = sql.raw([...key, ...values].map((name) => `j.value ->> '${name}'`).join());
    const target = sql.raw(key.map(snake).join());
    const set = sql.raw(values.map((name) => `${snake(name)} = excluded.${snake(name)}`).join());
    return db
      .insert(table)
      .select(sql`SELECT ${fields} FROM json_each(${chunk}) j WHERE true ON CONFLICT (${target}) DO UPDATE SET ${set}`) as unknown as Write;
  });

const snake = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const OWNER = ['merchantId', 'livemode'];

/** These figures in the place of what was stored. */
export const writeFolded = (db: Db, { days, quarters, totals }: Folded): Write[] => [
  ...replaceRows(
    db,
    figureDays,
    [...OWNER, 'day'],
    ['quarters', 'products'],
    days.map((row) => ({ ...row, quarters: storableParts(row.quarters), products: storableParts(row.products) })),
  ),
  ...replaceRows(
    db,
    figureQuarters,
    [...OWNER, 'quarter'],
    ['products'],
    quarters.map((row) => ({ ...row, products: storableParts(row.products) })),
  ),
  ...replaceRows(
    db,
    figureTotals,
    OWNER,
    ['counts'],
    totals.map((row) => ({ ...row, counts: storable(row.counts) })),
  ),
];

/** Rows of a merchant's sandbox in which nothing is left go too. */
export const dropEmptyFigures = (db: Db, merchantId: string): Write[] => {
  const mine = sql`merchant_id = ${merchantId} AND livemode = 0`;
  return [
    db.delete(figureDays).where(sql`${mine} AND quarters = '{}' AND products = '{}'`),
    db.delete(figureQuarters).where(sql`${mine} AND products = '{}'`),
    db.delete(figureTotals).where(sql`${mine} AND counts = '{}'`),
  ];
};

export type EndedDeliveries = typeof endedDeliveries.$inferSelect;

/** Takes out what was folded; what ended meanwhile stays. */
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

/** What of a merchant's events is not in the figures yet, at most `limit`. A part of a batch. */
export const behindCursor = (db: Db, { merchantId, livemode }: FigureOwner, types: readonly EventType[], limit: number) =>
  db
    .select()
    .from(events)
    .where(
      and(
        eq(events.merchantId, merchantId),
        eq(events.livemode, livemode),
        gt(events.seq, sql`coalesce((SELECT seq FROM figure_cursors WHERE name = ${cursorNameOf(livemode)}), 0)`),
        sql`+${events.type} IN ${[...types]}`,
      ),
    )
    .orderBy(asc(events.seq))
    .limit(limit);

/** What a merchant's answer is made of, read in one moment: the figures from one UTC day to another, and what is not folded yet. */
export async function loadFigures(
  db: Db,
  owner: FigureOwner & { from: number; to: number; edges: [number, number][] },
  tail: ReturnType<typeof behindCursor>,
) {
  const { merchantId, livemode, from, to, edges } = owner;
  const mine = sql`merchant_id = ${merchantId} AND livemode = ${livemode ? 1 : 0}`;
  const isEdge = sql.join(
    edges.map(([start, end]) => sql`(quarter >= ${start} AND quarter < ${end})`),
    sql` OR `,
  );
  const [[cursor], days, quarters, totals, behind] = await db.batch([
    db
      .select()
      .from(figureCursors)
      .where(eq(figureCursors.name, cursorNameOf(livemode))),
    db.select().from(figureDays).where(sql`${mine} AND day >= ${from} AND day < ${to}`).orderBy(asc(figureDays.day)),
    db
      .select()
      .from(figureQuarters)
      .where(edges.length === 0 ? sql`false` : sql`${mine} AND (${isEdge})`),
    db.select().from(figureTotals).where(mine),
    tail,
  ]);
  return {
    foldedAt: cursor?.foldedAt ?? 0,
    days: days.map((row) => ({ ...row, quarters: parsedParts(row.quarters), products: parsedParts(row.products) })),
    quarters: quarters.map((row) => ({ ...row, products: parsedParts(row.products) })),
    totals: totals[0] ? parsed(totals[0].counts) : {},
    behind: behind as StoredEvent[],
  };
}

/** Events of the two modes are folded apart, so that live figures wait for no sandbox. */
const CURSORS = { live: 'events', sandbox: 'sandbox' } as const;
const cursorNameOf = (livemode: boolean): string => (livemode ? CURSORS.live : CURSORS.sandbox);

interface FigureCursors {
  live: FigureCursor;
  sandbox: FigureCursor;
}

/** The cursors, made at the first call. */
export async function openCursors(db: Db): Promise<FigureCursors> {
  const names = Object.values(CURSORS);
  const [, cursors] = await db.batch([
    db
      .insert(figureCursors)
      .values(names.map((name) => ({ name, seq: 0, foldedAt: 0, version: 1 })))
      .onConflictDoNothing(),
    db.select().from(figureCursors).where(inArray(figureCursors.name, names)),
  ]);
  const named = (name: string): FigureCursor => cursors.find((cursor) => cursor.name === name)!;
  return { live: named(CURSORS.live), sandbox: named(CURSORS.sandbox) };
}

/** Fail the batch where another run has stepped the cursor since it was read. */
export const stepFigureCursor = (ctx: Shard, before: FigureCursor, after: Partial<FigureCursor> = {}): Write[] =>
  casUpdate(ctx, figureCursors, before, after);

/** A cursor as it is after one step, for another step of the same round. */
export const steppedCursor = (cursor: FigureCursor): FigureCursor => ({ ...cursor, version: cursor.version + 1 });

/** Events of these types and one mode behind a place, in their order, and the last place there is. */
export async function listMoving(db: Db, { name, seq }: FigureCursor, types: readonly EventType[], limit: number) {
  const [moving, [end]] = await db.batch([
    db
      .select()
      .from(events)
      // The pluses keep the search on the order of the events.
      .where(and(gt(events.seq, seq), sql`+${events.livemode} = ${name === CURSORS.live ? 1 : 0} AND +${events.type} IN ${[...types]}`))
      .orderBy(asc(events.seq))
      .limit(limit),
    db.select({ seq: sql<number>`coalesce(max(seq), 0)` }).from(events),
  ]);
  return { moving, end: end!.seq };
}

/** Deliveries of one mode that ended and are not in the figures yet. */
export const listEndedDeliveries = (db: Db, { name }: FigureCursor, limit: number): Promise<EndedDeliveries[]> =>
  db
    .select()
    .from(endedDeliveries)
    .where(eq(endedDeliveries.livemode, name === CURSORS.live))
    .limit(limit);
