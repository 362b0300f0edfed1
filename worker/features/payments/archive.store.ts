import type { SQL } from 'drizzle-orm';
import type { Shard } from '#platform/context.ts';
import { paymentOf, readLines, type StoredPayment } from '#platform/db/archive.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';

export type ArchivedPayment = typeof archivedPayments.$inferSelect;

const isArchived = (row: StoredPayment | ArchivedPayment): row is ArchivedPayment => !('status' in row);

/** Payments as they were, each in its place, wherever they are kept. 503 where the archive does not answer. */
export async function wholePayments(ctx: Shard, rows: readonly (StoredPayment | ArchivedPayment)[]): Promise<StoredPayment[]> {
  const lines = (await readLines(ctx, rows.filter(isArchived))).values();
  return rows.map((row) => (isArchived(row) ? paymentOf(lines.next().value!) : row));
}

/** The payment in the archive that this is true of, whole. */
export async function findArchived(ctx: Shard, isIt: SQL): Promise<StoredPayment | undefined> {
  const row = await ctx.db.select().from(archivedPayments).where(isIt).limit(1).get();
  return row && (await wholePayments(ctx, [row]))[0];
}
