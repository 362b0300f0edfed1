import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { formatErrorChain } from '#core/errors.ts';
import { type AccountId, newId } from '#core/ids.ts';
import { DAY, HOUR } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import { archivedTextOf, readArchived } from '#platform/db/archive.ts';
import { eraseEntry, withoutInvited } from '#platform/db/audit/erased-entry.ts';
import { commit, forEach, unchanged } from '#platform/db/commit.ts';
import { emptyOrBound, mayGoOn, type Swept } from '#platform/db/sweeps.ts';
import type { AuditEntry } from '#platform/db/tables/office/audit-log.ts';
import {
  findNextLog,
  listNamedLogs,
  listOldEntries,
  listPassedLogs,
  moveEntries,
  type OldEntry,
  type PassedLog,
  readLogWalk,
  replaceLog,
  type StoredLog,
  saveLogWalk,
} from './log-archive.store.ts';
import { writeObject } from './object.ts';
import { beginDraft, NAMELESS } from './store.ts';

/** Time that entries are retained in the database. */
export const LOG_RETENTION_MS = 730 * DAY;
/** Time that the entries of an account wait for more, so that one object holds them. */
export const LOG_GATHER_MS = 30 * DAY;
const PAGE_MAX = 500;
const ENTRIES_MAX = 500;
const BYTES_MAX = 2 ** 19;
const WALK_EVERY_MS = DAY - HOUR;

/**
 * Walks over the logs of all accounts once a day, and moves entries older than `LOG_RETENTION_MS` to the archive. The last chained entry
 * stays, because the next one takes its number and hash from it. A crash loses nothing, as with `sweepArchive`. A failure of one account
 * delays no other, but fails the sweep at the end.
 */
export async function archiveLogs(ctx: Shard, bucket = ctx.env.ARCHIVE): Promise<Swept> {
  if (!bucket) return { taken: 0, end: 'empty' };
  const walk = await readLogWalk(ctx.db);
  if (walk && walk.after === null && walk.endedAt > ctx.wallNow - WALK_EVERY_MS) return { taken: 0, end: 'empty' };
  const before = ctx.wallNow - LOG_RETENTION_MS;
  const failures: unknown[] = [];
  let after = (walk?.after ?? null) as AccountId | null;
  let taken = 0;
  const archiveLog = async ({ merchantId }: PassedLog) => {
    try {
      while (mayGoOn(ctx) && (await archiveEntries(ctx, bucket, merchantId, before))) taken++;
    } catch (error) {
      ctx.note(`archive of the log of ${merchantId}: ${formatErrorChain(error)}`);
      failures.push(error);
    }
  };
  while (mayGoOn(ctx)) {
    const logs = await listPassedLogs(ctx.db, after, PAGE_MAX);
    const due = logs.filter(({ oldestAt, isErasing }) => !isErasing && oldestAt < before - LOG_GATHER_MS);
    await forEach(ctx, due, archiveLog);
    // The accounts of a page that ran out of time are passed again.
    if (!mayGoOn(ctx) && due.length > 0) break;
    const isLast = logs.length < PAGE_MAX;
    after = isLast ? null : logs.at(-1)!.merchantId;
    await saveLogWalk(ctx.db, after, isLast && failures.length === 0 ? ctx.wallNow : 0);
    if (isLast) break;
  }
  if (failures.length > 0) throw failures[0];
  return { taken, end: emptyOrBound(after === null && mayGoOn(ctx)) };
}

/** Moves up to an object of the oldest entries of an account. Returns false if none is old enough. */
async function archiveEntries(ctx: Shard, bucket: R2Bucket, merchantId: AccountId, before: number): Promise<boolean> {
  const entries = oldRun(await listOldEntries(ctx.db, merchantId, ENTRIES_MAX), before);
  const [first] = entries;
  if (!first) return false;
  const archived = entries.map(({ text: _, ...entry }) => withoutInvited(entry));
  const bytes = utf8(archived.map((entry) => archivedTextOf({ entry })).join(''));
  const key = `${merchantId}/log/${first.seq}-${sha256Hex(bytes)}-${newId(ctx.now, merchantId)}.jsonl`;
  await beginDraft(ctx.db, key, ctx.now);
  await writeObject(ctx, bucket, key, bytes);
  await commit(ctx, { ...unchanged(null), writes: moveEntries(ctx, { key, named: namedIn(archived) }, entries) });
  return true;
}

/** Entries of an object: those before `before`, up to the first newer one, as many as fit. */
function oldRun(entries: OldEntry[], before: number): OldEntry[] {
  const run: OldEntry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    bytes += entry.text.length;
    if (entry.at >= before || entry.hash === null || (bytes > BYTES_MAX && run.length > 0)) break;
    run.push(entry);
  }
  return run;
}

const isNamed = ({ actorKind, actorName, details }: AuditEntry): boolean =>
  actorKind === 'person' && (actorName !== null || details.ip !== undefined);

const namedIn = (entries: AuditEntry[]): AccountId[] => [
  ...new Set(entries.filter(isNamed).flatMap(({ actorId }) => (actorId === null ? [] : [actorId as AccountId]))),
];

const OBJECTS_MAX = 4;

/**
 * Erases names and addresses from archived entries: of a person in the log of another account, or of all if `personId` is null. A
 * rewritten object replaces the original, as in `eraseArchived`. Returns how many objects were rewritten: fewer than `max` means done.
 */
export async function eraseArchivedLog(ctx: Shard, accountId: AccountId, personId: AccountId | null, max = OBJECTS_MAX): Promise<number> {
  const named = await listNamedLogs(ctx.db, accountId, personId, max);
  const suffix = personId === null ? NAMELESS : '.jsonl';
  for (const log of named) {
    const left = personId === null ? [] : log.named.filter((id) => id !== personId);
    await rewriteLog(ctx, log, (entry) => eraseEntry(entry, personId), { suffix, named: left });
  }
  return named.length;
}

/** Erases entries of the next archived object of an account's log. Returns its last entry. null: no object is left. */
export async function eraseFromLog(
  ctx: Shard,
  accountId: AccountId,
  after: number,
  erase: (entry: AuditEntry) => AuditEntry,
): Promise<number | null> {
  const log = await findNextLog(ctx.db, accountId, after);
  if (!log) return null;
  await rewriteLog(ctx, log, erase, { suffix: log.key.slice(log.key.indexOf('.')), named: log.named });
  return log.lastSeq;
}

async function rewriteLog(
  ctx: Shard,
  log: StoredLog,
  erase: (entry: AuditEntry) => AuditEntry,
  { suffix, named }: { suffix: string; named: AccountId[] },
): Promise<void> {
  const lines = new TextDecoder()
    .decode(await readArchived(ctx, log.key))
    .trimEnd()
    .split('\n');
  const before = lines.map((line) => (JSON.parse(line) as { entry: AuditEntry }).entry);
  const entries = before.map(erase);
  if (entries.every((entry, i) => entry === before[i])) return;
  const bytes = utf8(entries.map((entry) => archivedTextOf({ entry })).join(''));
  const prefix = log.key.slice(0, log.key.indexOf('-', log.key.lastIndexOf('/')));
  const key = `${prefix}-${sha256Hex(bytes)}-${newId(ctx.now, log.merchantId)}${suffix}`;
  await beginDraft(ctx.db, key, ctx.now);
  await writeObject(ctx, ctx.env.ARCHIVE!, key, bytes);
  await commit(ctx, { ...unchanged(null), writes: replaceLog(ctx, log, { key, named }) });
}
