import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { type AccountId, newId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { readArchived, type StoredPayment } from '#platform/db/archive.ts';
import { commit, unchanged } from '#platform/db/commit.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { erasePaymentRow } from '#rules/access/erased-customer.ts';
import { blankAt, type EventType, eraseNames, NAMED_IN_PAYMENTS } from '#rules/events.ts';
import { writeObject } from './object.ts';
import { beginDraft, findNextObject, listNamed, NAMELESS, replaceObject } from './store.ts';

const OBJECTS_MAX = 4;

/**
 * Erases personal names from the archive of a deleted account. A rewritten object replaces the original, which is deleted an hour later so
 * that concurrent reads succeed. Returns how many objects had, or may have had, names. 0 means done.
 * Throws 503 temporarily_unavailable if the archive does not answer.
 */
export async function eraseArchived(ctx: Shard, accountId: AccountId): Promise<number> {
  const named = await listNamed(ctx.db, accountId, OBJECTS_MAX);
  for (const { id, key } of named) {
    const lines = linesOf(await readArchived(ctx, key));
    const erased = lines.map((line) =>
      rewritten(line, (row) => (row.event ? eraseNames(row.event) : blankAt(row.payment, NAMED_IN_PAYMENTS))),
    );
    await storeLines(ctx, { id, key }, accountId, { lines: erased, suffix: NAMELESS });
  }
  return named.length;
}

const linesOf = (bytes: Uint8Array): string[] => new TextDecoder().decode(bytes).split('\n');

async function storeLines(
  ctx: Shard,
  { id, key }: { id: number; key: string },
  accountId: AccountId,
  { lines, suffix }: { lines: readonly string[]; suffix: string },
): Promise<void> {
  const bytes = utf8(lines.join('\n'));
  const prefix = key.slice(0, key.indexOf('-', key.lastIndexOf('/')));
  const replaced = `${prefix}-${sha256Hex(bytes)}-${newId(ctx.now, accountId)}${suffix}`;
  await beginDraft(ctx.db, replaced, ctx.now);
  await writeObject(ctx, ctx.env.ARCHIVE!, replaced, bytes);
  await commit(ctx, { ...unchanged(null), writes: replaceObject(ctx, { id, key }, replaced) });
}

interface Row {
  event?: StoredEvent & { type: EventType };
  payment?: StoredPayment;
}

/** Rewrites a line and pads it with spaces to its original length: the index finds payments and receipts by byte offset. */
function rewritten(line: string, erase: (row: Row) => boolean): string {
  if (line === '') return line;
  const row = JSON.parse(line) as Row;
  if (!erase(row)) return line;
  const text = JSON.stringify(row);
  return text + ' '.repeat(utf8(line).length - utf8(text).length);
}

/**
 * Erases a customer from the next archived object of the account in the mode. `findOwn` finds the customer's events, which `eraseEvent`
 * changes. Returns the object. null: no object is left. Throws 503 temporarily_unavailable if the archive does not answer.
 */
export async function eraseFromArchive(
  { ctx, customer }: Erasing,
  after: number,
  {
    findOwn,
    eraseEvent,
  }: { findOwn(events: readonly StoredEvent[]): Promise<(event: StoredEvent) => boolean>; eraseEvent(event: StoredEvent): StoredEvent },
): Promise<number | null> {
  const next = await findNextObject(ctx.db, ctx, after);
  if (!next) return null;
  const lines = linesOf(await readArchived(ctx, next.key));
  const isOwn = await findOwn(
    lines.flatMap((line) => (line.startsWith('{"event"') ? (JSON.parse(line) as { event: StoredEvent }).event : [])),
  );
  const erased = lines.map((line) =>
    rewritten(line, (row) => {
      if (row.payment) return erasePaymentRow(row.payment, customer);
      if (!row.event || !isOwn(row.event)) return false;
      Object.assign(row.event, eraseEvent(row.event));
      return true;
    }),
  );
  if (erased.some((line, i) => line.trimEnd() !== lines[i]!.trimEnd()))
    await storeLines(ctx, next, ctx.merchantId, { lines: erased, suffix: next.key.slice(next.key.indexOf('.')) });
  return next.id;
}
