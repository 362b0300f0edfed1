import { and, asc, eq, isNull, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { PaymentId, ReceiptId } from '#core/ids.ts';
import type { InvoiceMetadata, ReceiptDocument } from '#pdf/facts.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { amongIds, jsonRows } from '#platform/db/among.ts';
import {
  type ArchivePosition,
  paymentOf,
  readLines,
  receiptOf,
  type StoredPayment,
  type StoredReceipt,
  subjectIdOf,
} from '#platform/db/archive.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { subjectsOfTransaction } from '#platform/db/outcome.ts';
import { rowsOf } from '#platform/db/page.ts';
import { archivedPayments, archivedReceipts } from '#platform/db/tables/archives.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { receiptMetadata, receipts } from '#platform/db/tables/receipts.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { casUpdate } from '#platform/db/versioned.ts';

export type { StoredReceipt as Receipt };

export const documentOf = (receipt: Pick<StoredReceipt, 'document'>): ReceiptDocument => JSON.parse(receipt.document) as ReceiptDocument;

type Table = typeof receipts | typeof archivedReceipts;

async function findReceipt(ctx: Shard, isIt: (table: Table) => SQL | undefined): Promise<StoredReceipt | null> {
  const { db } = ctx;
  const found =
    (await db.select().from(receipts).where(isIt(receipts)).limit(1).get()) ??
    // Read second, because a receipt moves only from the database to the archive.
    (await db.select().from(archivedReceipts).where(isIt(archivedReceipts)).limit(1).get());
  return found ? (await loadArchivedReceipts(ctx, [found]))[0]! : null;
}

export async function getReceipt(scope: Scope, receiptId: ReceiptId): Promise<StoredReceipt> {
  return (await findReceipt(scope, (table) => and(rowsOf(table, scope), eq(table.id, receiptId)))) ?? raise('not_found');
}

export const hasReceipt = async (db: Db, receiptId: ReceiptId) =>
  (await db.select({ id: receipts.id }).from(receipts).where(eq(receipts.id, receiptId)).get()) ??
  db.select({ id: archivedReceipts.id }).from(archivedReceipts).where(eq(archivedReceipts.id, receiptId)).get();

/** Loads a receipt of any merchant: a receipt is public to the holder of its id. */
export async function getPublicReceipt(ctx: Shard, receiptId: ReceiptId): Promise<StoredReceipt> {
  return (await findReceipt(ctx, (table) => eq(table.id, receiptId))) ?? raise('not_found');
}

/** Finds the receipt of the first payment that this merchant received by a transaction. Excludes plans that the account bought. */
export async function findReceiptOfTransaction(scope: Scope, txSignature: string): Promise<StoredReceipt | null> {
  const subjects = subjectsOfTransaction(txSignature, [scope.livemode]);
  const paid = await scope.db.all<{ id: PaymentId }>(sql`SELECT DISTINCT subject_id AS id FROM (${subjects}) ORDER BY subject_id`);
  for (const { id } of paid) {
    const receipt = await findReceipt(scope, (table) => and(rowsOf(table, scope), eq(table.paymentId, id)));
    if (receipt && documentOf(receipt).merchant.account_id === scope.merchantId) return receipt;
  }
  return null;
}

/** Loads a receipt with its transaction's outcome, for verification. */
export async function getReceiptWithOutcome(ctx: Shard, receiptId: ReceiptId): Promise<{ receipt: StoredReceipt; isOrphaned: boolean }> {
  const receipt = await getPublicReceipt(ctx, receiptId);
  const claim = await ctx.db
    .select({ droppedAt: txClaims.droppedAt })
    .from(txClaims)
    .where(eq(txClaims.subjectId, receipt.paymentId))
    .get();
  return { receipt, isOrphaned: claim !== undefined && claim.droppedAt !== null };
}

const receiptChainKey = { merchantId: receipts.merchantId, livemode: receipts.livemode, isPaidByOwner: receipts.isPaidByOwner };

export const listUnlinked = (db: Db, limit: number) =>
  db
    .select({ id: receipts.id, sha256: receipts.sha256, ...receiptChainKey })
    .from(receipts)
    .where(isNull(receipts.linkSeq))
    .orderBy(asc(receipts.createdAt), asc(receipts.id))
    .limit(limit);

/** Lists the newest link of each chain with its receipt's hash. Omits empty chains. */
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

/** Facts of a sale outside the receipt, because they come later or are private. */
export interface SaleFacts {
  outcome: 'final' | 'confirmed' | 'orphaned';
  payment: Pick<StoredPayment, 'customerRef' | 'email' | 'refunds' | 'terms'> | null;
}

/** Loads the sales of payments by id. Throws 503 if the archive does not answer. */
export async function listSales(ctx: Shard, paymentIds: readonly PaymentId[]): Promise<Map<string, SaleFacts>> {
  const { customerRef, email, refunds, terms } = payments;
  const rows = await ctx.db
    .select({
      subjectId: txClaims.subjectId,
      finalAt: txClaims.finalAt,
      droppedAt: txClaims.droppedAt,
      payment: { id: payments.id, customerRef, email, refunds, terms },
      location: { archiveId: archivedPayments.archiveId, lineAt: archivedPayments.lineAt, lineLength: archivedPayments.lineLength },
    })
    .from(txClaims)
    .leftJoin(payments, eq(payments.id, txClaims.subjectId))
    .leftJoin(archivedPayments, eq(archivedPayments.id, subjectIdOf(sql`${txClaims.subjectId}`)))
    .where(amongIds(txClaims.subjectId, paymentIds));
  const archived = (
    await readLines(
      ctx,
      rows.flatMap(({ location }) => location ?? []),
    )
  ).values();
  const outcomeOf = ({ finalAt, droppedAt }: (typeof rows)[number]) =>
    droppedAt !== null ? 'orphaned' : finalAt !== null ? 'final' : 'confirmed';
  return new Map(
    rows.map((row) => [
      row.subjectId,
      { outcome: outcomeOf(row), payment: row.location ? paymentOf(archived.next().value!) : row.payment },
    ]),
  );
}

/** Stores many links in one update. Aborts the batch if another sweep took a number. */
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

const locationOf = (row: StoredReceipt | ArchivedReceipt): ArchivePosition | null => ('archiveId' in row ? row : null);

/** Loads receipts in order, from rows or the archive. Throws 503 if the archive does not answer. */
export async function loadArchivedReceipts(ctx: Shard, rows: readonly (StoredReceipt | ArchivedReceipt)[]): Promise<StoredReceipt[]> {
  const locations = rows.map(locationOf);
  const lines = (
    await readLines(
      ctx,
      locations.filter((location) => location !== null),
    )
  ).values();
  return rows.map((row, i) => (locations[i] ? receiptOf(lines.next().value!) : (row as StoredReceipt)));
}

export const findMetadata = (db: Db, receiptId: ReceiptId) =>
  db.select().from(receiptMetadata).where(eq(receiptMetadata.receiptId, receiptId)).get();

export async function listMetadata(db: Db, receiptIds: readonly ReceiptId[]): Promise<Map<ReceiptId, InvoiceMetadata>> {
  if (receiptIds.length === 0) return new Map();
  const rows = await db
    .select({ receiptId: receiptMetadata.receiptId, metadata: receiptMetadata.metadata })
    .from(receiptMetadata)
    .where(amongIds(receiptMetadata.receiptId, receiptIds));
  return new Map(rows.map(({ receiptId, metadata }) => [receiptId, metadata]));
}

/** Stores a receipt's metadata as `version`. Aborts the batch if another change was faster. */
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
