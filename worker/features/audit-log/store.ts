import { and, asc, desc, eq, exists, getTableColumns, gt, gte, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm';
import { alias } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { Db, Scope } from '#platform/context.ts';
import { digitsField, fieldOf, idField, jsonRows, textOfId } from '#platform/db/among.ts';
import { type Listed, listPage, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { type AuditEntry, auditArchives, auditEntries } from '#platform/db/tables/office/audit-log.ts';

export interface EntryFilter {
  actorKind?: AuditEntry['actorKind'] | undefined;
  actorId?: string | undefined;
  /** An action, or all of a noun: `key.*`. */
  action?: string | undefined;
  subjectId?: string | undefined;
  outcome?: AuditEntry['outcome'] | undefined;
  from?: number | undefined;
  to?: number | undefined;
  q?: string | undefined;
}

const others = alias(auditEntries, 'others');
const { merchantId: ofMerchant, seq, at, action: ofAction } = auditEntries;

const isInFilter = (scope: Pick<Scope, 'merchantId' | 'livemode'>, { action, from, to, q, ...filter }: EntryFilter): SQL =>
  and(
    rowsOf(auditEntries, scope, [
      [auditEntries.actorKind, filter.actorKind],
      [auditEntries.actorId, filter.actorId],
      [auditEntries.subjectId, filter.subjectId],
      [auditEntries.outcome, filter.outcome],
    ]),
    action === undefined ? undefined : action.endsWith('.*') ? sql`${ofAction} GLOB ${action}` : sql`${ofAction} = ${action}`,
    from === undefined ? undefined : gte(at, from),
    to === undefined ? undefined : lt(at, to),
    q === undefined ? undefined : contains(q),
  )!;

/** SQL condition: a name, action or identifier contains the text, in any case. */
const contains = (q: string): SQL =>
  sql`instr(lower(concat_ws(char(10), ${auditEntries.actorName}, ${ofAction}, ${auditEntries.requestId},
    ${textOfId(sql`${auditEntries.subjectId}`)}, ${textOfId(sql`${auditEntries.actorId}`)})), lower(${q})) > 0`;

export const listAuditEntries = (scope: Scope, filter: EntryFilter, page: PageRequest): Promise<Listed<AuditEntry>> =>
  listPage(scope.db, auditEntries, isInFilter(scope, filter), [desc(seq)], page);

export const hasMoreEntries = async ({ db, ...scope }: Scope, filter: EntryFilter, max: number): Promise<boolean> =>
  (await db.select({ seq }).from(auditEntries).where(isInFilter(scope, filter)).limit(1).offset(max)).length > 0;

/** Reads entries of a filter, newest first, before the number `below`. */
export const listBelow = (scope: Scope, filter: EntryFilter, below: number, max: number): Promise<AuditEntry[]> =>
  scope.db
    .select()
    .from(auditEntries)
    .where(and(isInFilter(scope, filter), lt(seq, below)))
    .orderBy(desc(seq))
    .limit(max);

/** Lists entries before a time, newest first: of an account, or of the operators and staff in all accounts of the database. */
export const listForOperators = (db: Db, accountId: AccountId | undefined, before: number, max: number): Promise<AuditEntry[]> =>
  db
    .select()
    .from(auditEntries)
    .where(and(accountId ? eq(ofMerchant, accountId) : sql`actor_kind IN ('operator', 'staff')`, lt(at, before)))
    .orderBy(desc(accountId ? seq : at))
    .limit(max);

export const findEntry = (scope: Scope, number: number): Promise<AuditEntry | undefined> =>
  scope.db
    .select()
    .from(auditEntries)
    .where(and(rowsOf(auditEntries, scope), eq(seq, number)))
    .get();

/** Reads the entries of an account after a number, in order. */
export const listAfter = (db: Db, merchantId: AccountId, after: number, max: number): Promise<AuditEntry[]> =>
  db
    .select()
    .from(auditEntries)
    .where(and(eq(ofMerchant, merchantId), gt(seq, after)))
    .orderBy(asc(seq))
    .limit(max);

/** Like `listAfter`, with the details as they are stored, which may be no JSON. `isWellFormed`: 0 for a flag that is neither 0 nor 1. */
export const listStoredAfter = (db: Db, merchantId: AccountId, after: number, max: number) =>
  db
    .select({
      ...getTableColumns(auditEntries),
      details: sql<string>`details`,
      isWellFormed: sql<number>`is_erased IN (0, 1) AND is_live IN (0, 1)`,
    })
    .from(auditEntries)
    .where(and(eq(ofMerchant, merchantId), gt(seq, after)))
    .orderBy(asc(seq))
    .limit(max);

/** Reads the end of the archived entries and the first stored ones in one batch, because the archive may move entries in between. */
export async function readBegin(db: Db, merchantId: AccountId, max: number) {
  const newest = db
    .select({ seq: auditArchives.lastSeq, hash: auditArchives.lastHash })
    .from(auditArchives)
    .where(eq(auditArchives.merchantId, merchantId))
    .orderBy(desc(auditArchives.lastSeq))
    .limit(1);
  const [[archived], entries] = await db.batch([newest, listStoredAfter(db, merchantId, 0, max)]);
  return { archived, entries };
}

/** Last chained entry of an account. */
export const findHead = (db: Db, merchantId: AccountId): Promise<Pick<AuditEntry, 'seq' | 'hash'> | undefined> =>
  db
    .select({ seq, hash: auditEntries.hash })
    .from(auditEntries)
    .where(and(eq(ofMerchant, merchantId), isNotNull(auditEntries.hash)))
    .orderBy(desc(seq))
    .limit(1)
    .get();

/** Lists accounts with entries to chain, those of the oldest first. */
export async function listUnchained(db: Db, max: number): Promise<AccountId[]> {
  const oldest = db.select({ merchantId: ofMerchant }).from(auditEntries).where(sql`hash IS NULL`).orderBy(at).limit(max).as('oldest');
  const found = await db.selectDistinct({ merchantId: oldest.merchantId }).from(oldest);
  return found.map(({ merchantId }) => merchantId);
}

/**
 * Stores the hashes of the entries after the chained end, and returns how many it stored: none if another run has chained the first one, or if
 * the end is no longer what was read.
 */
export async function saveHashes(
  db: Db,
  merchantId: AccountId,
  { seq: endSeq, hash: endHash }: { seq: number; hash: string },
  links: { seq: number; prevHash: string; hash: string }[],
): Promise<number> {
  const isThere = (which: SQL | undefined) =>
    exists(
      db
        .select({ seq: others.seq })
        .from(others)
        .where(and(eq(others.merchantId, merchantId), which)),
    );
  const isFirstOpen = isThere(and(eq(others.seq, links[0]?.seq ?? 0), isNull(others.hash)));
  const isEndSame = isThere(and(eq(others.seq, endSeq), eq(others.hash, endHash)));
  const stored = await db
    .update(auditEntries)
    .set({ prevHash: sql`${digitsField('prevHash')}`, hash: sql`${digitsField('hash')}` })
    .from(jsonRows(links.map((link) => ({ ...link, merchantId }))))
    .where(
      // The merchant is in the rows, so that the planner finds each entry by its key. With a bound one it joins all with all.
      sql`audit_entries.merchant_id = ${idField('merchantId')} AND audit_entries.seq = ${fieldOf('seq')} AND audit_entries.hash IS NULL
        AND ${isFirstOpen} AND (${endSeq} = 0 OR ${isEndSame})`,
    )
    .returning({ seq });
  return stored.length;
}
