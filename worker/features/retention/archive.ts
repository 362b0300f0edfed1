import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { storyOf } from '#core/errors.ts';
import { type AccountId, newId } from '#core/ids.ts';
import { DAY, HOUR, iso } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { type ArchivedLine, archivedTextOf, type StoredPayment, type StoredReceipt } from '#platform/db/archive.ts';
import { commit } from '#platform/db/commit.ts';
import { type Swept, sweepRounds } from '#platform/db/sweeps.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { inTime } from '#platform/deadline.ts';
import {
  type ArchivableEvent,
  findOldest,
  listMovable,
  listRun,
  moveToArchive,
  type Owner,
  type Placed,
  type RunLimits,
  type Written,
} from './archive.store.ts';
import { writeObject } from './object.ts';
import { beginDraft, forgetDrafts, giveUpDrafts } from './store.ts';

/** As long as missed events are recovered. A recovery that began just before still finds what it has read. */
export const ARCHIVED_AFTER_MS = 90 * DAY + HOUR;
/** An object is read as a whole: a day with more than this is several objects. */
const OBJECT: RunLimits = { events: 500, bytes: 2 ** 22 };
const OBJECTS_MAX = 20;
/** After so many failures it is not a merchant's events that fail, but the archive. */
const FAILED_MAX = 5;
/** Longer than a run can take. A draft that is older has no run any more. */
const DRAFT_MS = HOUR;

/** The first moment of the day (UTC). */
const dayOf = (at: number): number => at - (at % DAY);

/**
 * Moves events, and the receipts and final payments they tell of, to the archive: whole days that ended `ARCHIVED_AFTER_MS` ago, one object a merchant and day unless
 * there is too much for one. An object is written and read back before its rows go, in one batch with its place in the index. A run
 * that crashes before that batch has changed nothing, and what it wrote is deleted later. Without an archive everything stays where it is.
 * A merchant whose events cannot be archived holds up no other; the sweep fails in the end, so that a person is told.
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
    // Its events name people until all of them are erased.
    if (oldest.isErasing === 1) {
      erasing.push(owner);
      return 1;
    }
    await archiveDay(ctx, bucket, owner, dayOf(oldest.createdAt)).catch((error: unknown) => {
      ctx.note(`archive of ${owner.merchantId}: ${storyOf(error)}`);
      failed.push({ ...owner, error });
      if (failed.length === FAILED_MAX) throw error;
    });
    return 1;
  });
  if (failed.length > 0) throw failed[0]!.error;
  return swept;
}

/** One object of a merchant's events, from the first one on. */
async function archiveDay(ctx: Shard, bucket: R2Bucket, owner: Owner, day: number): Promise<void> {
  const { merchantId, livemode } = owner;
  const readAt = ctx.now + ctx.elapsedMs();
  const happened = await listRun(ctx.db, owner, day + DAY, OBJECT);
  const { issued, paid } = await listMovable(ctx.db, owner, namedIn(happened));
  const { bytes, ...placed } = objectOf(happened, paid, issued);
  const place = `${merchantId}/${livemode ? 'live' : 'sandbox'}/${iso(day).slice(0, 10)}`;
  const key = `${place}/${happened[0]!.seq}-${sha256Hex(bytes)}-${newId(ctx.now)}.jsonl`;
  await beginDraft(ctx.db, key, ctx.now);
  await writeObject(ctx, bucket, key, bytes);
  const written: Written = { merchantId, livemode, key, readAt, events: happened, ...placed };
  await commit(ctx, { events: [], writes: moveToArchive(ctx, written), result: null });
}

const DRAFTS_MAX = 100;

/** Deletes objects of runs that crashed before the objects were in the index. */
async function deleteDrafts(ctx: Shard, bucket: R2Bucket): Promise<void> {
  const keys = (await giveUpDrafts(ctx.db, ctx.now - DRAFT_MS, DRAFTS_MAX)).map(({ key }) => key);
  if (keys.length === 0) return;
  await inTime(ctx, () => bucket.delete(keys));
  await forgetDrafts(ctx.db, keys);
}

/** The receipts and payments that events tell of. */
const namedIn = (happened: ArchivableEvent[]) => ({
  receiptIds: happened.filter(({ type }) => type === 'receipt.created').map(({ subjectId }) => subjectId),
  paymentIds: [...new Set(happened.flatMap(({ paymentId }) => paymentId ?? []))],
});

/** The lines of an object: events, payments and receipts, each kind together; and the bytes at which each of the last two stands. */
function objectOf(happened: ArchivableEvent[], paid: (StoredPayment & { settlement?: Settlement | undefined })[], issued: StoredReceipt[]) {
  const lines: Uint8Array[] = [];
  let length = 0;
  const place = <T>(row: T, line: ArchivedLine): Placed<T> => {
    const bytes = utf8(archivedTextOf(line));
    lines.push(bytes);
    length += bytes.length;
    return { row, lineAt: length - bytes.length, lineLength: bytes.length };
  };
  for (const event of happened) place(event, { event });
  const payments = paid.map(({ settlement, ...payment }) =>
    place<StoredPayment>(payment, { payment, ...(settlement ? { settlement } : {}) }),
  );
  const receipts = issued.map((receipt) => place(receipt, { receipt }));
  const bytes = new Uint8Array(length);
  let end = 0;
  for (const line of lines) {
    bytes.set(line, end);
    end += line.length;
  }
  return { bytes, payments, receipts };
}
