import { and, asc, eq, gte, isNull, lt, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { raise } from '#core/errors.ts';
import type { PaymentId, ReceiptId } from '#core/ids.ts';
import type { Db, Scope, Shard, Tenant } from '#platform/context.ts';
import { type StoredReceipt, storyIdOf } from '#platform/db/archive.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';
import { type Listed, type PageRequest, type Places, placesOf, readBoth, rowsOf } from '#platform/db/page.ts';
import { archivedReceipts } from '#platform/db/tables/archives.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { wholeReceipts } from './archive.store.ts';

export type { StoredReceipt as Receipt };

type Table = typeof receipts | typeof archivedReceipts;

/** The receipt that this is true of, in the database or in the archive; null where there is none. */
async function findReceipt(ctx: Shard, isIt: (table: Table) => SQL | undefined): Promise<StoredReceipt | null> {
  const { db } = ctx;
  const found =
    (await db.select().from(receipts).where(isIt(receipts)).limit(1).get()) ??
    // Second, because what has left the one is in the other.
    (await db.select().from(archivedReceipts).where(isIt(archivedReceipts)).limit(1).get());
  return found ? (await wholeReceipts(ctx, [found]))[0]! : null;
}

export async function getReceipt(scope: Scope, receiptId: ReceiptId): Promise<StoredReceipt> {
  return (await findReceipt(scope, (table) => and(rowsOf(table, scope), eq(table.id, receiptId)))) ?? raise('not_found');
}

/** True where this database or its index of the archive has it. */
export const hasReceipt = async (db: Db, receiptId: ReceiptId) =>
  (await db.select({ id: receipts.id }).from(receipts).where(eq(receipts.id, receiptId)).get()) ??
  db.select({ id: archivedReceipts.id }).from(archivedReceipts).where(eq(archivedReceipts.id, receiptId)).get();

/** Of any merchant: a receipt is public to the holder of its id. */
export async function getPublicReceipt(ctx: Shard, receiptId: ReceiptId): Promise<StoredReceipt> {
  return (await findReceipt(ctx, (table) => eq(table.id, receiptId))) ?? raise('not_found');
}

export async function findReceiptOfTransaction(scope: Scope, txSignature: string): Promise<StoredReceipt | null> {
  const isClaim = and(eq(txClaims.txSignature, txSignature), eq(txClaims.livemode, scope.livemode));
  const claim = await scope.db.select({ paymentId: txClaims.subjectId }).from(txClaims).where(isClaim).get();
  if (!claim) return null;
  return findReceipt(scope, (table) => and(rowsOf(table, scope), eq(table.paymentId, claim.paymentId as PaymentId)));
}

/** With what became of its transaction, whatever that paid: for verification. */
export async function getReceiptWithFate(ctx: Shard, receiptId: ReceiptId): Promise<{ receipt: StoredReceipt; isOrphaned: boolean }> {
  const receipt = await getPublicReceipt(ctx, receiptId);
  const claim = await ctx.db
    .select({ droppedAt: txClaims.droppedAt })
    .from(txClaims)
    .where(eq(txClaims.subjectId, receipt.paymentId))
    .get();
  return { receipt, isOrphaned: claim !== undefined && claim.droppedAt !== null };
}

export interface ReceiptFilter {
  wallet?: string;
  productId?: string;
  /** The beginning of a signature or receipt id, or whole words of the product name. */
  q?: string;
}

/** The merchant's receipts, newest first. Whatever is searched for, little more is read than what is found. */
export async function listReceipts(scope: Scope, filter: ReceiptFilter, page: PageRequest): Promise<Listed<StoredReceipt>> {
  const { items, total } = await readReceipts(scope, filter, page);
  return { items: await wholeReceipts(scope, items), total };
}

async function readReceipts(scope: Scope, filter: ReceiptFilter, page: PageRequest) {
  const { wallet, productId, q } = filter;
  const narrowed = (table: Table): [SQLiteColumn, unknown][] => [
    [table.payer, wallet],
    [table.productId, productId],
  ];
  const mine = (table: Table) => rowsOf(table, scope, narrowed(table));
  const read = (places: Places) => readBoth(scope.db, receipts, archivedReceipts, places, page);
  if (!q) return read(placesOf(receipts, mine(receipts), archivedReceipts, mine(archivedReceipts)));
  // The signs keep the search on the index of what is searched for: it has few rows, or gives them newest first.
  const checked = (table: Table): SQL =>
    and(
      ...[[table.merchantId, scope.merchantId] as const, [table.livemode, scope.livemode] as const, ...narrowed(table)].map(
        ([column, value]) => (value === undefined ? undefined : sql`+${column} = ${sql.param(value, column)}`),
      ),
    )!;
  const named = beginsWith(q);
  const find = (table: Table) => sql`${named?.(table)} AND ${checked(table)}`;
  const found = named && (await read(placesOf(receipts, find(receipts), archivedReceipts, find(archivedReceipts))));
  if (found && found.total > 0) return found;
  return read({
    rows: sql`SELECT ${receipts.id} IS NULL AS is_archived, receipt_words.rowid AS place FROM receipt_words
      LEFT JOIN ${receipts} ON ${receipts}.rowid = receipt_words.rowid AND ${checked(receipts)}
      LEFT JOIN ${archivedReceipts} ON ${archivedReceipts.rowNumber} = CASE WHEN ${receipts.id} IS NULL THEN receipt_words.rowid END
        AND ${checked(archivedReceipts)}
      WHERE ${saysAll(scope, q)} AND (${receipts.id} IS NOT NULL OR ${archivedReceipts.id} IS NOT NULL)`,
    order: ['place'],
  });
}

/** So many characters of a signature are unique in practice. */
const SIGNATURE_START = /^[1-9A-HJ-NP-Za-km-z]{12,}$/;

/** What `q` may be the beginning of; null where it is too short to be, or cannot be. */
function beginsWith(q: string): ((table: Table) => SQL) | null {
  const start = q.toLowerCase();
  // Up to its version a UUIDv7 is a millisecond.
  const [lowest, highest] = ['0', 'f'].map((digit) => start + NO_ID.slice(start.length).replaceAll('0', digit)) as [string, string];
  if (ID_START.test(start) && IS_ID.test(lowest))
    return (table) => sql`${table.id} BETWEEN ${sql.param(lowest, table.id)} AND ${sql.param(highest, table.id)}`;
  if (!SIGNATURE_START.test(q)) return null;
  const claimed = and(gte(txClaims.txSignature, q), lt(txClaims.txSignature, `${q}~`));
  return (table) => {
    const paymentId = table === receipts ? sql`${txClaims.subjectId}` : storyIdOf(sql`${txClaims.subjectId}`);
    return sql`${table.paymentId} IN (SELECT ${paymentId} FROM ${txClaims} WHERE ${claimed})`;
  };
}

const NO_ID = '00000000-0000-0000-0000-000000000000';
const IS_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ID_START = /^[0-9a-f]{8}-[0-9a-f]{4}/;

/** Every word of `q` is in the product name. The first term is the merchant's own, as migrations/ make it: others' receipts are not touched. */
function saysAll({ merchantId, livemode }: Tenant, q: string): SQL {
  const words = q.split(/[\s\0]+/).filter((word) => word !== '');
  const terms = [`m${merchantId.replaceAll('-', '')}${livemode ? 1 : 0}`, ...words.map((word) => `"${word.replaceAll('"', '""')}"`)];
  return sql`receipt_words MATCH ${terms.join(' AND ')}`;
}

export const listUnlinked = (db: Db, limit: number) =>
  db
    .select({ id: receipts.id, sha256: receipts.sha256, merchantId: receipts.merchantId, livemode: receipts.livemode })
    .from(receipts)
    .where(isNull(receipts.linkSeq))
    .orderBy(asc(receipts.createdAt), asc(receipts.id))
    .limit(limit);

/** The newest link of each of these merchants' chains that has one, with the hash of its receipt. */
export async function listReceiptChainEnds(db: Db, chains: Pick<StoredReceipt, 'merchantId' | 'livemode'>[]) {
  const named = chains.map(({ merchantId, livemode }) => ({ merchantId, livemode }));
  const ends = await db
    .select({
      merchantId: receipts.merchantId,
      livemode: receipts.livemode,
      seq: receipts.linkSeq,
      prevHash: receipts.linkPrevHash,
      sha256: receipts.sha256,
    })
    .from(receipts)
    .where(
      sql`receipts.rowid IN (SELECT (SELECT r.rowid FROM receipts r WHERE r.merchant_id = j.value ->> 'merchantId'
        AND r.livemode = j.value ->> 'livemode' AND r.link_seq IS NOT NULL ORDER BY r.link_seq DESC LIMIT 1)
        FROM json_each(${JSON.stringify(named)}) j)`,
    );
  return ends.map((end) => ({ ...end, seq: end.seq!, prevHash: end.prevHash! }));
}

/** Many links in one update; all of them, or none where another sweep took a place. */
export const linkReceipts = (ctx: Shard, links: { receiptId: string; seq: number; prevHash: string }[]): Write[] => [
  ctx.db
    .update(receipts)
    .set({ linkSeq: sql`j.value ->> 'seq'`, linkPrevHash: sql`j.value ->> 'prevHash'` })
    .from(sql`json_each(${JSON.stringify(links)}) j`)
    .where(sql`${receipts.id} = j.value ->> 'receiptId' AND ${receipts.linkSeq} IS NULL`),
  vetoIf(ctx, sql`changes() <> ${links.length}`),
];

export const insertReceipt = (db: Db, receipt: StoredReceipt): Write => db.insert(receipts).values(receipt);
