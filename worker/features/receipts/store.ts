import { and, asc, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import { equalBytes } from '#core/crypto.ts';
import { raise } from '#core/errors.ts';
import type { AccountId, PaymentId, ReceiptId } from '#core/ids.ts';
import { PER_PAGE } from '#core/limits.ts';
import type { InvoiceMetadata, ReceiptDocument } from '#pdf/facts.ts';
import type { Db, Scope, Shard, Tenant } from '#platform/context.ts';
import { amongIds, boundId, idField, jsonRows } from '#platform/db/among.ts';
import { type ArchivePosition, paymentOf, readLines, receiptOf, type StoredPayment, type StoredReceipt } from '#platform/db/archive.ts';
import type { Write } from '#platform/db/commit.ts';
import { isClaimOf, subjectsOfTransaction } from '#platform/db/outcome.ts';
import { rowsOf } from '#platform/db/page.ts';
import { archivedReceipts, archivedSales, PAYMENT_LINE } from '#platform/db/tables/archives.ts';
import { decodeId } from '#platform/db/tables/columns.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { activations } from '#platform/db/tables/plans.ts';
import { receiptMetadata, receipts } from '#platform/db/tables/receipts.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { casUpdate } from '#platform/db/versioned.ts';

export type { StoredReceipt as Receipt };

export const documentOf = (receipt: Pick<StoredReceipt, 'document'>): ReceiptDocument => JSON.parse(receipt.document) as ReceiptDocument;

/** SQL condition for receipts in the database of payments in `ids`, an SQL set. A payment moves to the archive after its receipt. */
export const receiptsOfPayments = (ids: SQL): SQL => sql`${receipts.id} IN (
  SELECT ${payments.receiptId} FROM ${payments} WHERE ${payments.id} IN ${ids}
  UNION ALL SELECT ${activations.receiptId} FROM ${activations} WHERE ${activations.paymentId} IN ${ids})`;

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

/** Loads a receipt of any merchant: a receipt is public to the holder of its id. */
export async function getPublicReceipt(ctx: Shard, receiptId: ReceiptId): Promise<StoredReceipt> {
  return (await findReceipt(ctx, (table) => eq(table.id, receiptId))) ?? raise('not_found');
}

/** Finds the receipt of the first payment that this merchant received by a transaction. Excludes plans that the account bought. */
export async function findReceiptOfTransaction(scope: Scope, txSignature: string): Promise<StoredReceipt | null> {
  const subjects = subjectsOfTransaction(txSignature, [scope.livemode]);
  const paid = await scope.db.all<{ id: ArrayLike<number> }>(sql`SELECT DISTINCT subject_id AS id FROM (${subjects}) ORDER BY subject_id`);
  for (const id of paid.map((one) => decodeId(one.id) as PaymentId)) {
    const receipt = await findReceipt(scope, (table) =>
      and(rowsOf(table, scope), table === receipts ? receiptsOfPayments(sql`(${boundId(id)})`) : eq(table.paymentId, id)),
    );
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
    .where(isClaimOf({ ...receipt, id: receipt.paymentId }))
    .get();
  return { receipt, isOrphaned: claim !== undefined && claim.droppedAt !== null };
}

/** Owner and direction of a receipt chain, as values or SQL. */
export interface ReceiptChainKey {
  merchantId: AccountId | SQL;
  livemode: boolean | SQL;
  isPaidByOwner: boolean;
}

type LinkedRow = Pick<StoredReceipt, 'seq' | 'sha256' | 'anchorSeq' | 'anchorHash'>;

const ofReceiptChain = (alias: string, { merchantId, livemode, isPaidByOwner }: ReceiptChainKey): SQL => {
  const column = (name: string) => sql.raw(`${alias}.${name}`);
  return sql`${column('merchant_id')} = ${typeof merchantId === 'string' ? boundId(merchantId) : merchantId} AND ${column('livemode')} = ${typeof livemode === 'boolean' ? Number(livemode) : livemode}
    AND ${column('is_paid_by_owner')} = ${isPaidByOwner ? 1 : 0}`;
};

/** Reads the last receipt of a chain, and those between it and its anchor, in order: `anchorAfter` makes the next anchor of them. */
export const receiptChainEndQuery = (db: Db, key: ReceiptChainKey) =>
  db
    .select({ seq: receipts.seq, sha256: receipts.sha256, anchorSeq: receipts.anchorSeq, anchorHash: receipts.anchorHash })
    .from(receipts)
    .where(
      sql`${ofReceiptChain('receipts', key)} AND receipts.seq > (SELECT min(e.anchor_seq, e.seq - 1) FROM receipts e WHERE ${ofReceiptChain('e', key)} ORDER BY e.seq DESC LIMIT 1)`,
    )
    .orderBy(asc(receipts.seq));

/** Loads the last receipt of a chain. */
export const getLastReceipt = async (ctx: Shard, key: ReceiptChainKey): Promise<StoredReceipt> =>
  (await ctx.db.select().from(receipts).where(ofReceiptChain('receipts', key)).orderBy(desc(receipts.seq)).limit(1).get()) ??
  raise('not_found');

/** Lists the receipts between each of these and its anchor, in order, under the id of the later one. */
export async function listBetween(ctx: Shard, later: readonly StoredReceipt[]): Promise<Map<ReceiptId, LinkedRow[]>> {
  const ranges = later.map(({ id, merchantId, livemode, isPaidByOwner, seq, anchorSeq }) => ({
    ...{ id, merchantId, livemode, isPaidByOwner, seq, anchorSeq },
  }));
  const within = (table: Table) => sql`${table.merchantId} = ${idField('merchantId')} AND ${table.livemode} = j.value ->> 'livemode'
    AND ${table.isPaidByOwner} = j.value ->> 'isPaidByOwner' AND ${table.seq} > j.value ->> 'anchorSeq' AND ${table.seq} < j.value ->> 'seq'`;
  const laterId = sql<ReceiptId>`j.value ->> 'id'`;
  const current = await ctx.db.select({ laterId, row: receipts }).from(jsonRows(ranges)).innerJoin(receipts, within(receipts));
  // Read second, because a receipt moves only from the database to the archive.
  const { archiveId, lineAt, lineLength } = archivedReceipts;
  const moved = await ctx.db
    .select({ laterId, row: { seq: archivedReceipts.seq, archiveId, lineAt, lineLength } })
    .from(jsonRows(ranges))
    .innerJoin(archivedReceipts, within(archivedReceipts));
  const known = new Set(current.map(({ laterId: id, row }) => `${id}:${row.seq}`));
  const found = [...current, ...moved.filter(({ laterId: id, row }) => !known.has(`${id}:${row.seq}`))];
  const rows = await loadArchivedReceipts(
    ctx,
    found.map(({ row }) => row),
  );
  const between = Map.groupBy(
    found.map((one, i) => ({ ...rows[i]!, laterId: one.laterId })),
    (row) => row.laterId,
  );
  for (const list of between.values()) list.sort((a, b) => a.seq - b.seq);
  return between;
}

/** Facts of a sale outside the receipt, because they come later or are private. */
export interface SaleFacts {
  outcome: 'final' | 'confirmed' | 'orphaned';
  payment: Pick<StoredPayment, 'customerRef' | 'email' | 'refunds' | 'terms'> | null;
}

/** Loads the sales of receipts, by payment id. Throws 503 if the archive does not answer. */
export async function listSales(ctx: Shard, sold: readonly StoredReceipt[]): Promise<Map<string, SaleFacts>> {
  const { customerRef, email, refunds, terms } = payments;
  const rows = await ctx.db
    .select({
      subjectId: txClaims.subjectId,
      finalAt: txClaims.finalAt,
      droppedAt: txClaims.droppedAt,
      payment: { id: payments.id, customerRef, email, refunds, terms },
      location: PAYMENT_LINE,
    })
    .from(jsonRows(sold.map(({ paymentId, livemode, txSignature }) => ({ paymentId, livemode, txSignature }))))
    .innerJoin(
      txClaims,
      isClaimOf({ id: idField('paymentId'), livemode: sql`j.value ->> 'livemode'`, txSignature: sql`j.value ->> 'txSignature'` }),
    )
    .leftJoin(payments, eq(payments.id, txClaims.subjectId))
    .leftJoin(archivedSales, sql`${archivedSales.paymentId} = ${txClaims.subjectId} AND ${archivedSales.archiveId} IS NOT NULL`);
  const archived = (
    await readLines(
      ctx,
      rows.flatMap(({ location }) => (location as ArchivePosition | null) ?? []),
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

export type NewReceipt = Omit<StoredReceipt, 'seq' | 'afterSeq' | 'emailNote'>;

/**
 * Inserts a receipt as the next of its chain. D1 runs one batch at a time, so no two take the same number. The archive has the end of a
 * sandbox chain if a session with the later receipts was erased.
 */
export function insertReceipt(db: Db, receipt: NewReceipt): Write {
  const endIn = (table: string, isPaidByOwner: boolean) =>
    sql`coalesce((SELECT r.seq FROM ${sql.raw(table)} r WHERE ${ofReceiptChain('r', { ...receipt, isPaidByOwner })} ORDER BY r.seq DESC LIMIT 1), 0)`;
  const last = (isPaidByOwner: boolean) => sql`max(${endIn('receipts', isPaidByOwner)}, ${endIn('archived_receipts', isPaidByOwner)})`;
  const afterSeq = receipt.isPaidByOwner ? last(false) : null;
  return db.insert(receipts).values({ ...receipt, seq: sql`${last(receipt.isPaidByOwner)} + 1`, afterSeq });
}

/** Start of the error of an email that was dropped at a limit. */
export const LIMIT_ERROR = 'limit: ';

/** Notes on a receipt that its email was withheld at a limit, unless an email with this cause was stored and not dropped at one. */
export const noteWithheldEmail = (db: Db, tenant: Tenant, receiptId: ReceiptId, emailCause: string): Write =>
  db
    .update(receipts)
    .set({ emailNote: 'limit' })
    .where(
      and(
        rowsOf(receipts, tenant),
        eq(receipts.id, receiptId),
        sql`NOT EXISTS (SELECT 1 FROM mails WHERE cause = ${emailCause} AND (error IS NULL OR error NOT LIKE ${`${LIMIT_ERROR}%`}))`,
      ),
    );

const locationOf = (row: StoredReceipt | ArchivePosition): ArchivePosition | null => ('archiveId' in row ? row : null);

/** Loads receipts in order, from rows or the archive. Throws 503 if the archive does not answer. */
export async function loadArchivedReceipts(ctx: Shard, rows: readonly (StoredReceipt | ArchivePosition)[]): Promise<StoredReceipt[]> {
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

/** True if a buyer's subject wrote the billed party of a receipt. */
export const isBilledBy = ({ billedBy }: { billedBy: Uint8Array | null }, buyerKey: Uint8Array): boolean =>
  billedBy !== null && equalBytes(billedBy, buyerKey);

export async function listMetadata(db: Db, receiptIds: readonly ReceiptId[]): Promise<Map<ReceiptId, InvoiceMetadata>> {
  if (receiptIds.length === 0) return new Map();
  const rows = await db
    .select({ receiptId: receiptMetadata.receiptId, metadata: receiptMetadata.metadata })
    .from(receiptMetadata)
    .where(
      receiptIds.length > PER_PAGE.max
        ? amongIds(receiptMetadata.receiptId, receiptIds)
        : inArray(receiptMetadata.receiptId, [...receiptIds]),
    );
  return new Map(rows.map(({ receiptId, metadata }) => [receiptId, metadata]));
}

/** Stores a receipt's metadata as `version`. Aborts the batch if another change was faster. */
export function storeMetadata(
  ctx: Scope,
  receipt: StoredReceipt,
  metadata: InvoiceMetadata,
  { version, billedBy }: { version: number; billedBy: Uint8Array | null },
): Write[] {
  const { db, merchantId, livemode, now: updatedAt } = ctx;
  const receiptId = receipt.id;
  if (version === 1) {
    const rowNumber = sql`coalesce((SELECT rowid FROM ${receipts} WHERE ${eq(receipts.id, receiptId)}),
      (SELECT ${archivedReceipts.rowNumber} FROM ${archivedReceipts} WHERE ${eq(archivedReceipts.id, receiptId)}))`;
    const { productName } = receipt;
    return [
      db
        .insert(receiptMetadata)
        .values({ receiptId, merchantId, livemode, rowNumber, productName, metadata, billedBy, version, updatedAt }),
    ];
  }
  return casUpdate(ctx, receiptMetadata, { receiptId, version: version - 1 }, { metadata, billedBy, updatedAt });
}
