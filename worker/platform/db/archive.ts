import { type SQL, sql } from 'drizzle-orm';
import { raise, storyOf } from '#core/errors.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { inTime } from '#platform/deadline.ts';
import { amongIds } from './among.ts';
import { archives } from './tables/archives.ts';
import type { events } from './tables/events.ts';
import type { payments } from './tables/payments.ts';
import type { receipts } from './tables/receipts.ts';
import type { Settlement } from './tables/settlements.ts';

type EventRow = typeof events.$inferSelect;
export type StoredReceipt = typeof receipts.$inferSelect;
export type StoredPayment = typeof payments.$inferSelect;

/**
 * A line of an object: a row as the database held it, under the names that the tables give its columns. Objects are read for ever: a column
 * that is renamed is read under its old name too.
 */
export type ArchivedLine = { event: EventRow } | { receipt: StoredReceipt } | { payment: StoredPayment; settlement?: Settlement };

/** The columns of a payment that hold amounts, which lines have as decimal text. */
const AMOUNTS = ['priceAmount', 'feeAmount', 'feeOwedAmount', 'overpaidAmount'] as const satisfies (keyof StoredPayment)[];

export const archivedTextOf = (line: ArchivedLine): string =>
  `${JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? value.toString() : value))}\n`;

/** The payment of a line. */
export function paymentOf(line: string): StoredPayment {
  const { payment } = JSON.parse(line) as { payment: StoredPayment };
  const amounts = AMOUNTS.map((name) => [name, payment[name] === null ? null : BigInt(payment[name])]);
  return { ...payment, ...Object.fromEntries(amounts) };
}

/** The settlement that brought the payment of a line; null where none did. */
export function settlementOf(line: string): Settlement | null {
  const { settlement } = JSON.parse(line) as { settlement?: Settlement };
  return settlement ? { ...settlement, amount: BigInt(settlement.amount) } : null;
}

export const receiptOf = (line: string): StoredReceipt => (JSON.parse(line) as { receipt: StoredReceipt }).receipt;

/** An id as the tables of the archive have it: its 16 bytes. */
export const storyIdOf = (id: string | SQL): SQL => sql`coalesce(unhex(replace(${id}, '-', '')), ${id})`;

/** The id again, of its 16 bytes; null of null. */
export const uuidOf = (bytes: SQL): SQL =>
  sql`(SELECT lower(substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-' || substr(h, 13, 4) || '-' || substr(h, 17, 4) || '-' || substr(h, 21))
    FROM (SELECT hex(${bytes}) AS h) WHERE h <> '')`;

/** The bytes of an object, or of a part of it. 503 temporarily_unavailable where the archive does not answer, or is not bound. */
export async function readArchived(ctx: Ctx, key: string, range?: { offset: number; length: number }): Promise<Uint8Array> {
  try {
    const found = await inTime(ctx, async () => (await ctx.env.ARCHIVE?.get(key, range && { range }))?.arrayBuffer());
    if (found) return new Uint8Array(found);
    ctx.note(`archive: ${ctx.env.ARCHIVE ? 'there is no' : 'not bound, and needed for'} ${key}`);
  } catch (error) {
    ctx.note(`archive: ${storyOf(error)}`);
  }
  return raise('temporarily_unavailable', { retryAfterSeconds: 1 });
}

/** The events in an object whose line has this text in it, in their order; none where the whole object lacks what `where` says. */
export async function readArchivedEvents(ctx: Ctx, key: string, having = '', where = having): Promise<EventRow[]> {
  const text = new TextDecoder().decode(await readArchived(ctx, key));
  if (!text.includes(where)) return [];
  return text
    .split('\n')
    .filter((line) => line.startsWith('{"event"') && line.includes(having))
    .map((line) => (JSON.parse(line) as { event: EventRow }).event);
}

/** What a line says of the type of its event. Others may say it too, in what they tell. */
export const lineOfType = (type: string): string => `"type":${JSON.stringify(type)}`;
/** Where a whole row stands. */
export interface Place {
  archiveId: number;
  lineAt: number;
  lineLength: number;
}

/** The lines at these places, in their order, with one read an object. 503 where the archive does not answer. */
export async function readLines(ctx: Shard, places: readonly Place[]): Promise<string[]> {
  if (places.length === 0) return [];
  const byObject = Map.groupBy(places, ({ archiveId }) => archiveId);
  const objects = await ctx.db
    .select({ id: archives.id, key: archives.key })
    .from(archives)
    .where(amongIds(archives.id, [...byObject.keys()]));
  const lines = new Map<Place, string>();
  await Promise.all(
    objects.map(async ({ id, key }) => {
      const wanted = byObject.get(id)!;
      // In one read, because the rows of a list stand close to each other.
      const offset = Math.min(...wanted.map(({ lineAt }) => lineAt));
      const length = Math.max(...wanted.map(({ lineAt, lineLength }) => lineAt + lineLength)) - offset;
      const bytes = await readArchived(ctx, key, { offset, length });
      for (const place of wanted) {
        const from = place.lineAt - offset;
        lines.set(place, new TextDecoder().decode(bytes.subarray(from, from + place.lineLength)));
      }
    }),
  );
  return places.map((place) => lines.get(place)!);
}
