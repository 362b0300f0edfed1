import { eq, type SQL, sql } from 'drizzle-orm';
import type { ProductId } from '#core/ids.ts';
import type { Scope, Tenant } from '#platform/context.ts';
import { idField, jsonRows, setOf } from '#platform/db/among.ts';

import { type RowQuery, rowNumberOf, rowsOf } from '#platform/db/page.ts';
import { SEARCHED_MAX } from '#platform/db/search/named.ts';
import { archivedReceipts } from '#platform/db/tables/archives.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { receiptNames, receipts } from '#platform/db/tables/receipts.ts';

type Table = typeof receipts | typeof archivedReceipts;
type Owner = Pick<Scope, 'db' | 'merchantId' | 'livemode'>;
type Checked = (table: Table) => SQL;

interface FoundName {
  name: string;
  productId: ProductId;
  since: number;
  until: number;
}

interface Cursor {
  position: number;
  rowNumber: number;
}

/** Names for which receipts are read product by product. With more names, all receipts of the merchant are read and compared. */
const NAMES_MAX = 50;

/**
 * Lists receipts that contain all terms of `q`, newest first. A term is in the name of the product or in the metadata. Receipts are found by
 * the names of products, and those with metadata also by their own row of the index.
 */
export async function bySearchTerms(owner: Owner, q: string, receiptChains: boolean[], checked: Checked) {
  const found = await owner.db
    .select({ name: receiptNames.name, productId: receiptNames.productId, since: receiptNames.since, until: receiptNames.until })
    .from(sql`name_words`)
    .innerJoin(receiptNames, sql`${receiptNames.id} = name_words.rowid`)
    .where(saysAll('name_words', owner, q))
    .limit(NAMES_MAX + 1);
  const names = found.length > NAMES_MAX ? null : found;
  return (cursor: Cursor | null, limit?: number): RowQuery => {
    const named =
      found.length === 0
        ? []
        : receiptChains.flatMap((isPaid) => (isPaid ? selectPaid : selectReceived)(owner, q, names, checked, cursor, limit));
    return {
      rows: sql.join([...named, ...withMetadata(owner, q, names, checked, cursor)], sql` UNION ALL `),
      order: ['position', 'rowNumber'],
    };
  };
}

/**
 * Matches if every term of `q` is in the row of the index. The column `owner` has the merchant's own term, as migrations/ creates it, so that
 * rows of other merchants are not read.
 */
function saysAll(index: 'name_words' | 'invoice_words', { merchantId, livemode }: Tenant, q: string): SQL {
  const searched = q.split(/[\s\0]+/).filter((term) => term !== '');
  const terms = searched.map((term) => `words:"${term.replaceAll('"', '""')}"`);
  return sql`${sql.raw(index)} MATCH ${[`owner:m${merchantId.replaceAll('-', '')}${livemode ? 1 : 0}`, ...terms].join(' AND ')}`;
}

/** SQL condition: the receipt has one of the names. `names` is null if they are too many to list. */
function isNamed(owner: Owner, q: string, names: FoundName[] | null, productName: SQL): SQL {
  if (names) return sql`${productName} IN ${setOf(names.map(({ name }) => name))}`;
  const ofName = rowsOf(receiptNames, owner, [[receiptNames.name, productName]]);
  return sql`EXISTS (SELECT 1 FROM ${receiptNames} CROSS JOIN name_words ON name_words.rowid = ${receiptNames.id}
    WHERE ${ofName} AND ${saysAll('name_words', owner, q)})`;
}

const nameOf = (table: Table): SQL => sql`+${table.productName}`;

const selected = (table: Table, position: SQL): SQL =>
  sql`SELECT ${sql.raw(table === receipts ? '0' : '1')} AS is_archived, ${rowNumberOf(table)} AS rowNumber, ${position} AS position`;

const isAfter = (cursor: Cursor | null, position: SQL, table: Table): SQL =>
  cursor
    ? sql` AND ${position} <= ${cursor.position} AND (${position} < ${cursor.position} OR ${rowNumberOf(table)} < ${cursor.rowNumber})`
    : sql``;

/** Received receipts, in the order of their payments. */
function selectReceived(
  owner: Owner,
  q: string,
  names: FoundName[] | null,
  checked: Checked,
  cursor: Cursor | null,
  limit?: number,
): SQL[] {
  const current = {
    table: receipts,
    from: sql`${payments} CROSS JOIN ${receipts} ON ${receipts.id} = ${payments.receiptId}`,
    // Read in the order of an index: payments of a product, or all confirmed ones.
    isOwn: names ? rowsOf(payments, owner) : sql`${rowsOf(payments, owner)} AND status = 'CONFIRMED'`,
    productId: sql`${payments.productId} = ${idField('productId')}`,
    position: sql`${payments.createdAt}`,
    rowId: rowNumberOf(payments),
  };
  const archived = {
    table: archivedReceipts,
    from: sql`${archivedReceipts}`,
    isOwn: sql`${rowsOf(archivedReceipts, owner)} AND +${archivedReceipts.isPaidByOwner} = 0`,
    productId: sql`${archivedReceipts.productId} = ${idField('productId')}`,
    position: sql`${archivedReceipts.createdAt}`,
    rowId: rowNumberOf(archivedReceipts),
  };
  return [current, archived].map(({ table, from, isOwn, productId, position, rowId }) => {
    const after = isAfter(cursor, position, table);
    if (!names)
      return sql`${selected(table, position)} FROM ${from} WHERE ${isOwn} AND ${checked(table)} AND ${isNamed(owner, q, null, nameOf(table))}${after}`;
    const where = sql`${isOwn} AND ${productId} AND ${position} BETWEEN j.value ->> 'since' AND j.value ->> 'until'
      AND ${nameOf(table)} = j.value ->> 'name' AND ${checked(table)}${after}`;
    if (limit === undefined) return sql`${selected(table, position)} FROM ${jsonRows(names)} CROSS JOIN ${from} WHERE ${where}`;
    // Reads the newest receipts of each name, in the order of the index.
    return sql`${selected(table, position)} FROM ${jsonRows(names)} CROSS JOIN ${from} WHERE ${rowId} IN (
      SELECT ${rowId} FROM ${from} WHERE ${where} ORDER BY ${position} DESC, ${rowNumberOf(table)} DESC LIMIT ${limit})`;
  });
}

/** Receipts that the account paid, which are few. */
const selectPaid = (owner: Owner, q: string, names: FoundName[] | null, checked: Checked, cursor: Cursor | null): SQL[] =>
  [receipts, archivedReceipts].map(
    (table) => sql`${selected(table, sql`${table.createdAt}`)} FROM ${table}
      WHERE ${rowsOf(table, owner)} AND ${eq(table.isPaidByOwner, true)} AND ${checked(table)} AND ${isNamed(owner, q, names, nameOf(table))}${isAfter(cursor, sql`${table.createdAt}`, table)}`,
  );

/** Receipts found by their metadata: the newest `SEARCHED_MAX`, without those found by their names. */
const withMetadata = (owner: Owner, q: string, names: FoundName[] | null, checked: Checked, cursor: Cursor | null): SQL[] =>
  [receipts, archivedReceipts].map((table) => {
    const position = table === receipts ? sql`coalesce(${payments.createdAt}, ${receipts.createdAt})` : sql`${table.createdAt}`;
    const joined = table === receipts ? sql` LEFT JOIN ${payments} ON ${payments.id} = ${receipts.paymentId}` : sql``;
    return sql`${selected(table, position)}
      FROM (SELECT rowid FROM invoice_words WHERE ${saysAll('invoice_words', owner, q)} ORDER BY rowid DESC LIMIT ${SEARCHED_MAX}) w
      CROSS JOIN ${table} ON ${rowNumberOf(table)} = w.rowid${joined}
      WHERE ${checked(table)} AND NOT ${isNamed(owner, q, names, nameOf(table))}${isAfter(cursor, position, table)}`;
  });
