import { and, inArray, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Scope, Tenant } from '#platform/context.ts';
import { jsonRows } from '#platform/db/among.ts';
import { storyIdOf } from '#platform/db/archive.ts';
import { type PageRequest, type Places, readBoth, readSlice, rowsOf } from '#platform/db/page.ts';
import { listNamedPayments } from '#platform/db/search/named.ts';
import { archivedReceipts } from '#platform/db/tables/archives.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { isPlanProduct, PLAN_PRODUCTS } from '#rules/plans.ts';
import { wholeReceipts } from './store.ts';

type Table = typeof receipts | typeof archivedReceipts;
type Slice = Awaited<ReturnType<typeof readSlice<typeof receipts, typeof archivedReceipts>>>;
type Owner = Pick<Scope, 'db' | 'merchantId' | 'livemode'>;

/** What a merchant was paid, what the merchant paid (for plans), or both. */
export const DIRECTIONS = ['received', 'paid', 'all'] as const;

export interface ReceiptFilter {
  wallet?: string;
  productId?: string;
  direction?: (typeof DIRECTIONS)[number];
  /** The beginning of something that names its payment, or whole words of the product name or of what the merchant wrote to it. */
  q?: string;
}

/** The last row of a page: the next page begins after it. */
interface Cursor {
  createdAt: number;
  place: number;
}

const ofPlans = (table: Table) => inArray(table.productId, PLAN_PRODUCTS);

/** Which of an owner's receipts a filter leaves by its direction; undefined: all. */
type InDirection = (table: Table) => SQL | undefined;

/**
 * What was paid is found by its products. What was received is all but that: the few numbers of what was paid are read first, because every
 * index has the number of its row, so that none is looked up to tell it apart.
 */
async function directionOf(owner: Owner, { direction = 'received', productId }: ReceiptFilter): Promise<InDirection> {
  if (direction === 'all') return () => undefined;
  if (direction === 'paid') return ofPlans;
  if (productId !== undefined) return () => (isPlanProduct(productId) ? sql`false` : undefined);
  const paid = (table: Table) => sql`SELECT rowid AS place FROM ${table} WHERE ${rowsOf(table, owner)} AND ${ofPlans(table)}`;
  const places = await owner.db.all<{ place: number }>(sql`${paid(receipts)} UNION ALL ${paid(archivedReceipts)}`);
  const numbers = sql.raw(places.map(({ place }) => Number(place)).join());
  return (table) => (places.length === 0 ? undefined : sql`${table}.rowid NOT IN (${numbers})`);
}

const narrowed = (table: Table, { wallet, productId }: ReceiptFilter): [SQLiteColumn, unknown][] => [
  [table.payer, wallet],
  [table.productId, productId],
];

/** The merchant's receipts, newest first. Whatever is searched for, little more is read than what is found. */
export async function listReceipts(ctx: Scope, filter: ReceiptFilter, page: PageRequest) {
  const [first, second] = await placesOf(ctx, filter);
  const read = (places: Places) => readBoth(ctx.db, receipts, archivedReceipts, places, page);
  const found = await read(first(null));
  const { items, total } = second && found.total === 0 ? await read(second(null)) : found;
  return { items: await wholeReceipts(ctx, items), total };
}

/** Pages of all of them, newest first, each read when it is asked for. What is issued meanwhile is not among them. */
export async function* walkReceipts(ctx: Scope, filter: ReceiptFilter, { max, pageMax }: { max: number; pageMax: number }) {
  const places = await placesToWalk(ctx, filter);
  let cursor: Cursor | null = null;
  for (let left = max; left > 0; ) {
    const page = { perPage: Math.min(pageMax, left), offset: 0 };
    const found: Slice = await readSlice(ctx.db, receipts, archivedReceipts, places(cursor), page);
    const last = found.at(-1);
    if (!last) return;
    cursor = { createdAt: last.item.createdAt, place: last.place };
    left -= found.length;
    yield await wholeReceipts(
      ctx,
      found.map(({ item }) => item),
    );
    // A page that is not full is the last.
    if (found.length < page.perPage) return;
  }
}

/** Are there more than so many? */
export async function hasMoreReceipts(ctx: Owner, filter: ReceiptFilter, max: number): Promise<boolean> {
  const { rows } = (await placesToWalk(ctx, filter))(null);
  return (await ctx.db.all(sql`SELECT 1 FROM (${rows} LIMIT ${max + 1}) LIMIT 1 OFFSET ${max}`)).length > 0;
}

type PlacesAfter = (cursor: Cursor | null) => Places;

/** The same choice as a list makes, made once for all pages. */
async function placesToWalk(ctx: Owner, filter: ReceiptFilter): Promise<PlacesAfter> {
  const [first, second] = await placesOf(ctx, filter);
  const isFound = async ({ rows }: Places) => (await ctx.db.all(sql`SELECT 1 FROM (${rows} LIMIT 1)`)).length > 0;
  return second && !(await isFound(first(null))) ? second : first;
}

/** Where the receipts are that a filter asks for; the second only where nothing is found in the first. */
async function placesOf(owner: Owner, filter: ReceiptFilter): Promise<[PlacesAfter] | [PlacesAfter, PlacesAfter]> {
  const { merchantId, livemode } = owner;
  const { q } = filter;
  const inDirection = await directionOf(owner, filter);
  const mine = (table: Table) => and(rowsOf(table, owner, narrowed(table, filter)), inDirection(table))!;
  if (!q) return [byTime(mine)];
  // The signs keep the search on the index of what is searched for: it has few rows, or gives them newest first.
  const checked = (table: Table): SQL =>
    and(
      ...[[table.merchantId, merchantId] as const, [table.livemode, livemode] as const, ...narrowed(table, filter)].map(
        ([column, value]) => (value === undefined ? undefined : sql`+${column} = ${sql.param(value, column)}`),
      ),
      // A paid plan's product by its value, not by its index.
      inDirection === ofPlans ? sql`+${ofPlans(table)}` : inDirection(table),
    )!;
  const words = byWords(owner, q, checked);
  const named = await listNamedPayments(owner, q);
  if (named.length === 0) return [words];
  const ofNamed = (table: Table) => {
    const id = table === receipts ? sql`j.value` : storyIdOf(sql`j.value`);
    return sql`${table.paymentId} IN (SELECT ${id} FROM ${jsonRows(named)})`;
  };
  return [byTime((table) => sql`${ofNamed(table)} AND ${checked(table)}`), words];
}

const byTime =
  (where: (table: Table) => SQL): PlacesAfter =>
  (cursor) => {
    const arm = (table: Table, isArchived: 0 | 1) => sql`SELECT ${sql.raw(String(isArchived))} AS is_archived, rowid AS place, created_at
      FROM ${table} WHERE ${where(table)}${cursor ? sql` AND ${isAfter(table, cursor)}` : sql``}`;
    return { rows: sql`${arm(receipts, 0)} UNION ALL ${arm(archivedReceipts, 1)}`, order: ['created_at', 'place'] };
  };

/** The number of a row goes with it into the archive. */
const isAfter = (table: Table, { createdAt, place }: Cursor): SQL =>
  sql`${table.createdAt} <= ${createdAt} AND (${table.createdAt} < ${createdAt} OR ${table}.rowid < ${place})`;

/** Those that say every word, newest first: their number is that of the words. */
const byWords =
  (owner: Tenant, q: string, checked: (table: Table) => SQL): PlacesAfter =>
  (cursor) => ({
    rows: sql`SELECT ${receipts.id} IS NULL AS is_archived, receipt_words.rowid AS place FROM receipt_words
      LEFT JOIN ${receipts} ON ${receipts}.rowid = receipt_words.rowid AND ${checked(receipts)}
      LEFT JOIN ${archivedReceipts} ON ${archivedReceipts.rowNumber} = CASE WHEN ${receipts.id} IS NULL THEN receipt_words.rowid END
        AND ${checked(archivedReceipts)}
      WHERE ${saysAll(owner, q)} AND (${receipts.id} IS NOT NULL OR ${archivedReceipts.id} IS NOT NULL)${cursor ? sql` AND receipt_words.rowid < ${cursor.place}` : sql``}`,
    order: ['place'],
  });

/** Every word of `q` is in the product name, or in what the merchant wrote to it. The first term is the merchant's own, as migrations/ make it: others' receipts are not touched. */
function saysAll({ merchantId, livemode }: Tenant, q: string): SQL {
  const words = q.split(/[\s\0]+/).filter((word) => word !== '');
  const terms = [`m${merchantId.replaceAll('-', '')}${livemode ? 1 : 0}`, ...words.map((word) => `"${word.replaceAll('"', '""')}"`)];
  return sql`receipt_words MATCH ${terms.join(' AND ')}`;
}
