import { and, inArray, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Scope, Tenant } from '#platform/context.ts';
import { jsonRows } from '#platform/db/among.ts';
import { subjectIdOf } from '#platform/db/archive.ts';
import { listWithArchive, type PageRequest, type RowQuery, readSlice, rowsOf } from '#platform/db/page.ts';
import { listNamedPayments } from '#platform/db/search/named.ts';
import { archivedReceipts } from '#platform/db/tables/archives.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { isPlanProduct, PLAN_PRODUCTS } from '#rules/plans.ts';
import { loadArchivedReceipts } from './store.ts';

type Table = typeof receipts | typeof archivedReceipts;
type Slice = Awaited<ReturnType<typeof readSlice<typeof receipts, typeof archivedReceipts>>>;
type Owner = Pick<Scope, 'db' | 'merchantId' | 'livemode'>;

export const DIRECTIONS = ['received', 'paid', 'all'] as const;

export interface ReceiptFilter {
  wallet?: string;
  productId?: string;
  direction?: (typeof DIRECTIONS)[number];
  /** Prefix of an id or reference of the payment, or complete terms of the product name or metadata. */
  q?: string;
}

interface Cursor {
  createdAt: number;
  rowNumber: number;
}

const ofPlans = (table: Table) => inArray(table.productId, PLAN_PRODUCTS);

type InDirection = (table: Table) => SQL | undefined;

/**
 * Filters by direction. Paid receipts are found by their products. Received ones exclude the few row numbers of paid ones, read first,
 * because every index contains the row number and no row needs to be read.
 */
async function directionFilter(owner: Owner, { direction = 'received', productId }: ReceiptFilter): Promise<InDirection> {
  if (direction === 'all') return () => undefined;
  if (direction === 'paid') return ofPlans;
  if (productId !== undefined) return () => (isPlanProduct(productId) ? sql`false` : undefined);
  const paid = (table: Table) => sql`SELECT rowid AS rowNumber FROM ${table} WHERE ${rowsOf(table, owner)} AND ${ofPlans(table)}`;
  const rows = await owner.db.all<{ rowNumber: number }>(sql`${paid(receipts)} UNION ALL ${paid(archivedReceipts)}`);
  const numbers = sql.raw(rows.map(({ rowNumber }) => Number(rowNumber)).join());
  return (table) => (rows.length === 0 ? undefined : sql`${table}.rowid NOT IN (${numbers})`);
}

const narrowed = (table: Table, { wallet, productId }: ReceiptFilter): [SQLiteColumn, unknown][] => [
  [table.payer, wallet],
  [table.productId, productId],
];

/** Lists the merchant's receipts, newest first. A search reads little more than its matches. */
export async function listReceipts(ctx: Scope, filter: ReceiptFilter, page: PageRequest) {
  const [first, second] = await chooseQueries(ctx, filter);
  const read = (rows: RowQuery) => listWithArchive(ctx.db, receipts, archivedReceipts, rows, page);
  const found = await read(first(null));
  const { items, total } = second && found.total === 0 ? await read(second(null)) : found;
  return { items: await loadArchivedReceipts(ctx, items), total };
}

/** Pages through all receipts, newest first, lazily. Receipts issued meanwhile are excluded. */
export async function* walkReceipts(ctx: Scope, filter: ReceiptFilter, { max, pageMax }: { max: number; pageMax: number }) {
  const rows = await rowsToWalk(ctx, filter);
  let cursor: Cursor | null = null;
  for (let left = max; left > 0; ) {
    const page = { perPage: Math.min(pageMax, left), offset: 0 };
    const found: Slice = await readSlice(ctx.db, receipts, archivedReceipts, rows(cursor), page);
    const last = found.at(-1);
    if (!last) return;
    cursor = { createdAt: last.item.createdAt, rowNumber: last.rowNumber };
    left -= found.length;
    yield await loadArchivedReceipts(
      ctx,
      found.map(({ item }) => item),
    );
    if (found.length < page.perPage) return;
  }
}

export async function hasMoreReceipts(ctx: Owner, filter: ReceiptFilter, max: number): Promise<boolean> {
  const { rows } = (await rowsToWalk(ctx, filter))(null);
  return (await ctx.db.all(sql`SELECT 1 FROM (${rows} LIMIT ${max + 1}) LIMIT 1 OFFSET ${max}`)).length > 0;
}

type RowsAfter = (cursor: Cursor | null) => RowQuery;

async function rowsToWalk(ctx: Owner, filter: ReceiptFilter): Promise<RowsAfter> {
  const [first, second] = await chooseQueries(ctx, filter);
  const isFound = async ({ rows }: RowQuery) => (await ctx.db.all(sql`SELECT 1 FROM (${rows} LIMIT 1)`)).length > 0;
  return second && !(await isFound(first(null))) ? second : first;
}

/** Returns the queries of a filter. The second runs only if the first finds nothing. */
async function chooseQueries(owner: Owner, filter: ReceiptFilter): Promise<[RowsAfter] | [RowsAfter, RowsAfter]> {
  const { merchantId, livemode } = owner;
  const { q } = filter;
  const inDirection = await directionFilter(owner, filter);
  const mine = (table: Table) => and(rowsOf(table, owner, narrowed(table, filter)), inDirection(table))!;
  if (!q) return [byTime(mine)];
  // The unary pluses make SQLite use the index of the search: it has few rows, or returns them newest first.
  const checked = (table: Table): SQL =>
    and(
      ...[[table.merchantId, merchantId] as const, [table.livemode, livemode] as const, ...narrowed(table, filter)].map(
        ([column, value]) => (value === undefined ? undefined : sql`+${column} = ${sql.param(value, column)}`),
      ),
      // Compares a paid plan's product by value, not by index.
      inDirection === ofPlans ? sql`+${ofPlans(table)}` : inDirection(table),
    )!;
  const searched = bySearchTerms(owner, q, checked);
  const named = await listNamedPayments(owner, q);
  if (named.length === 0) return [searched];
  const ofNamed = (table: Table) => {
    const id = table === receipts ? sql`j.value` : subjectIdOf(sql`j.value`);
    return sql`${table.paymentId} IN (SELECT ${id} FROM ${jsonRows(named)})`;
  };
  return [byTime((table) => sql`${ofNamed(table)} AND ${checked(table)}`), searched];
}

const byTime =
  (where: (table: Table) => SQL): RowsAfter =>
  (cursor) => {
    const branch = (
      table: Table,
      isArchived: 0 | 1,
    ) => sql`SELECT ${sql.raw(String(isArchived))} AS is_archived, rowid AS rowNumber, created_at
      FROM ${table} WHERE ${where(table)}${cursor ? sql` AND ${isAfter(table, cursor)}` : sql``}`;
    return { rows: sql`${branch(receipts, 0)} UNION ALL ${branch(archivedReceipts, 1)}`, order: ['created_at', 'rowNumber'] };
  };

/** A row retains its number in the archive. */
const isAfter = (table: Table, { createdAt, rowNumber }: Cursor): SQL =>
  sql`${table.createdAt} <= ${createdAt} AND (${table.createdAt} < ${createdAt} OR ${table}.rowid < ${rowNumber})`;

/** Lists receipts that contain all search terms, newest first: a row of the search index has the row number of its receipt. */
const bySearchTerms =
  (owner: Tenant, q: string, checked: (table: Table) => SQL): RowsAfter =>
  (cursor) => ({
    rows: sql`SELECT ${receipts.id} IS NULL AS is_archived, receipt_words.rowid AS rowNumber FROM receipt_words
      LEFT JOIN ${receipts} ON ${receipts}.rowid = receipt_words.rowid AND ${checked(receipts)}
      LEFT JOIN ${archivedReceipts} ON ${archivedReceipts.rowNumber} = CASE WHEN ${receipts.id} IS NULL THEN receipt_words.rowid END
        AND ${checked(archivedReceipts)}
      WHERE ${saysAll(owner, q)} AND (${receipts.id} IS NOT NULL OR ${archivedReceipts.id} IS NOT NULL)${cursor ? sql` AND receipt_words.rowid < ${cursor.rowNumber}` : sql``}`,
    order: ['rowNumber'],
  });

/**
 * Matches if every term of `q` is in the product name or the metadata. The first term is the merchant's own, as migrations/ creates it, so
 * that other merchants' receipts are not read.
 */
function saysAll({ merchantId, livemode }: Tenant, q: string): SQL {
  const searched = q.split(/[\s\0]+/).filter((term) => term !== '');
  const terms = [`m${merchantId.replaceAll('-', '')}${livemode ? 1 : 0}`, ...searched.map((term) => `"${term.replaceAll('"', '""')}"`)];
  return sql`receipt_words MATCH ${terms.join(' AND ')}`;
}
