import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { type AccountId, newId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { readArchived } from '#platform/db/archive.ts';
import { commit, unchanged } from '#platform/db/commit.ts';
import { blankAt, type EventType, eraseNames, NAMED_IN_PAYMENTS } from '#rules/events.ts';
import { writeObject } from './object.ts';
import { beginDraft, listNamed, NAMELESS, replaceObject } from './store.ts';

const OBJECTS_MAX = 4;

/**
 * Erases personal names from the archive of a deleted account. A rewritten object replaces the original, which is deleted an hour later so
 * that concurrent reads succeed. Returns how many objects had, or may have had, names. 0 means done.
 * Throws 503 temporarily_unavailable if the archive does not answer.
 */
export async function eraseArchived(ctx: Shard, accountId: AccountId): Promise<number> {
  const named = await listNamed(ctx.db, accountId, OBJECTS_MAX);
  for (const { id, key } of named) {
    const bytes = withoutNames(await readArchived(ctx, key));
    const prefix = key.slice(0, key.indexOf('-', key.lastIndexOf('/')));
    const nameless = `${prefix}-${sha256Hex(bytes)}-${newId(ctx.now, accountId)}${NAMELESS}`;
    await beginDraft(ctx.db, nameless, ctx.now);
    await writeObject(ctx, ctx.env.ARCHIVE!, nameless, bytes);
    await commit(ctx, { ...unchanged(null), writes: replaceObject(ctx, { id, key }, nameless) });
  }
  return named.length;
}

/** Blanks names and pads each line with spaces to its original length: the index finds payments and receipts by byte offset. */
function withoutNames(bytes: Uint8Array): Uint8Array {
  const lines = new TextDecoder().decode(bytes).split('\n');
  return utf8(lines.map(namelessLine).join('\n'));
}

function namelessLine(line: string): string {
  if (line === '') return line;
  const row = JSON.parse(line) as { event?: { type: EventType; data: unknown }; payment?: unknown };
  const isChanged = row.event ? eraseNames(row.event) : blankAt(row.payment, NAMED_IN_PAYMENTS);
  if (!isChanged) return line;
  const nameless = JSON.stringify(row);
  return nameless + ' '.repeat(utf8(line).length - utf8(nameless).length);
}
