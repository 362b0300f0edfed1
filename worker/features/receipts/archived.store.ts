import { sql } from 'drizzle-orm';
import type { Ctx, Shard } from '#platform/context.ts';
import { type ArchivedLine, type Receipt, readArchived } from '#platform/db/archive.ts';
import { archives } from '#platform/db/tables/archives.ts';
import type { receipts } from '#platform/db/tables/commerce.ts';

type Row = typeof receipts.$inferSelect;
type ArchivedRow = Row & { archiveId: number; lineAt: number; lineLength: number };

const isArchived = (row: Row): row is ArchivedRow => row.archiveId !== null;

/** Receipts as they were issued, each in its place, wherever they are kept: those in the archive take one read an object. 503 where it does not answer. */
export async function wholeReceipts(ctx: Shard, rows: readonly Row[]): Promise<Receipt[]> {
  const archived = Map.groupBy(rows.filter(isArchived), ({ archiveId }) => archiveId);
  if (archived.size === 0) return [...rows];
  const objects = await ctx.db
    .select({ id: archives.id, key: archives.key })
    .from(archives)
    .where(sql`${archives.id} IN (SELECT value FROM json_each(${JSON.stringify([...archived.keys()])}))`);
  const read = await Promise.all(objects.map(({ id, key }) => readLines(ctx, key, archived.get(id)!)));
  const whole = new Map(read.flat().map((receipt) => [receipt.id, receipt]));
  return rows.map((row) => whole.get(row.id) ?? row);
}

/** In one read, because receipts of a list stand close to each other. */
async function readLines(ctx: Ctx, key: string, rows: ArchivedRow[]): Promise<Receipt[]> {
  const offset = Math.min(...rows.map(({ lineAt }) => lineAt));
  const length = Math.max(...rows.map(({ lineAt, lineLength }) => lineAt + lineLength)) - offset;
  const bytes = await readArchived(ctx, key, { offset, length });
  return rows.map(({ lineAt, lineLength }) => {
    const text = new TextDecoder().decode(bytes.subarray(lineAt - offset, lineAt - offset + lineLength));
    return (JSON.parse(text) as Extract<ArchivedLine, { receipt: Receipt }>).receipt;
  });
}
