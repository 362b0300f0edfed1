import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { formatErrorChain } from '#core/errors.ts';
import { newId } from '#core/ids.ts';
import { DAY, HOUR, iso } from '#core/time.ts';
import { anchorToPrevious } from '#features/receipts/hash-chain.ts';
import type { Shard } from '#platform/context.ts';
import { type ArchivedLine, archivedTextOf, type StoredPayment, type StoredReceipt } from '#platform/db/archive.ts';
import { commit, forEach } from '#platform/db/commit.ts';
import { emptyOrBound, mayGoOn, type Swept } from '#platform/db/sweeps.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { inTime } from '#platform/deadline.ts';
import {
  type ArchivedRow,
  listMovable,
  listPassedOwners,
  listRun,
  moveToArchive,
  type Owner,
  PASSED_SEQ,
  type PassedOwner,
  type RunLimits,
  readPassedSeq,
  savePassedSeq,
  type Written,
} from './archive.store.ts';
import { writeObject } from './object.ts';
import { beginDraft, forgetDrafts, giveUpDrafts } from './store.ts';

/** Recovery window of missed events, plus an hour for a recovery that began just before. */
export const ARCHIVED_AFTER_MS = 90 * DAY + HOUR;
/** Limits of one object. Several are in memory in full at once. */
const OBJECT: RunLimits = { events: 500, bytes: 2 ** 20 };
/** Time that the days of a merchant with few events wait for more, so that one object holds them. */
export const GATHER_MS = 7 * DAY;
/** Owners archived at once. */
const LANES = 6;
/** Acts that the walk reads at once. */
const PAGE_MAX = 1000;
/** Failed merchants after which the sweep treats the archive itself as down. */
const FAILED_MAX = 5;
/** Longer than any run. An older draft has no running writer. */
export const DRAFT_MS = HOUR;
/** Query of the last act that the walk has passed. */
export const PASSED_ACT = PASSED_SEQ;

const dayOf = (at: number): number => at - (at % DAY);

interface Run {
  bucket: R2Bucket;
  /** Start of the first day that stays. */
  before: number;
  objects: number;
  failed: Map<string, unknown>;
}

/**
 * Moves days that ended `ARCHIVED_AFTER_MS` ago to the archive, with the receipts and final payments of their events. A merchant with few
 * events waits for more. Objects are written and verified before the batch that indexes them deletes the rows, so a crash loses nothing. A
 * failure of one merchant does not block others, but fails the sweep at the end.
 */
export async function sweepArchive(ctx: Shard): Promise<Swept> {
  const { ARCHIVE: bucket } = ctx.env;
  if (!bucket) return { taken: 0, end: 'empty' };
  await deleteDrafts(ctx, bucket);
  const run: Run = { bucket, before: dayOf(ctx.now - ARCHIVED_AFTER_MS), objects: 0, failed: new Map() };
  const overdue = await walk(ctx, run, { after: 0, before: run.before - GATHER_MS }, () => true);
  const passed = await readPassedSeq(ctx.db);
  const filled = await walk(ctx, run, { after: passed, before: run.before }, ({ isFull }) => isFull === 1);
  // A failed merchant is passed again by the next run.
  if (filled.passed > passed && run.failed.size === 0) await savePassedSeq(ctx, filled.passed);
  for (const error of run.failed.values()) throw error;
  return { taken: run.objects, end: emptyOrBound(overdue.isOver && filled.isOver) };
}

/** Archives the owners of the acts between `after` and `before`. `passed`: last act with all earlier ones passed. */
async function walk(
  ctx: Shard,
  run: Run,
  { after, before }: { after: number; before: number },
  canTake: (owner: PassedOwner) => boolean,
): Promise<{ passed: number; isOver: boolean }> {
  let passed = after;
  while (mayGoOn(ctx)) {
    const owners = await listPassedOwners(ctx.db, { after: passed, before, limit: PAGE_MAX });
    const due = owners.filter((owner) => owner.hasFannedOut === 1 && owner.isErasing === 0 && canTake(owner));
    await forEach(ctx, due, (owner) => archiveOwner(ctx, run, owner), LANES);
    if (run.failed.size >= FAILED_MAX) return { passed, isOver: true };
    if (!mayGoOn(ctx)) break;
    passed = Math.max(passed, ...owners.map(({ lastSeq }) => lastSeq));
    if ((owners[0]?.pageActs ?? 0) < PAGE_MAX) return { passed, isOver: true };
  }
  return { passed, isOver: false };
}

/** Archives all complete days of an owner, as many events per object as fit. */
async function archiveOwner(ctx: Shard, run: Run, { merchantId, livemode: isLive }: PassedOwner): Promise<void> {
  const owner: Owner = { merchantId, livemode: Boolean(isLive) };
  const name = `${merchantId} ${isLive}`;
  if (run.failed.size >= FAILED_MAX || run.failed.has(name)) return;
  try {
    while (mayGoOn(ctx)) {
      const readAt = ctx.now + ctx.elapsedMs();
      const happened = await listRun(ctx.db, owner, run.before, OBJECT);
      if (happened.length === 0) return;
      await archiveRun(ctx, run.bucket, { ...owner, readAt, events: happened });
      run.objects++;
    }
  } catch (error) {
    ctx.note(`archive of ${merchantId}: ${formatErrorChain(error)}`);
    run.failed.set(name, error);
  }
}

async function archiveRun(
  ctx: Shard,
  bucket: R2Bucket,
  run: Pick<Written, 'merchantId' | 'livemode' | 'readAt' | 'events'>,
): Promise<void> {
  const { merchantId, livemode, events } = run;
  const { issued, paid } = await listMovable(ctx.db, run, namedIn(events));
  const { bytes, ...archivedRows } = objectOf(events, paid, await anchorToPrevious(ctx, issued));
  const [first] = events as [StoredEvent];
  const prefix = `${merchantId}/${livemode ? 'live' : 'sandbox'}/${iso(first.createdAt).slice(0, 10)}`;
  const key = `${prefix}/${first.seq}-${sha256Hex(bytes)}-${newId(ctx.now, merchantId)}.jsonl`;
  await beginDraft(ctx.db, key, ctx.now);
  await writeObject(ctx, bucket, key, bytes);
  await commit(ctx, { events: [], writes: moveToArchive(ctx, { ...run, key, ...archivedRows }), result: null });
}

const DRAFTS_MAX = 100;

async function deleteDrafts(ctx: Shard, bucket: R2Bucket): Promise<void> {
  const keys = (await giveUpDrafts(ctx.db, ctx.now - DRAFT_MS, DRAFTS_MAX)).map(({ key }) => key);
  if (keys.length === 0) return;
  await inTime(ctx, () => bucket.delete(keys));
  await forgetDrafts(ctx.db, keys);
}

const namedIn = (happened: StoredEvent[]) => ({
  receiptIds: happened.filter(({ type }) => type === 'receipt.created').map(({ subjectId }) => subjectId),
  paymentIds: [...new Set(happened.flatMap(({ paymentId }) => paymentId ?? []))],
});

function objectOf(happened: StoredEvent[], paid: StoredPayment[], issued: StoredReceipt[]) {
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
