import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { raise } from '#core/errors.ts';
import type { AccountId, ReceiptId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import type { Receipt } from '#platform/db/archive.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';
import { newestFirst, type PageRequest, readPage, rowsOf } from '#platform/db/page.ts';
import { receipts } from '#platform/db/tables/commerce.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { wholeReceipts } from './archived.store.ts';

export type { Receipt };

/** The receipt that this is true of; null where there is none. */
async function findReceipt(ctx: Shard, isIt: SQL | undefined): Promise<Receipt | null> {
  const rows = await ctx.db.select().from(receipts).where(isIt).limit(1);
  return (await wholeReceipts(ctx, rows))[0] ?? null;
}

const ownedBy = (merchantId: AccountId, livemode: boolean) => and(eq(receipts.merchantId, merchantId), eq(receipts.livemode, livemode));

export async function getReceipt(ctx: Shard, merchantId: AccountId, livemode: boolean, receiptId: ReceiptId): Promise<Receipt> {
  return (await findReceipt(ctx, and(ownedBy(merchantId, livemode), eq(receipts.id, receiptId)))) ?? raise('not_found');
}

/** Of any merchant: a receipt proves itself to whoever holds its id. */
export const hasReceipt = (db: Db, receiptId: ReceiptId) =>
  db.select({ id: receipts.id }).from(receipts).where(eq(receipts.id, receiptId)).get();

export async function getPublicReceipt(ctx: Shard, receiptId: ReceiptId): Promise<Receipt> {
  return (await findReceipt(ctx, eq(receipts.id, receiptId))) ?? raise('not_found');
}

export const findReceiptOfTransaction = (
  ctx: Shard,
  merchantId: AccountId,
  livemode: boolean,
  txSignature: string,
): Promise<Receipt | null> => {
  const claimed = sql`(SELECT subject_id FROM tx_claims WHERE tx_signature = ${txSignature} AND livemode = ${livemode ? 1 : 0})`;
  return findReceipt(ctx, and(ownedBy(merchantId, livemode), eq(receipts.paymentId, claimed)));
};

/** With what became of its transaction, whatever that paid: for verification. */
export async function getReceiptWithFate(ctx: Shard, receiptId: ReceiptId): Promise<{ receipt: Receipt; isOrphaned: boolean }> {
  const found = await ctx.db
    .select({ receipt: receipts, droppedAt: txClaims.droppedAt })
    .from(receipts)
    .leftJoin(txClaims, eq(txClaims.subjectId, receipts.paymentId))
    .where(eq(receipts.id, receiptId))
    .get();
  if (!found) return raise('not_found');
  const [receipt] = await wholeReceipts(ctx, [found.receipt]);
  return { receipt: receipt!, isOrphaned: found.droppedAt !== null };
}

export interface ReceiptFilter {
  wallet?: string;
  productId?: string;
  /** The beginning of a signature or receipt id, or whole words of the product name. */
  q?: string;
}

/** The merchant's receipts, newest first. Whatever is searched for, little more is read than what is found. */
export async function listReceipts(ctx: Shard, merchantId: AccountId, livemode: boolean, filter: ReceiptFilter, page: PageRequest) {
  const { items, total } = await readReceipts(ctx.db, merchantId, livemode, filter, page);
  return { items: await wholeReceipts(ctx, items), total };
}

async function readReceipts(db: Db, merchantId: AccountId, livemode: boolean, filter: ReceiptFilter, page: PageRequest) {
  const narrowed: [SQLiteColumn, unknown][] = [
    [receipts.payer, filter.wallet],
    [receipts.productId, filter.productId],
  ];
  const { q } = filter;
  if (!q) return readPage(db, receipts, rowsOf(receipts, merchantId, livemode, narrowed), newestFirst(receipts.createdAt), page);
  // The signs keep the search on the index of what is searched for: it has few rows, or gives them newest first.
  const mine = and(
    ...[[receipts.merchantId, merchantId] as const, [receipts.livemode, livemode] as const, ...narrowed].map(([column, value]) =>
      value === undefined ? undefined : sql`+${column} = ${value}`,
    ),
  );
  const named = beginsWith(q);
  const found = named && (await readPage(db, receipts, sql`${named} AND ${mine}`, newestFirst(receipts.createdAt), page));
  if (found && found.total > 0) return found;
  const words = { index: sql`receipt_words`, on: sql`receipt_words.rowid = ${receipts}.rowid` };
  return readPage(db, receipts, sql`${saysAll(merchantId, livemode, q)} AND ${mine}`, [sql`receipt_words.rowid DESC`], page, words);
}

/** Up to its version a UUIDv7 is a millisecond; so much of a signature nobody shares by chance. */
const ID_START = /^[0-9a-f]{8}-[0-9a-f]{4}[0-9a-f-]*$/;
const SIGNATURE_START = /^[1-9A-HJ-NP-Za-km-z]{12,}$/;

/** What `q` may be the beginning of; null where it is too short to be, or cannot be. */
function beginsWith(q: string): SQL | null {
  const range = (column: typeof receipts.id | typeof txClaims.txSignature, start: string) =>
    sql`${column} >= ${start} AND ${column} < ${`${start}~`}`;
  if (ID_START.test(q.toLowerCase())) return range(receipts.id, q.toLowerCase());
  if (!SIGNATURE_START.test(q)) return null;
  return sql`${receipts.paymentId} IN (SELECT ${txClaims.subjectId} FROM ${txClaims} WHERE ${range(txClaims.txSignature, q)})`;
}

/** Every word of `q` is in the product name. The first term is the merchant's own, as migrations/ make it: others' receipts are not touched. */
function saysAll(merchantId: AccountId, livemode: boolean, q: string): SQL {
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
export async function listChainEnds(db: Db, chains: Pick<Receipt, 'merchantId' | 'livemode'>[]) {
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

/** Statements, not effects: many links in one update; all of them, or none where another sweep took a place. */
export const linkReceipts = (ctx: Shard, links: { receiptId: string; seq: number; prevHash: string }[]): Write[] => [
  ctx.db
    .update(receipts)
    .set({ linkSeq: sql`j.value ->> 'seq'`, linkPrevHash: sql`j.value ->> 'prevHash'` })
    .from(sql`json_each(${JSON.stringify(links)}) j`)
    .where(sql`${receipts.id} = j.value ->> 'receiptId' AND ${receipts.linkSeq} IS NULL`),
  vetoIf(ctx, sql`changes() <> ${links.length}`),
];

export const insertReceipt = (db: Db, receipt: Receipt): Write => db.insert(receipts).values(receipt);
