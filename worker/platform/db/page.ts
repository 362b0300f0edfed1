import { and, desc, eq, getTableColumns, is, type SQL, sql } from 'drizzle-orm';
import type { BatchItem } from 'drizzle-orm/batch';
import { type SQLiteColumn, SQLiteTable, type SQLiteView } from 'drizzle-orm/sqlite-core';
import { ApiError } from '#core/errors.ts';
import { COUNTED_ROWS_MAX, PER_PAGE } from '#core/limits.ts';
import type { Db, Tenant } from '#platform/context.ts';
import type { ArchivedPayment, ArchivePosition } from './archive.ts';
import { type archivedReceipts, archivedSales, type PAYMENT_LINE, type RECEIPT_LINE } from './tables/archives.ts';

export interface PageRequest {
  page: number;
  perPage: number;
  offset: number;
  /** Rows to count exactly. 0: the total is that of the rows up to the end of the page. */
  countMax: number;
  /** Newest rows in which a text is searched, if not the usual number. */
  searchedMax?: number;
}

export function pageRequest(query: { page: number; per_page: number }, countMax = COUNTED_ROWS_MAX): PageRequest {
  const offset = (query.page - 1) * query.per_page;
  if (offset >= COUNTED_ROWS_MAX) {
    const msg = `Expected a page up to row ${COUNTED_ROWS_MAX.toLocaleString('en')}: narrow the list by a filter`;
    throw new ApiError('validation_error', { problems: [{ loc: ['query', 'page'], msg, type: 'too_far' }] });
  }
  return { page: query.page, perPage: query.per_page, offset, countMax };
}

export type MerchantTable = (SQLiteTable | SQLiteView) & { merchantId: SQLiteColumn; livemode: SQLiteColumn };

export const rowsOf = (table: MerchantTable, { merchantId, livemode }: Tenant, narrowed: [SQLiteColumn, unknown][] = []): SQL =>
  and(
    eq(table.merchantId, merchantId),
    eq(table.livemode, livemode),
    ...narrowed.map(([column, value]) => (value === undefined ? undefined : eq(column, value))),
  )!;

/** Newest rows first, also within one millisecond. Any index that ends in `createdAt` has this order, as index entries end in the rowid. */
export const newestFirst = (createdAt: SQLiteColumn): SQL[] => [desc(createdAt), sql`rowid DESC`];
/** Insertion order, in which new rows do not shift earlier pages. */
export const oldestFirst: SQL[] = [sql`rowid`];

/**
 * Reads one page and the total in one round trip. `order` must be the order of an index that begins with the columns fixed by `where`, so
 * that only the page and the rows before it are read. `total` is counted up to `countedRows`. `through`: source of the row ids, if not an
 * index of the table.
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
  const listed = await listCounted(db, slice, countTo(db, table, where, page, through), page);
  return { items: listed.items as T['$inferSelect'][], total: listed.total };
}

/** Reads a page and its total in one round trip. */
export async function listCounted<T>(
  db: Db,
  slice: BatchItem<'sqlite'> & PromiseLike<T[]>,
  count: BatchItem<'sqlite'> & PromiseLike<{ total: number }[]>,
  { countMax, offset }: PageRequest,
): Promise<Listed<T>> {
  if (countMax === 0) {
    const items = await slice;
    return { items, total: totalOf(0, { offset }, items.length) };
  }
  const [items, [counted]] = (await db.batch([slice, count])) as [T[], { total: number }[]];
  return { items, total: counted?.total ?? 0 };
}

/** Returns how many rows to count: one above both the exact limit and the page's end, so that `has_more` is exact. */
export const countedRows = ({ countMax, offset, perPage }: PageRequest): number => Math.max(countMax, offset + perPage) + 1;

export const countTo = (
  db: Db,
  table: SQLiteTable | SQLiteView,
  where: SQL | undefined,
  page: PageRequest,
  through?: { index: SQL; on: SQL },
) => {
  const rows = db
    .select({ one: sql<number>`1`.as('one') })
    .from(table)
    .$dynamic();
  if (through) rows.innerJoin(through.index, through.on);
  const counted = rows.where(where).limit(countedRows(page)).as('counted');
  return db.select({ total: sql<number>`count(*)` }).from(counted);
};

/** Query over a table and its archived rows that selects `is_archived`, the row number and the order columns. The order is descending. */
export interface RowQuery {
  rows: SQL;
  order: string[];
}

/** Row number that both an archived row and its position in lists have. */
export const rowNumberOf = (table: SQLiteTable | SQLiteView): SQL =>
  is(table, SQLiteTable) ? sql`${table}.rowid` : sql`${table}.row_number`;

/** Columns of `archived_sales` that a list reads of an archived row. */
type ArchivedColumns = typeof PAYMENT_LINE | typeof RECEIPT_LINE;
type ArchivedItem<A extends ArchivedColumns> = A extends typeof RECEIPT_LINE
  ? ArchivePosition & Pick<typeof archivedReceipts.$inferSelect, 'isPaidByOwner' | 'seq' | 'afterSeq'>
  : ArchivedPayment;

export async function listWithArchive<T extends SQLiteTable, A extends ArchivedColumns>(
  db: Db,
  table: T,
  archived: A,
  rowQuery: RowQuery,
  page: PageRequest,
): Promise<Listed<T['$inferSelect'] | ArchivedItem<A>>> {
  // No batch: D1 batches return objects, in which equal column names of two tables collide.
  const [found, total] = await Promise.all([readSlice(db, table, archived, rowQuery, page), countRows(db, rowQuery, page)]);
  return { items: found.map(({ item }) => item), total: totalOf(total, page, found.length) };
}

/** Total of a list of which `read` rows were read: at least these, if the list is not counted. */
export const totalOf = (counted: number, { offset }: Pick<PageRequest, 'offset'>, read: number): number =>
  Math.max(counted, read === 0 ? 0 : offset + read);

export async function countRows(db: Db, { rows }: RowQuery, page: PageRequest): Promise<number> {
  if (page.countMax === 0) return 0;
  const [count] = await db.select({ total: sql<number>`count(*)` }).from(sql`(${rows} LIMIT ${countedRows(page)})`);
  return count?.total ?? 0;
}

/** Reads rows of both tables with their position (first order column) and row number, for a reader that continues after the last. */
export async function readSlice<T extends SQLiteTable, A extends ArchivedColumns>(
  db: Db,
  table: T,
  archived: A,
  { rows, order }: RowQuery,
  { perPage, offset }: Pick<PageRequest, 'perPage' | 'offset'>,
): Promise<{ item: T['$inferSelect'] | ArchivedItem<A>; position: number; rowNumber: number }[]> {
  const slice = sql`${rows} ORDER BY ${sql.raw(order.map((name) => `${name} DESC`).join())} LIMIT ${perPage} OFFSET ${offset}`;
  const found = await db
    .select({
      current: getTableColumns(table as SQLiteTable),
      archived,
      position: sql<number>`page.${sql.raw(order[0]!)}`,
      rowNumber: sql<number>`page.rowNumber`,
    })
    .from(sql`(${slice}) page`)
    .leftJoin(table, sql`page.is_archived = 0 AND ${table}.rowid = page.rowNumber`)
    .leftJoin(archivedSales, sql`page.is_archived = 1 AND ${archivedSales.rowNumber} = page.rowNumber`)
    .orderBy(...order.map((name) => sql.raw(`page.${name} DESC`)));
  return found.map(({ current, archived, ...at }) => ({ item: (current ?? archived) as T['$inferSelect'] | ArchivedItem<A>, ...at }));
}

export interface Listed<T> {
  items: T[];
  total: number;
}

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

export const toSinglePage = <T>(items: T[]) =>
  toPage({ ...pageRequest({ page: 1, per_page: PER_PAGE.max }) }, { items, total: items.length }, (item) => item);
