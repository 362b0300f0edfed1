import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import { DAY, HOUR, iso } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import type { ArchivedLine, Receipt } from '#platform/db/archive.ts';
import { commit } from '#platform/db/commit.ts';
import { type Swept, sweepRounds } from '#platform/db/sweep-pages.ts';
import { findOldest, listMovable, listRun, moveToArchive, type StoredEvent, type Written } from './archive.store.ts';

/** As long as missed events are recovered. A recovery that began just before still finds what it has read. */
const KEEP_MS = 90 * DAY + HOUR;
/** Events in an object, which is read as a whole: a day with more of them is several objects. */
const OBJECT_MAX = 500;
const OBJECTS_MAX = 20;

/** The first moment of the day (UTC). */
const dayOf = (at: number): number => at - (at % DAY);

/**
 * Moves events, and the receipts they tell of, to the archive: whole days that ended `KEEP_MS` ago, one object a merchant and day unless
 * there is too much for one. An object is written and read back before its rows go, in one batch with its place in the index. A run
 * that dies before that batch has changed nothing, and the next one writes the same bytes under the same name. Without an archive
 * everything stays where it is.
 */
export async function sweepArchive(ctx: Shard): Promise<Swept> {
  const { ARCHIVE: bucket } = ctx.env;
  if (!bucket) return { taken: 0, isFinished: true };
  return sweepRounds(ctx, { max: 1, roundsMax: OBJECTS_MAX }, () => archiveNext(ctx, bucket, dayOf(ctx.now - KEEP_MS)));
}

/** Answers how many objects it made: none where nothing is older than `before`. */
async function archiveNext(ctx: Shard, bucket: R2Bucket, before: number): Promise<number> {
  const oldest = await findOldest(ctx.db);
  if (!oldest || oldest.createdAt >= before) return 0;
  const merchantId = oldest.merchantId as AccountId;
  const { livemode } = oldest;
  const happened = await listRun(ctx.db, merchantId, livemode, dayOf(oldest.createdAt) + DAY, OBJECT_MAX);
  const named = happened.filter(({ type }) => type === 'receipt.created').map(({ subjectId }) => subjectId);
  const issued = named.length > 0 ? await listMovable(ctx.db, merchantId, livemode, named) : [];
  const { bytes, places } = objectOf(
    happened,
    issued.map(({ archiveId: _, lineAt: _at, lineLength: _length, ...receipt }) => receipt),
  );
  const key = `${merchantId}/${livemode ? 'live' : 'sandbox'}/${iso(oldest.createdAt).slice(0, 10)}/${happened[0]!.seq}-${sha256Hex(bytes)}.jsonl`;
  await writeObject(bucket, key, bytes);
  const written: Written = { merchantId, livemode, key, events: happened, receipts: places };
  await commit(ctx, { events: [], writes: moveToArchive(ctx, written), result: null });
  return 1;
}

/** The lines of an object, events before receipts, and the bytes at which each receipt stands. */
function objectOf(happened: StoredEvent[], issued: Receipt[]) {
  const lineOf = (line: ArchivedLine): Uint8Array => utf8(`${JSON.stringify(line)}\n`);
  const lines = happened.map((event) => lineOf({ event }));
  let at = lines.reduce((sum, { length }) => sum + length, 0);
  const places = issued.map((receipt) => {
    const line = lineOf({ receipt });
    lines.push(line);
    at += line.length;
    return { receipt, lineAt: at - line.length, lineLength: line.length };
  });
  const bytes = new Uint8Array(at);
  let end = 0;
  for (const line of lines) {
    bytes.set(line, end);
    end += line.length;
  }
  return { bytes, places };
}

/** Writes an object and reads it back: what leaves the database after this is in the archive, byte for byte. Throws where it is not. */
async function writeObject(bucket: R2Bucket, key: string, bytes: Uint8Array): Promise<void> {
  await bucket.put(key, bytes, { httpMetadata: { contentType: 'application/jsonl' } });
  const stored = await bucket.get(key);
  if (!stored || sha256Hex(new Uint8Array(await stored.arrayBuffer())) !== sha256Hex(bytes))
    throw new Error(`archive: ${key} does not read as it was written`);
}
