import { and, asc, eq, sql } from 'drizzle-orm';
import type { AccountId, InvitationId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { amongIds, fieldOf, idField, jsonRows } from '#platform/db/among.ts';
import { ERASED, eraseDetails } from '#platform/db/audit/erased-entry.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { auditArchives, auditEntries } from '#platform/db/tables/office/audit-log.ts';

/**
 * Reads up to `max` entries that may contain personal data, and plans their erasure. An erased entry has the hash of its earlier form, so it is verified
 * by its links alone.
 */
export async function planErasedEntries({ db }: Shard, accountId: AccountId, max: number): Promise<Write[]> {
  const named = await db
    .select({ seq: auditEntries.seq, actorName: auditEntries.actorName, details: auditEntries.details })
    .from(auditEntries)
    .where(and(eq(auditEntries.merchantId, accountId), eq(auditEntries.isErased, false)))
    .orderBy(asc(auditEntries.seq))
    .limit(max);
  if (named.length === 0) return [];
  const rows = named.map(({ seq, actorName, details }) => ({
    ...{ merchantId: accountId, seq, name: actorName === null ? null : ERASED, details: JSON.stringify(eraseDetails(details)) },
  }));
  return [
    db
      .update(auditEntries)
      .set({ actorName: sql`${fieldOf('name')}`, details: sql`${fieldOf('details')}`, isErased: true })
      .from(jsonRows(rows))
      .where(sql`${auditEntries.merchantId} = ${idField('merchantId')} AND audit_entries.seq = ${fieldOf('seq')}`),
  ];
}

const inLog = (merchantId: AccountId) => ({ merchantId, livemode: true });

/** Last entry of a deleted account, which says that those before were erased. */
export const recordErasure = (ctx: Shard, accountId: AccountId): Write =>
  recordAction(ctx, inLog(accountId), { action: 'account.erased', subject: { type: 'account', id: accountId } });

const byAuthor = (accountId: AccountId, personId: AccountId) =>
  and(eq(auditEntries.merchantId, accountId), eq(auditEntries.actorKind, 'person'), eq(auditEntries.actorId, personId));

/** Reads whether the log of an account, or its archive, names a person, and whether the log says that the names were erased. */
export async function readAuthor(db: Db, accountId: AccountId, personId: AccountId): Promise<{ isNamed: boolean; isRecorded: boolean }> {
  const ofMember = and(
    eq(auditEntries.merchantId, accountId),
    eq(auditEntries.subjectType, 'member'),
    eq(auditEntries.subjectId, personId),
  );
  const [entries, objects, records] = await db.batch([
    db
      .select({ seq: auditEntries.seq })
      .from(auditEntries)
      .where(and(byAuthor(accountId, personId), sql`(actor_name IS NOT NULL OR details ->> '$.ip' IS NOT NULL)`))
      .limit(1),
    db
      .select({ seq: auditArchives.lastSeq })
      .from(auditArchives)
      .where(and(eq(auditArchives.merchantId, accountId), sql`EXISTS (SELECT 1 FROM json_each(named) WHERE value = ${personId})`))
      .limit(1),
    db
      .select({ seq: auditEntries.seq })
      .from(auditEntries)
      .where(and(ofMember, eq(auditEntries.action, 'member.erased')))
      .limit(1),
  ]);
  return { isNamed: entries.length + objects.length > 0, isRecorded: records.length > 0 };
}

/** Has the erasure of a deleted account read its erased entries again: those of a person or an invitation have other texts. */
export const reopenErased = (db: Db, accountId: AccountId): Write =>
  db
    .update(auditEntries)
    .set({ isErased: false })
    .where(and(eq(auditEntries.merchantId, accountId), eq(auditEntries.isErased, true)));

/** Erases the address of invitations in the log of their account. */
export const eraseInvited = (ctx: Shard, accountId: AccountId, ids: readonly InvitationId[]): Write[] => [
  ctx.db
    .update(auditEntries)
    .set({ details: sql`json_remove(details, '$.before.email', '$.after.email')`, isErased: true })
    .where(and(eq(auditEntries.merchantId, accountId), eq(auditEntries.subjectType, 'invitation'), amongIds(auditEntries.subjectId, ids))),
  ...ids.map((id) => recordAction(ctx, inLog(accountId), { action: 'invitation.erased', subject: { type: 'invitation', id } })),
];

/** Erases the name and the addresses of a deleted person in the log of another account, and records it once. The id remains. */
export const eraseAuthor = (ctx: Shard, accountId: AccountId, personId: AccountId, isRecorded: boolean): Write[] => [
  ctx.db
    .update(auditEntries)
    .set({ actorName: null, details: sql`json_remove(details, '$.ip')`, isErased: true })
    .where(byAuthor(accountId, personId)),
  ...(isRecorded ? [] : [recordAction(ctx, inLog(accountId), { action: 'member.erased', subject: { type: 'member', id: personId } })]),
];
