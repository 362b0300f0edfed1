import { type SQL, sql } from 'drizzle-orm';
import { raise, storyOf } from '#core/errors.ts';
import type { Ctx } from '#platform/context.ts';
import { inTime } from '#platform/deadline.ts';
import type { receipts } from './tables/commerce.ts';
import type { events } from './tables/messaging.ts';

type EventRow = typeof events.$inferSelect;
type ReceiptRow = typeof receipts.$inferSelect;
/** A receipt but for where it is kept. */
export type Receipt = Omit<ReceiptRow, 'archiveId' | 'lineAt' | 'lineLength'>;

/**
 * A line of an object: a row as the database held it, under the names that the tables give its columns. Objects are read for ever, so
 * a release that renames one of these goes on reading the old name.
 */
export type ArchivedLine = { event: EventRow } | { receipt: Receipt };

/** The id of a payment or membership as the archive's index has it. */
export const storyIdOf = (id: string | SQL): SQL => sql`coalesce(unhex(replace(${id}, '-', '')), ${id})`;

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
