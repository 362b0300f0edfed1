import { and, desc, eq, type SQL, sql } from 'drizzle-orm';
import type { Scope, Tenant } from '#platform/context.ts';
import { amongIds, setOfIds } from '#platform/db/among.ts';

import { countRows, type PageRequest, type RowQuery, readSlice, rowNumberOf, rowsOf, totalOf } from '#platform/db/page.ts';
import { rowsOfCustomer } from '#platform/db/search/customer.ts';
import { listNamedPayments } from '#platform/db/search/named.ts';
import { archivedPayments, archivedReceipts, RECEIPT_LINE } from '#platform/db/tables/archives.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import type { Customer } from '#rules/balance.ts';
import { bySearchTerms } from './search.store.ts';
import { loadArchivedReceipts, receiptsOfPayments } from './store.ts';

type Table = typeof receipts | typeof archivedReceipts;
type Slice = Awaited<ReturnType<typeof readSlice<typeof receipts, typeof RECEIPT_LINE>>>;
type Owner = Pick<Scope, 'db' | 'merchantId' | 'livemode'>;

export const DIRECTIONS = ['received', 'paid', 'all'] as const;

export interface ReceiptFilter {
  wallet?: string;
  productId?: string;
  direction?: (typeof DIRECTIONS)[number];
  /** Customers of the payments. Receipts for plans have none. */
  customers?: readonly Customer[];
  /** Prefix of an id or reference of the payment, or complete terms of the product name or metadata. */
  q?: string;
  /** Creation of the payment, in epoch ms, half-open. */
  createdFrom?: number;
  createdTo?: number;
}

type Cursor = Pick<Slice[number]['item'], 'isPaidByOwner' | 'seq' | 'afterSeq'> & Pick<Slice[number], 'position' | 'rowNumber'>;

/** Compares by value, not by index: the unary plus makes SQLite use the index of the search, or of the receipt chain. */
const isInFilter = (table: Table, owner: Tenant, { wallet, productId, customers, direction = 'received' }: ReceiptFilter): SQL =>
  and(
    customers &&
      sql`+${table.paymentId} IN (${sql.join(
        [payments, archivedPayments].map((sold) => rowsOfCustomer(sold, owner, customers, 'id')),
        sql` UNION ALL `,
      )})`,
    ...[
      [table.merchantId, owner.merchantId] as const,
      [table.livemode, owner.livemode] as const,
      [table.payer, wallet] as const,
      [table.productId, productId] as const,
      [table.isPaidByOwner, direction === 'all' ? undefined : direction === 'paid'] as const,
    ].map(([column, value]) => (value === undefined ? undefined : sql`+${column} = ${sql.param(value, column)}`)),
  )!;

/** Lists the merchant's receipts, newest first. A search reads little more than its matches. */
export async function listReceipts(ctx: Scope, filter: ReceiptFilter, page: PageRequest) {
  if (isPlain(filter)) {
    const [found, total] = await Promise.all([
      ctx.livemode && filter.direction !== 'all'
        ? readNumbered(ctx, filter.direction === 'paid', page)
        : readSlice(ctx.db, receipts, RECEIPT_LINE, byReceiptChain(ctx, filter)(null), page),
      countReceiptChains(ctx, filter, page),
    ]);
    return {
      items: await loadArchivedReceipts(
        ctx,
        found.map(({ item }) => item),
      ),
      total,
    };
  }
  const [first, second] = await chooseQueries(ctx, filter);
  const read = async (rows: RowsAfter) => {
    const [found, total] = await Promise.all([
      readSlice(ctx.db, receipts, RECEIPT_LINE, rows(null, page.offset + page.perPage), page),
      countRows(ctx.db, rows(null), page),
    ]);
    return { items: found.map(({ item }) => item), total: totalOf(total, page, found.length) };
  };
  const found = await read(first);
  const { items, total } = second && found.total === 0 ? await read(second) : found;
  return { items: await loadArchivedReceipts(ctx, items), total };
}

/** Pages through all receipts, newest first, lazily. Receipts issued meanwhile are excluded. */
export async function* walkReceipts(ctx: Scope, filter: ReceiptFilter, { max, pageMax }: { max: number; pageMax: number }) {
  const rows = await rowsToWalk(ctx, filter);
  let cursor: Cursor | null = null;
  for (let left = max; left > 0; ) {
    const page = { perPage: Math.min(pageMax, left), offset: 0 };
    const found: Slice = await readSlice(ctx.db, receipts, RECEIPT_LINE, rows(cursor, page.perPage), page);
    const last = found.at(-1);
    if (!last) return;
    cursor = { ...last.item, position: last.position, rowNumber: last.rowNumber };
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

/** `limit`: rows that are read in order. The query may then leave out later ones. */
type RowsAfter = (cursor: Cursor | null, limit?: number) => RowQuery;

const isPlain = ({ q, ...filter }: ReceiptFilter): boolean =>
  ([filter.wallet, filter.productId, filter.customers, filter.createdFrom, filter.createdTo] as unknown[]).every(
    (value) => value === undefined,
  ) && !q;

const inRange = (position: SQL, { createdFrom, createdTo }: ReceiptFilter): SQL =>
  and(
    sql`1`,
    createdFrom === undefined ? undefined : sql`${position} >= ${createdFrom}`,
    createdTo === undefined ? undefined : sql`${position} < ${createdTo}`,
  )!;

const isRanged = ({ createdFrom, createdTo }: ReceiptFilter): boolean => createdFrom !== undefined || createdTo !== undefined;

/** Leaves out what is beyond the range. All rows are read, because a limit could leave out rows of the range. */
const withinRange = (rows: RowsAfter, filter: ReceiptFilter): RowsAfter =>
  isRanged(filter)
    ? (cursor) => {
        const all = rows(cursor);
        return { ...all, rows: sql`SELECT * FROM (${all.rows}) WHERE ${inRange(sql`position`, filter)}` };
      }
    : rows;

const receiptChainsOf = ({ direction = 'received' }: ReceiptFilter): boolean[] =>
  direction === 'all' ? [false, true] : [direction === 'paid'];

/**
 * Lists all receipts of a direction, newest first. In a list of both, a paid receipt follows the received ones that were there before it:
 * few are paid, so sorting them reads little.
 */
const byReceiptChain =
  (owner: Owner, filter: ReceiptFilter): RowsAfter =>
  (cursor) => {
    const receiptChains = receiptChainsOf(filter);
    const position = (isPaid: boolean) => sql.raw(isPaid && receiptChains.length > 1 ? 'after_seq' : 'seq');
    const isAfterCursor = (isPaid: boolean, { isPaidByOwner, seq, afterSeq }: Cursor): SQL => {
      if (isPaid === isPaidByOwner) return sql`seq < ${seq}`;
      return isPaid ? sql`after_seq < ${seq}` : sql`seq <= ${afterSeq}`;
    };
    const branch = (table: Table, isPaid: boolean) => sql`SELECT ${sql.raw(table === receipts ? '0' : '1')} AS is_archived,
      ${rowNumberOf(table)} AS rowNumber, ${position(isPaid)} AS position, ${sql.raw(isPaid ? '1' : '0')} AS is_paid, seq
      FROM ${table} WHERE ${ofReceiptChain(table, owner, isPaid)}${cursor ? sql` AND ${isAfterCursor(isPaid, cursor)}` : sql``}`;
    const branches = receiptChains.flatMap((isPaid) => [branch(receipts, isPaid), branch(archivedReceipts, isPaid)]);
    return { rows: sql.join(branches, sql` UNION ALL `), order: ['position', 'is_paid', 'seq'] };
  };

const ofReceiptChain = (table: Table, owner: Owner, isPaid: boolean): SQL => and(rowsOf(table, owner), eq(table.isPaidByOwner, isPaid))!;

/** Reads a page of live receipts by number: they have no gaps, so no earlier page is read. */
async function readNumbered(owner: Owner, isPaid: boolean, { offset, perPage }: PageRequest) {
  const end = sql`(SELECT max(seq) FROM receipts WHERE ${ofReceiptChain(receipts, owner, isPaid)}) - ${offset}`;
  const read = <T extends Table>(table: T) =>
    owner.db
      .select()
      .from(table as typeof receipts)
      .where(sql`${ofReceiptChain(table, owner, isPaid)} AND ${table.seq} <= ${end} AND ${table.seq} > ${end} - ${perPage}`)
      .orderBy(desc(table.seq)) as unknown as Promise<T['$inferSelect'][]>;
  const current = await read(receipts);
  // Read second, because a receipt moves only from the database to the archive.
  const moved = current.length < perPage ? await read(archivedReceipts) : [];
  const ids = new Set(current.map(({ id }) => id));
  return [...current, ...moved.filter(({ id }) => !ids.has(id))].sort((a, b) => b.seq - a.seq).map((item) => ({ item }));
}

/** Counts all receipts of a direction. Live receipts are never deleted and the last one is never archived, so its number is the total. */
async function countReceiptChains(owner: Owner, filter: ReceiptFilter, page: PageRequest): Promise<number> {
  if (!owner.livemode) return countRows(owner.db, byReceiptChain(owner, filter)(null), page);
  const ends = receiptChainsOf(filter).map(
    (isPaid) => sql`coalesce((SELECT max(seq) FROM receipts WHERE ${ofReceiptChain(receipts, owner, isPaid)}), 0)`,
  );
  const [{ total }] = (await owner.db.all<{ total: number }>(sql`SELECT ${sql.join(ends, sql` + `)} AS total`)) as [{ total: number }];
  return total;
}

async function rowsToWalk(ctx: Owner, filter: ReceiptFilter): Promise<RowsAfter> {
  if (isPlain(filter)) return byReceiptChain(ctx, filter);
  const [first, second] = await chooseQueries(ctx, filter);
  const isFound = async ({ rows }: RowQuery) => (await ctx.db.all(sql`SELECT 1 FROM (${rows} LIMIT 1)`)).length > 0;
  return second && !(await isFound(first(null))) ? second : first;
}

/** Returns the queries of a filter. The second runs only if the first finds nothing. */
async function chooseQueries(owner: Owner, filter: ReceiptFilter): Promise<[RowsAfter] | [RowsAfter, RowsAfter]> {
  const { q } = filter;
  if (!q) return [filter.customers ? byCustomer(owner, filter, filter.customers) : byPayment(owner, filter)];
  const checked = (table: Table) => isInFilter(table, owner, filter);
  const searched = withinRange(await bySearchTerms(owner, q, receiptChainsOf(filter), checked), filter);
  const named = await listNamedPayments(owner, q);
  if (named.length === 0) return [searched];
  const ofNamed = (table: Table) => (table === receipts ? receiptsOfPayments(setOfIds(named)) : amongIds(table.paymentId, named));
  const branch = (table: Table) =>
    selectFrom(table, sql`${ofNamed(table)} AND ${checked(table)}`, sql`${table}`, table === receipts ? paidAt : undefined);
  return [byTime([branch(receipts), branch(archivedReceipts)], filter), searched];
}

/** Creation of the payment, by which all lists but that of what the owner paid go. */
const paidAt = sql`coalesce((SELECT created_at FROM payments WHERE id = ${receipts.paymentId}), ${receipts.createdAt})`;

interface Branch {
  columns: SQL;
  where: SQL;
  position: SQL;
  rowNumber: SQL;
}

const selectFrom = (table: Table, where: SQL, from = sql`${table}`, position = sql`${table.createdAt}`): Branch => ({
  columns: sql`SELECT ${sql.raw(table === receipts ? '0' : '1')} AS is_archived, ${rowNumberOf(table)} AS rowNumber, ${position} AS position FROM ${from}`,
  where,
  position,
  rowNumber: rowNumberOf(table),
});

/**
 * Lists receipts of a wallet or product, newest first. Received ones are found by their payments, paid ones are few. A payment moves to the
 * archive after its receipt, and the archived receipt retains the position and the row number.
 */
function byPayment(owner: Owner, filter: ReceiptFilter): RowsAfter {
  const { wallet, productId } = filter;
  const ofPayments = rowsOf(payments, owner, [
    [payments.payerWallet, wallet],
    [payments.productId, productId],
  ]);
  const ofArchived = rowsOf(archivedReceipts, owner, [
    [archivedReceipts.payer, wallet],
    [archivedReceipts.productId, productId],
  ]);
  // A list of a period alone is read by the indexes of these two states. No other payment has a receipt.
  const isPeriod = wallet === undefined && productId === undefined;
  const states = isPeriod ? [sql`${payments.status} = 'CONFIRMED'`, sql`${payments.status} = 'FAILED'`] : [sql`1`];
  const joined = sql`${payments} CROSS JOIN ${receipts} ON ${receipts.id} = ${payments.receiptId}`;
  const received = [
    ...states.map((state) => selectFrom(receipts, sql`${ofPayments} AND ${state}`, joined, sql`${payments.createdAt}`)),
    selectFrom(archivedReceipts, sql`${ofArchived} AND +${archivedReceipts.isPaidByOwner} = 0`),
  ];
  const paid = ([receipts, archivedReceipts] as const).map((table) =>
    selectFrom(table, sql`${ofReceiptChain(table, owner, true)} AND ${isInFilter(table, owner, filter)}`),
  );
  return byTime(
    receiptChainsOf(filter).flatMap((isPaid) => (isPaid ? paid : received)),
    filter,
  );
}

/** Lists receipts of customers, newest first. The receipt of a payment is archived before the payment is, or with it in one row. */
function byCustomer(owner: Owner, filter: ReceiptFilter, customers: readonly Customer[]): RowsAfter {
  const isInRest = (table: Table) => isInFilter(table, owner, { ...filter, customers: undefined });
  const sold = sql`${payments}.rowid IN (${rowsOfCustomer(payments, owner, customers)})`;
  const ofPayments = (table: Table, isIts: SQL) =>
    selectFrom(table, sql`${sold} AND ${isInRest(table)}`, sql`${payments} CROSS JOIN ${table} ON ${isIts}`, sql`${payments.createdAt}`);
  const ofArchived = sql`${archivedReceipts.rowNumber} IN (${rowsOfCustomer(archivedPayments, owner, customers)})`;
  return byTime(
    [
      ofPayments(receipts, sql`${receipts.id} = ${payments.receiptId}`),
      ofPayments(archivedReceipts, sql`${archivedReceipts.paymentId} = ${payments.id}`),
      selectFrom(archivedReceipts, sql`${ofArchived} AND ${isInRest(archivedReceipts)}`),
    ],
    filter,
  );
}

const byTime =
  (branches: Branch[], filter: ReceiptFilter): RowsAfter =>
  (cursor) => {
    const rows = branches.map(({ columns, where: all, position, rowNumber }) => {
      const where = isRanged(filter) ? sql`${all} AND ${inRange(position, filter)}` : all;
      return cursor
        ? sql`${columns} WHERE ${where} AND ${position} <= ${cursor.position} AND (${position} < ${cursor.position} OR ${rowNumber} < ${cursor.rowNumber})`
        : sql`${columns} WHERE ${where}`;
    });
    return { rows: sql.join(rows, sql` UNION ALL `), order: ['position', 'rowNumber'] };
  };
