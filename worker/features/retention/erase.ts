import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { type AccountId, newId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { readArchived } from '#platform/db/archive.ts';
import { commit, unchanged } from '#platform/db/commit.ts';
import { type EventType, NAMED_IN_EVENTS, NAMED_IN_PAYMENTS } from '#rules/events.ts';
import { writeObject } from './object.ts';
import { beginDraft, listNamed, NAMELESS, replaceObject } from './store.ts';

/** Objects that one look writes anew: each is read as a whole. */
const OBJECTS_MAX = 4;

/**
 * Erases names of people from the archive of a deleted account. Each object is written anew without the names and takes the place of the first,
 * which is deleted an hour later, so that a request that reads it at this moment still can. Answers how many had names, or might: 0 is all done.
 * 503 temporarily_unavailable where the archive does not answer.
 */
export async function eraseArchived(ctx: Shard, accountId: AccountId): Promise<number> {
  const named = await listNamed(ctx.db, accountId, OBJECTS_MAX);
  for (const { id, key } of named) {
    const bytes = withoutNames(await readArchived(ctx, key));
    const place = key.slice(0, key.indexOf('-', key.lastIndexOf('/')));
    const nameless = `${place}-${sha256Hex(bytes)}-${newId(ctx.now)}${NAMELESS}`;
    await beginDraft(ctx.db, nameless, ctx.now);
    await writeObject(ctx, ctx.env.ARCHIVE!, nameless, bytes);
    await commit(ctx, { ...unchanged(null), writes: replaceObject(ctx, { id, key }, nameless) });
  }
  return named.length;
}

/** An object without names. Every line stays where it is and as long as it is: payments and receipts are found by that. */
function withoutNames(bytes: Uint8Array): Uint8Array {
  const lines = new TextDecoder().decode(bytes).split('\n');
  return utf8(lines.map(namelessLine).join('\n'));
}

function namelessLine(line: string): string {
  if (line === '') return line;
  const row = JSON.parse(line) as { event?: { type: EventType; data: unknown }; payment?: unknown };
  const paths = NAMED_IN_EVENTS.flatMap(({ types, paths: places }) => (row.event && types.includes(row.event.type) ? places : []));
  const isChanged = row.event ? blankAt(row.event.data, paths) : blankAt(row.payment, NAMED_IN_PAYMENTS);
  if (!isChanged) return line;
  const nameless = JSON.stringify(row);
  return nameless + ' '.repeat(utf8(line).length - utf8(nameless).length);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Empties the texts that stand at these places; answers whether there was any. */
function blankAt(value: unknown, paths: readonly string[]): boolean {
  let isChanged = false;
  for (const path of paths) {
    const names = path.split('.').slice(1);
    const last = names.pop()!;
    const holder = names.reduce<unknown>((within, name) => (isObject(within) ? within[name] : undefined), value);
    if (!isObject(holder) || typeof holder[last] !== 'string' || holder[last] === '') continue;
    holder[last] = '';
    isChanged = true;
  }
  return isChanged;
}
