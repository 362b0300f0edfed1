import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { formatErrorChain } from '#core/errors.ts';
import { type AccountId, newId } from '#core/ids.ts';
import { DAY, HOUR, iso } from '#core/time.ts';
import { anchorToPrevious } from '#features/receipts/hash-chain.ts';
import type { Shard } from '#platform/context.ts';
import { type ArchivedLine, archivedTextOf, type StoredPayment, type StoredReceipt } from '#platform/db/archive.ts';
import { commit } from '#platform/db/commit.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import { inTime } from '#platform/deadline.ts';
import {
  type ArchivableEvent,
  type ArchivedRow,
  findOldest,
  listMovable,
  listRun,
  moveToArchive,
  type Owner,
  type RunLimits,
  type Written,
} from './archive.store.ts';
import { writeObject } from './object.ts';
import { beginDraft, forgetDrafts, giveUpDrafts } from './store.ts';

/** Recovery window of missed events, plus an hour for a recovery that began just before. */
export const ARCHIVED_AFTER_MS = 90 * DAY + HOUR;
/** Limits of one object, which is read into memory in full. A larger day is split into several objects. */
const OBJECT: RunLimits = { events: 500, bytes: 2 ** 22 };
const OBJECTS_MAX = 20;
/** Failed merchants after which the sweep treats the archive itself as down. */
const FAILED_MAX = 5;
/** Longer than any run. An older draft has no running writer. */
export const DRAFT_MS = HOUR;

const dayOf = (at: number): number => at - (at % DAY);

/**
 * Moves days that ended `ARCHIVED_AFTER_MS` ago to the archive, with the receipts and final payments of their events. Objects are written
 * and verified before the batch that indexes them deletes the rows, so a crash loses nothing.
 * A failure of one merchant does not block others, but fails the sweep at the end.
 */
export async function sweepArchive(ctx: Shard): Promise<Swept> {
  const { ARCHIVE: bucket } = ctx.env;
  if (!bucket) return { taken: 0, isFinished: true };
  await deleteDrafts(ctx, bucket);
  const failed: (Owner & { error: unknown })[] = [];
  const erasing: Owner[] = [];
  const swept = await sweepRounds(ctx, { max: 1, roundsMax: OBJECTS_MAX }, async () => {
    const before = dayOf(ctx.now - ARCHIVED_AFTER_MS);
    const oldest = await findOldest(ctx.db, [...failed, ...erasing]);
    if (!oldest || oldest.createdAt >= before) return 0;
    const owner = { merchantId: oldest.merchantId as AccountId, livemode: oldest.livemode };
    // The events contain personal names until the erasure of the account is complete.
    if (oldest.isErasing === 1) {
      erasing.push(owner);
      return 1;
    }
    await archiveDay(ctx, bucket, owner, dayOf(oldest.createdAt)).catch((error: unknown) => {
      ctx.note(`archive of ${owner.merchantId}: ${formatErrorChain(error)}`);
      failed.push({ ...owner, error });
      if (failed.length === FAILED_MAX) throw error;
    });
    return 1;
  });
  if (failed.length > 0) throw failed[0]!.error;
  return swept;
}

async function archiveDay(ctx: Shard, bucket: R2Bucket, owner: Owner, day: number): Promise<void> {
  const { merchantId, livemode } = owner;
  const readAt = ctx.now + ctx.elapsedMs();
  const happened = await listRun(ctx.db, owner, day + DAY, OBJECT);
  const { issued, paid } = await listMovable(ctx.db, owner, namedIn(happened));
  const { bytes, ...archivedRows } = objectOf(happened, paid, await anchorToPrevious(ctx, issued));
  const prefix = `${merchantId}/${livemode ? 'live' : 'sandbox'}/${iso(day).slice(0, 10)}`;
  const key = `${prefix}/${happened[0]!.seq}-${sha256Hex(bytes)}-${newId(ctx.now, merchantId)}.jsonl`;
  await beginDraft(ctx.db, key, ctx.now);
  await writeObject(ctx, bucket, key, bytes);
  const written: Written = { merchantId, livemode, key, readAt, events: happened, ...archivedRows };
  await commit(ctx, { events: [], writes: moveToArchive(ctx, written), result: null });
}

const DRAFTS_MAX = 100;

async function deleteDrafts(ctx: Shard, bucket: R2Bucket): Promise<void> {
  const keys = (await giveUpDrafts(ctx.db, ctx.now - DRAFT_MS, DRAFTS_MAX)).map(({ key }) => key);
  if (keys.length === 0) return;
  await inTime(ctx, () => bucket.delete(keys));
  await forgetDrafts(ctx.db, keys);
}

const namedIn = (happened: ArchivableEvent[]) => ({
  receiptIds: happened.filter(({ type }) => type === 'receipt.created').map(({ subjectId }) => subjectId),
  paymentIds: [...new Set(happened.flatMap(({ paymentId }) => paymentId ?? []))],
});

function objectOf(happened: ArchivableEvent[], paid: StoredPayment[], issued: StoredReceipt[]) {
  const lines: Uint8Array[] = [];
  let length = 0;
  const prefix = <T>(row: T, line: ArchivedLine): ArchivedRow<T> => {
    const bytes = utf8(archivedTextOf(line));
    lines.push(bytes);
    length += bytes.length;
    return { row, lineAt: length - bytes.length, lineLength: bytes.length };
  };
  for (const event of happened) prefix(event, { event });
  const payments = paid.map((payment) => prefix<StoredPayment>(payment, { payment }));
  const receipts = issued.map((receipt) => prefix(receipt, { receipt }));
  const bytes = new Uint8Array(length);
  let end = 0;
  for (const line of lines) {
    bytes.set(line, end);
    end += line.length;
  }
  return { bytes, payments, receipts };
}
