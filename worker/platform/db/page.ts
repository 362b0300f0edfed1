import { and, desc, eq, getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { ApiError } from '#core/errors.ts';
import { COUNTED_ROWS_MAX, PER_PAGE } from '#core/limits.ts';
import type { Db, Tenant } from '#platform/context.ts';

/** Which slice of a list is wanted. */
export interface PageRequest {
  page: number;
  perPage: number;
  offset: number;
  /** The highest `total` that is exact. */
  countMax: number;
}

/** The slice a query asks for. 422 validation_error where it begins beyond the last row that is counted. */
export function pageRequest(query: { page: number; per_page: number }, countMax = COUNTED_ROWS_MAX): PageRequest {
  const offset = (query.page - 1) * query.per_page;
  if (offset >= COUNTED_ROWS_MAX) {
    const msg = `Expected a page up to row ${COUNTED_ROWS_MAX.toLocaleString('en')}: narrow the list by a filter`;
    throw new ApiError('validation_error', { problems: [{ loc: ['query', 'page'], msg, type: 'too_far' }] });
  }
  return { page: query.page, perPage: query.per_page, offset, countMax };
}

export type MerchantTable = SQLiteTable & { merchantId: SQLiteColumn; livemode: SQLiteColumn };

/** The rows of a merchant in one mode, narrowed by those values that are given. */
export const rowsOf = (table: MerchantTable, { merchantId, livemode }: Tenant, narrowed: [SQLiteColumn, unknown][] = []): SQL =>
  and(
    eq(table.merchantId, merchantId),
    eq(table.livemode, livemode),
    ...narrowed.map(([column, value]) => (value === undefined ? undefined : eq(column, value))),
  )!;

/** The last ones stored first, also within one moment. Any index that ends in `createdAt` has this order, because its entries end in the rowid. */
export const newestFirst = (createdAt: SQLiteColumn): SQL[] => [desc(createdAt), sql`rowid DESC`];
/** As they were stored: pages stay what they were while new rows arrive. */
export const oldestFirst: SQL[] = [sql`rowid`];

/**
 * One page of a table and the count of the whole list, in one round trip. `order` must be the order of an index that begins with what
 * `where` equals, so that no more is read than the page and what stands before it. `total` is counted up to `countedRows`.
 * `through` is what rows are found by, where that is not an index of the table.
 */
export async function listPage<T extends SQLiteTable>(
  db: Db,
  table: T,
  where: SQL,
  order: SQL[],
  page: PageRequest,
  through?: { index: SQL; on: SQL },
): Promise<Listed<T['$inferSelect']>> {
  const rows = db
    .select(getTableColumns(table as SQLiteTable))
    .from(table as SQLiteTable)
    .$dynamic();
  if (through) rows.innerJoin(through.index, through.on);
  const slice = rows
    .where(where)
    .orderBy(...order)
    .limit(page.perPage)
    .offset(page.offset);
  const [items, [count]] = await db.batch([slice, countTo(db, table, where, page, through)]);
  return { items: items as T['$inferSelect'][], total: count?.total ?? 0 };
}

/** Rows that are counted: one more than is exact, and one more than the page and all rows before it, so that `has_more` is exact. */
const countedRows = ({ countMax, offset, perPage }: PageRequest): number => Math.max(countMax, offset + perPage) + 1;

/** One statement that counts the rows of `where`, up to `countedRows`. */
export const countTo = (db: Db, table: SQLiteTable, where: SQL | undefined, page: PageRequest, through?: { index: SQL; on: SQL }) => {
  const rows = db
    .select({ one: sql<number>`1`.as('one') })
    .from(table)
    .$dynamic();
  if (through) rows.innerJoin(through.index, through.on);
  const counted = rows.where(where).limit(countedRows(page)).as('counted');
  return db.select({ total: sql<number>`count(*)` }).from(counted);
};

/** Places of rows in a table and in the one that holds its archived rows: `is_archived`, `place` (the number of the row), and what else they are ordered by, the highest first. */
export interface Places {
  rows: SQL;
  order: string[];
}

/** One page of a table and its archived rows together, and their count: as `listPage`. */
export async function readBoth<T extends SQLiteTable, A extends SQLiteTable>(
  db: Db,
  table: T,
  archived: A,
  places: Places,
  page: PageRequest,
): Promise<Listed<T['$inferSelect'] | A['$inferSelect']>> {
  // Not as a batch, which answers objects, in which equal names of two tables hide each other.
  const [found, [count]] = await Promise.all([
    readSlice(db, table, archived, places, page),
    db.select({ total: sql<number>`count(*)` }).from(sql`(${places.rows} LIMIT ${countedRows(page)})`),
  ]);
  return { items: found.map(({ item }) => item), total: count?.total ?? 0 };
}

/** Some rows of both, each with the number of its row, for a reader that goes on after the last. */
export async function readSlice<T extends SQLiteTable, A extends SQLiteTable>(
  db: Db,
  table: T,
  archived: A,
  { rows, order }: Places,
  { perPage, offset }: Pick<PageRequest, 'perPage' | 'offset'>,
): Promise<{ item: T['$inferSelect'] | A['$inferSelect']; place: number }[]> {
  const slice = sql`${rows} ORDER BY ${sql.raw(order.map((name) => `${name} DESC`).join())} LIMIT ${perPage} OFFSET ${offset}`;
  const found = await db
    .select({
      kept: getTableColumns(table as SQLiteTable),
      archived: getTableColumns(archived as SQLiteTable),
      place: sql<number>`page.place`,
    })
    .from(sql`(${slice}) page`)
    .leftJoin(table, sql`page.is_archived = 0 AND ${table}.rowid = page.place`)
    .leftJoin(archived, sql`page.is_archived = 1 AND ${archived}.rowid = page.place`)
    .orderBy(...order.map((name) => sql.raw(`page.${name} DESC`)));
  return found.map(({ kept, archived, place }) => ({ item: kept ?? archived!, place }));
}

/** Rows of one page, and the size of the list, counted up to `countedRows`. */
export interface Listed<T> {
  items: T[];
  total: number;
}

/** A page as it is answered, each row as `present` shows it. */
export function toPage<T, R>(request: PageRequest, { items, total: counted }: Listed<T>, present: (item: T) => R) {
  const total = Math.min(counted, request.countMax);
  return {
    items: items.map((item) => present(item)),
    page: request.page,
    per_page: request.perPage,
    total,
    total_pages: Math.ceil(total / request.perPage),
    has_more: request.page * request.perPage < counted,
    ...(counted > request.countMax ? { total_exact: false as const } : {}),
  };
}

/** A list that is one page, because it never has more rows than a page holds. */
export const toWholePage = <T>(items: T[]) =>
  toPage({ ...pageRequest({ page: 1, per_page: PER_PAGE.max }) }, { items, total: items.length }, (item) => item);
