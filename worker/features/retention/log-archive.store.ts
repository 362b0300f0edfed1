import { and, asc, desc, eq, getTableColumns, gt, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId, jsonRows, textOfId } from '#platform/db/among.ts';
import { abortIf, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { archiveDrafts } from '#platform/db/tables/archives.ts';
import { cursors } from '#platform/db/tables/candidates.ts';
import { type AuditEntry, auditArchives, auditEntries } from '#platform/db/tables/office/audit-log.ts';
import { NAMELESS } from './store.ts';

const CURSOR = 'logArchive';

/** Account after which the walk over the logs continues, null at the begin, and the time of the walk's end. */
export const readLogWalk = (db: Db) =>
  db.select({ after: cursors.walkBefore, endedAt: cursors.passedAt }).from(cursors).where(eq(cursors.name, CURSOR)).get();

export const saveLogWalk = (db: Db, walkBefore: AccountId | null, passedAt: number) =>
  db
    .insert(cursors)
    .values({ name: CURSOR, walkBefore, passedAt, version: 1 })
    .onConflictDoUpdate({ target: cursors.name, set: { walkBefore, passedAt } });

/** Log of an account on a page of the walk. */
export interface PassedLog {
  merchantId: AccountId;
  oldestAt: number;
  /** True if the account is deleted and its entries may still have names. */
  isErasing: 0 | 1;
}

/** Lists the next `max` accounts with a log, by id. Reads about three rows for each. */
export const listPassedLogs = (db: Db, after: AccountId | null, max: number): Promise<PassedLog[]> =>
  db.all(sql`WITH RECURSIVE owner(id) AS (SELECT min(merchant_id) FROM audit_entries WHERE merchant_id > ${after === null ? sql`x''` : boundId(after)}
      UNION ALL SELECT (SELECT min(merchant_id) FROM audit_entries WHERE merchant_id > owner.id) FROM owner WHERE owner.id IS NOT NULL LIMIT ${max})
    SELECT ${textOfId(sql`owner.id`)} AS merchantId,
      (SELECT at FROM audit_entries e WHERE e.merchant_id = owner.id ORDER BY seq LIMIT 1) AS oldestAt,
      EXISTS (SELECT 1 FROM accounts WHERE id = owner.id AND status = 'deleted' AND erased_at IS NULL) AS isErasing
    FROM owner WHERE owner.id IS NOT NULL`);

/** Entry with its details as they are stored. */
export type OldEntry = AuditEntry & { text: string };

/** Lists the oldest entries of an account before its last chained one, which the next entry follows. */
export async function listOldEntries(db: Db, merchantId: AccountId, max: number): Promise<OldEntry[]> {
  const head = sql`(SELECT seq FROM audit_entries h WHERE h.merchant_id = ${boundId(merchantId)} AND h.hash IS NOT NULL ORDER BY h.seq DESC LIMIT 1)`;
  return db
    .select({ ...getTableColumns(auditEntries), text: sql<string>`details` })
    .from(auditEntries)
    .where(and(eq(auditEntries.merchantId, merchantId), sql`${auditEntries.seq} < ${head}`))
    .orderBy(asc(auditEntries.seq))
    .limit(max);
}

interface LogObject {
  key: string;
  named: AccountId[];
}

/** Plans the move of entries into an object that holds them. Aborts if one of them was erased meanwhile, or the draft was given up. */
export function moveEntries(ctx: Shard, { key, named }: LogObject, entries: OldEntry[]): Write[] {
  const { db } = ctx;
  const { merchantId, seq: lastSeq, hash } = entries.at(-1)!;
  const rows = entries.map(({ seq, text, actorName: name, isErased }) => ({ seq, text, name, isErased: isErased ? 1 : 0 }));
  const same = sql`SELECT e.seq FROM ${jsonRows(rows)} CROSS JOIN audit_entries e ON e.merchant_id = ${boundId(merchantId)}
    AND e.seq = j.value ->> 'seq' AND e.details = j.value ->> 'text' AND e.actor_name IS j.value ->> 'name' AND e.is_erased = j.value ->> 'isErased'`;
  return [
    db.insert(auditArchives).values({ merchantId, lastSeq, lastHash: hash!, key, named }),
    db.delete(auditEntries).where(and(eq(auditEntries.merchantId, merchantId), sql`seq IN (${same})`)),
    abortIf(ctx, sql`changes() <> ${rows.length}`),
    db.delete(archiveDrafts).where(and(eq(archiveDrafts.key, key), eq(archiveDrafts.isGivenUp, false))),
    abortUnlessChanged(ctx),
  ];
}

export type StoredLog = typeof auditArchives.$inferSelect;

/** Lists objects of an account with the name of a person. `personId` null: those with any personal data. */
export const listNamedLogs = (db: Db, accountId: AccountId, personId: AccountId | null, max: number): Promise<StoredLog[]> =>
  db
    .select()
    .from(auditArchives)
    .where(
      and(
        eq(auditArchives.merchantId, accountId),
        personId === null
          ? sql`key NOT LIKE ${`%${NAMELESS}`}`
          : sql`EXISTS (SELECT 1 FROM json_each(${auditArchives.named}) WHERE value = ${personId})`,
      ),
    )
    .orderBy(desc(auditArchives.lastSeq))
    .limit(max);

export const findNextLog = (db: Db, accountId: AccountId, after: number): Promise<StoredLog | undefined> =>
  db
    .select()
    .from(auditArchives)
    .where(and(eq(auditArchives.merchantId, accountId), gt(auditArchives.lastSeq, after)))
    .orderBy(asc(auditArchives.lastSeq))
    .limit(1)
    .get();

/** Plans the swap of an object, and gives up the original, which a sweep deletes. Aborts if a concurrent run was faster. */
export const replaceLog = (ctx: Shard, { merchantId, lastSeq, key }: StoredLog, written: LogObject): Write[] => [
  ctx.db
    .update(auditArchives)
    .set(written)
    .where(and(eq(auditArchives.merchantId, merchantId), eq(auditArchives.lastSeq, lastSeq), eq(auditArchives.key, key))),
  abortUnlessChanged(ctx),
  ctx.db.delete(archiveDrafts).where(and(eq(archiveDrafts.key, written.key), eq(archiveDrafts.isGivenUp, false))),
  abortUnlessChanged(ctx),
  ctx.db.insert(archiveDrafts).values({ key, begunAt: ctx.now, isGivenUp: true }),
];
