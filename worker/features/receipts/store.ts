import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { PaymentId, ReceiptId } from '#core/ids.ts';
import type { InvoiceMetadata, ReceiptDocument } from '#papers/facts.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { amongIds, jsonRows } from '#platform/db/among.ts';
import { type Place, paymentOf, readLines, receiptOf, type StoredPayment, type StoredReceipt, storyIdOf } from '#platform/db/archive.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { subjectsOfTransaction } from '#platform/db/fate.ts';
import { rowsOf } from '#platform/db/page.ts';
import { archivedPayments, archivedReceipts } from '#platform/db/tables/archives.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { receiptMetadata, receipts } from '#platform/db/tables/receipts.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { casUpdate } from '#platform/db/versioned.ts';

export type { StoredReceipt as Receipt };

/** What a receipt says, as it was signed. */
export const documentOf = (receipt: Pick<StoredReceipt, 'document'>): ReceiptDocument => JSON.parse(receipt.document) as ReceiptDocument;

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

/** Of the first payment that this merchant received by it, where there are several; a plan that the account paid for itself is in its list alone. */
export async function findReceiptOfTransaction(scope: Scope, txSignature: string): Promise<StoredReceipt | null> {
  const subjects = subjectsOfTransaction(txSignature, [scope.livemode]);
  const paid = await scope.db.all<{ id: PaymentId }>(sql`SELECT DISTINCT subject_id AS id FROM (${subjects}) ORDER BY subject_id`);
  for (const { id } of paid) {
    const receipt = await findReceipt(scope, (table) => and(rowsOf(table, scope), eq(table.paymentId, id)));
    if (receipt && documentOf(receipt).merchant.account_id === scope.merchantId) return receipt;
  }
  return null;
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

/** What names the chain that a receipt belongs to. */
const receiptChainKey = { merchantId: receipts.merchantId, livemode: receipts.livemode, isPaidByOwner: receipts.isPaidByOwner };

export const listUnlinked = (db: Db, limit: number) =>
  db
    .select({ id: receipts.id, sha256: receipts.sha256, ...receiptChainKey })
    .from(receipts)
    .where(isNull(receipts.linkSeq))
    .orderBy(asc(receipts.createdAt), asc(receipts.id))
    .limit(limit);

/** The newest link of each of these chains that has one, with the hash of its receipt. */
export async function listReceiptChainEnds(db: Db, receiptChains: Pick<StoredReceipt, keyof typeof receiptChainKey>[]) {
  const named = receiptChains.map(({ merchantId, livemode, isPaidByOwner }) => ({ merchantId, livemode, isPaidByOwner }));
  const ends = await db
    .select({ ...receiptChainKey, seq: receipts.linkSeq, prevHash: receipts.linkPrevHash, sha256: receipts.sha256 })
    .from(receipts)
    .where(
      sql`receipts.rowid IN (SELECT (SELECT r.rowid FROM receipts r WHERE r.merchant_id = j.value ->> 'merchantId'
        AND r.livemode = j.value ->> 'livemode' AND r.is_paid_by_owner = j.value ->> 'isPaidByOwner'
        AND r.link_seq IS NOT NULL ORDER BY r.link_seq DESC LIMIT 1)
        FROM ${jsonRows(named)})`,
    );
  return ends.map((end) => ({ ...end, seq: end.seq!, prevHash: end.prevHash! }));
}

/** Facts of a sale that its receipt does not hold, because they come later or are private. */
export interface SaleFacts {
  fate: 'final' | 'confirmed' | 'orphaned';
  /** Null where the sale is gone with its account. */
  payment: Pick<StoredPayment, 'customerRef' | 'email' | 'refunds' | 'terms'> | null;
}

/** Reads the sales of these payments, by their ids. 503 where the archive does not answer. */
export async function listSales(ctx: Shard, paymentIds: readonly PaymentId[]): Promise<Map<string, SaleFacts>> {
  const { customerRef, email, refunds, terms } = payments;
  const rows = await ctx.db
    .select({
      subjectId: txClaims.subjectId,
      finalAt: txClaims.finalAt,
      droppedAt: txClaims.droppedAt,
      payment: { id: payments.id, customerRef, email, refunds, terms },
      place: { archiveId: archivedPayments.archiveId, lineAt: archivedPayments.lineAt, lineLength: archivedPayments.lineLength },
    })
    .from(txClaims)
    .leftJoin(payments, eq(payments.id, txClaims.subjectId))
    .leftJoin(archivedPayments, eq(archivedPayments.id, storyIdOf(sql`${txClaims.subjectId}`)))
    .where(amongIds(txClaims.subjectId, paymentIds));
  const archived = (
    await readLines(
      ctx,
      rows.flatMap(({ place }) => place ?? []),
    )
  ).values();
  const fateOf = ({ finalAt, droppedAt }: (typeof rows)[number]) =>
    droppedAt !== null ? 'orphaned' : finalAt !== null ? 'final' : 'confirmed';
  return new Map(
    rows.map((row) => [row.subjectId, { fate: fateOf(row), payment: row.place ? paymentOf(archived.next().value!) : row.payment }]),
  );
}

/** Many links in one update; all of them, or none where another sweep took a place. */
export const linkReceipts = (ctx: Shard, links: { receiptId: string; seq: number; prevHash: string }[]): Write[] => [
  ctx.db
    .update(receipts)
    .set({ linkSeq: sql`j.value ->> 'seq'`, linkPrevHash: sql`j.value ->> 'prevHash'` })
    .from(jsonRows(links))
    .where(sql`${receipts.id} = j.value ->> 'receiptId' AND ${receipts.linkSeq} IS NULL`),
  abortIf(ctx, sql`changes() <> ${links.length}`),
];

export const insertReceipt = (db: Db, receipt: StoredReceipt): Write => db.insert(receipts).values(receipt);

type ArchivedReceipt = typeof archivedReceipts.$inferSelect;

/** The place of the whole receipt in the archive; null: it stands here. */
const placeOf = (row: StoredReceipt | ArchivedReceipt): Place | null => ('archiveId' in row ? row : null);

/** Receipts as they were issued, each in its place, wherever they are kept. 503 where the archive does not answer. */
export async function wholeReceipts(ctx: Shard, rows: readonly (StoredReceipt | ArchivedReceipt)[]): Promise<StoredReceipt[]> {
  const places = rows.map(placeOf);
  const lines = (
    await readLines(
      ctx,
      places.filter((place) => place !== null),
    )
  ).values();
  return rows.map((row, i) => (places[i] ? receiptOf(lines.next().value!) : (row as StoredReceipt)));
}

export const findMetadata = (db: Db, receiptId: ReceiptId) =>
  db.select().from(receiptMetadata).where(eq(receiptMetadata.receiptId, receiptId)).get();

/** By receipt, of these that have any. */
export async function listMetadata(db: Db, receiptIds: readonly ReceiptId[]): Promise<Map<ReceiptId, InvoiceMetadata>> {
  if (receiptIds.length === 0) return new Map();
  const rows = await db
    .select({ receiptId: receiptMetadata.receiptId, metadata: receiptMetadata.metadata })
    .from(receiptMetadata)
    .where(amongIds(receiptMetadata.receiptId, receiptIds));
  return new Map(rows.map(({ receiptId, metadata }) => [receiptId, metadata]));
}

/** The metadata of a receipt as its version `version`; the batch fails where another change was faster. */
export function storeMetadata(ctx: Scope, receipt: StoredReceipt, metadata: InvoiceMetadata, version: number): Write[] {
  const { db, merchantId, livemode, now: updatedAt } = ctx;
  const receiptId = receipt.id;
  if (version === 1) {
    const rowNumber = sql`coalesce((SELECT rowid FROM ${receipts} WHERE ${eq(receipts.id, receiptId)}),
      (SELECT ${archivedReceipts.rowNumber} FROM ${archivedReceipts} WHERE ${eq(archivedReceipts.id, receiptId)}))`;
    const productName = documentOf(receipt).product_name;
    return [db.insert(receiptMetadata).values({ receiptId, merchantId, livemode, rowNumber, productName, metadata, version, updatedAt })];
  }
  return casUpdate(ctx, receiptMetadata, { receiptId, version: version - 1 }, { metadata, updatedAt });
}
