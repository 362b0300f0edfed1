import type { Shard } from '#platform/context.ts';
import { type Place, readLines, receiptOf, type StoredReceipt } from '#platform/db/archive.ts';
import type { archivedReceipts } from '#platform/db/tables/archives.ts';

export type ArchivedReceipt = typeof archivedReceipts.$inferSelect;

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
