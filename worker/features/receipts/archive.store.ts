import type { Shard } from '#platform/context.ts';
import { type Place, readLines, receiptOf, type StoredReceipt } from '#platform/db/archive.ts';
import type { archivedReceipts } from '#platform/db/tables/archives.ts';
import type { receipts } from '#platform/db/tables/receipts.ts';

export type ArchivedReceipt = typeof archivedReceipts.$inferSelect;

type ReceiptRow = typeof receipts.$inferSelect;

/** Where the whole receipt stands, if not here. The release before left the emptied row in its table. */
const placeOf = (row: ReceiptRow | ArchivedReceipt): Place | null =>
  row.archiveId === null ? null : { archiveId: row.archiveId, lineAt: row.lineAt!, lineLength: row.lineLength! };

/** Receipts as they were issued, each in its place, wherever they are kept. 503 where the archive does not answer. */
export async function wholeReceipts(ctx: Shard, rows: readonly (ReceiptRow | ArchivedReceipt)[]): Promise<StoredReceipt[]> {
  const places = rows.map(placeOf);
  const lines = (
    await readLines(
      ctx,
      places.filter((place) => place !== null),
    )
  ).values();
  return rows.map((row, i) => (places[i] ? receiptOf(lines.next().value!) : (row as ReceiptRow)));
}
