import type { Shard } from '#platform/context.ts';
import { type Receipt, readLines, receiptOf } from '#platform/db/archive.ts';
import type { archivedReceipts } from '#platform/db/tables/archives.ts';

export type ArchivedReceipt = typeof archivedReceipts.$inferSelect;

const isArchived = (row: Receipt | ArchivedReceipt): row is ArchivedReceipt => !('document' in row);

/** Receipts as they were issued, each in its place, wherever they are kept. 503 where the archive does not answer. */
export async function wholeReceipts(ctx: Shard, rows: readonly (Receipt | ArchivedReceipt)[]): Promise<Receipt[]> {
  const lines = (await readLines(ctx, rows.filter(isArchived))).values();
  return rows.map((row) => (isArchived(row) ? receiptOf(lines.next().value!) : row));
}
