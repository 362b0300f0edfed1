import { formatErrorChain, raise } from '#core/errors.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { inTime } from '#platform/deadline.ts';
import { ERASED_REF_LENGTH } from '#rules/access/erased-customer.ts';
import { amongIds } from './among.ts';
import { archives } from './tables/archives.ts';
import type { StoredEvent } from './tables/events.ts';
import type { AuditEntry } from './tables/office/audit-log.ts';
import type { payments } from './tables/payments.ts';
import type { receipts } from './tables/receipts.ts';

export type StoredReceipt = typeof receipts.$inferSelect;
export type StoredPayment = typeof payments.$inferSelect;

/**
 * Line of an archive object: a row under the column names of its time. Objects are never rewritten, so readers must also accept the old
 * name of a renamed column.
 */
export type ArchivedLine = { event: StoredEvent } | { receipt: StoredReceipt } | { payment: StoredPayment } | { entry: AuditEntry };

const AMOUNTS = ['priceAmount', 'feeAmount', 'feeOwedAmount', 'overpaidAmount'] as const satisfies (keyof StoredPayment)[];

/** Text of a line, with room for the reference that an erasure writes: the index finds lines by their offsets. */
export function archivedTextOf(line: ArchivedLine): string {
  const text = JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? value.toString() : value));
  const refs = 'entry' in line ? 0 : text.match(/"customer_?ref":"/gi)?.length;
  return `${text}${' '.repeat((refs ?? 0) * ERASED_REF_LENGTH)}\n`;
}

export function paymentOf(line: string): StoredPayment {
  const { payment } = JSON.parse(line) as { payment: StoredPayment };
  const amounts = AMOUNTS.map((name) => [name, payment[name] === null ? null : BigInt(payment[name])]);
  return { ...payment, ...Object.fromEntries(amounts) };
}

export const receiptOf = (line: string): StoredReceipt => (JSON.parse(line) as { receipt: StoredReceipt }).receipt;

/** No payment of a higher version is archived, so that the acts of an archived one are found by the versions up to this. */
export const ARCHIVED_VERSION_MAX = 32;

/** Reads an archive object, or a range. Throws 503 temporarily_unavailable if the archive does not answer or is not bound. */
export async function readArchived(ctx: Ctx, key: string, range?: { offset: number; length: number }): Promise<Uint8Array> {
  try {
    const found = await inTime(ctx, async () => (await ctx.env.ARCHIVE?.get(key, range && { range }))?.arrayBuffer());
    if (found) return new Uint8Array(found);
    ctx.note(`archive: ${ctx.env.ARCHIVE ? 'there is no' : 'not bound, and needed for'} ${key}`);
  } catch (error) {
    ctx.note(`archive: ${formatErrorChain(error)}`);
  }
  return raise('temporarily_unavailable', { retryAfterSeconds: 1 });
}

export async function readArchivedEvents(ctx: Ctx, key: string, having = '', where = having): Promise<StoredEvent[]> {
  const text = new TextDecoder().decode(await readArchived(ctx, key));
  if (!text.includes(where)) return [];
  return text
    .split('\n')
    .filter((line) => line.startsWith('{"event"') && line.includes(having))
    .map((line) => (JSON.parse(line) as { event: StoredEvent }).event);
}

/** Text by which a line of this event type is found. Payloads of other types may contain the same text. */
export const lineOfType = (type: string): string => `"type":${JSON.stringify(type)}`;
export interface ArchivePosition {
  archiveId: number;
  lineAt: number;
  lineLength: number;
}

/** Position of a payment in the archive, and the membership that it belongs to now. */
export type ArchivedPayment = ArchivePosition & Pick<StoredPayment, 'membershipId'>;

/**
 * Reads the lines at these positions, in order, with one read per object. Throws 503 temporarily_unavailable if the archive does not
 * answer.
 */
export async function readLines(ctx: Shard, positions: readonly ArchivePosition[]): Promise<string[]> {
  if (positions.length === 0) return [];
  const byObject = Map.groupBy(positions, ({ archiveId }) => archiveId);
  const objects = await ctx.db
    .select({ id: archives.id, key: archives.key })
    .from(archives)
    .where(amongIds(archives.id, [...byObject.keys()]));
  const lines = new Map<ArchivePosition, string>();
  await Promise.all(
    objects.map(async ({ id, key }) => {
      const wanted = byObject.get(id)!;
      const offset = Math.min(...wanted.map(({ lineAt }) => lineAt));
      const length = Math.max(...wanted.map(({ lineAt, lineLength }) => lineAt + lineLength)) - offset;
      const bytes = await readArchived(ctx, key, { offset, length });
      for (const position of wanted) {
        const from = position.lineAt - offset;
        lines.set(position, new TextDecoder().decode(bytes.subarray(from, from + position.lineLength)));
      }
    }),
  );
  return positions.map((position) => lines.get(position)!);
}
