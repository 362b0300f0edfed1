import { eq, sql } from 'drizzle-orm';
import type { ReceiptId } from '#core/ids.ts';
import type { InvoiceMetadata } from '#papers/facts.ts';
import type { Db, Scope } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { archivedReceipts } from '#platform/db/tables/archives.ts';
import { receiptMetadata, receipts } from '#platform/db/tables/receipts.ts';
import { casUpdate } from '#platform/db/versioned.ts';
import { documentOf, type Receipt } from '../store.ts';

export const findMetadata = (db: Db, receiptId: ReceiptId) =>
  db.select().from(receiptMetadata).where(eq(receiptMetadata.receiptId, receiptId)).get();

/** By receipt, of these that have any. */
export async function listMetadata(db: Db, receiptIds: readonly ReceiptId[]): Promise<Map<ReceiptId, InvoiceMetadata>> {
  if (receiptIds.length === 0) return new Map();
  const rows = await db
    .select({ receiptId: receiptMetadata.receiptId, metadata: receiptMetadata.metadata })
    .from(receiptMetadata)
    .where(sql`${receiptMetadata.receiptId} IN (SELECT value FROM json_each(${JSON.stringify(receiptIds)}))`);
  return new Map(rows.map(({ receiptId, metadata }) => [receiptId, metadata]));
}

/** Statements, not effects: the metadata of a receipt as its version `version`; the batch fails where another change was faster. */
export function storeMetadata(ctx: Scope, receipt: Receipt, metadata: InvoiceMetadata, version: number): Write[] {
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
