import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { AuditAction, AuditActor, AuditOutcome, AuditSubject } from '#rules/access/audit-actions.ts';
import { flag, hashBytes, instant, json, uuidBytes } from '../columns.ts';

/** Fields of an entry that no filter reads. `before` and `after` hold changed fields only. */
export interface AuditDetails {
  before?: Record<string, unknown>;
  after?: Record<string, unknown>;
  reason?: string;
  ip?: string;
  session_id?: string;
}

/** Actions with an index by subject. */
export const INDEXED_ACTIONS = ['chat.released', 'entitlement.granted', 'person.email_verified', 'session.ended'] as const;
export type IndexedAction = (typeof INDEXED_ACTIONS)[number];
/** SQL condition of their partial index. Queries must use the same text. */
export const IS_INDEXED = sql.raw(`action IN (${INDEXED_ACTIONS.map((action) => `'${action}'`).join(', ')})`);

/**
 * Audit log of each account, in the order of `seq`. Written in the batch of its effect, then chained by a sweep. Acts of the operator that
 * concern no account belong to the account of the service. WITHOUT ROWID.
 */
export const auditEntries = sqliteTable(
  'audit_entries',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    seq: integer('seq').notNull(),
    at: instant('at').notNull(),
    actorKind: text('actor_kind').$type<AuditActor>().notNull(),
    actorId: uuidBytes('actor_id'),
    actorName: text('actor_name'),
    role: text('role'),
    action: text('action').$type<AuditAction>().notNull(),
    subjectType: text('subject_type').$type<AuditSubject>().notNull(),
    subjectId: uuidBytes('subject_id').notNull(),
    outcome: text('outcome').$type<AuditOutcome>().notNull(),
    /** Mode of the object. The log itself is of the account, in both modes. */
    livemode: flag('is_live').notNull(),
    requestId: text('request_id').notNull(),
    details: json<AuditDetails>('details').notNull(),
    /** True if names and addresses were erased with the account. */
    isErased: flag('is_erased').notNull(),
    /** null until chained. */
    prevHash: hashBytes('prev_hash'),
    hash: hashBytes('hash'),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.seq] }),
    index('audit_entries_unchained').on(table.at).where(sql`hash IS NULL`),
    index('audit_entries_of_operators').on(table.at).where(sql`actor_kind IN ('operator', 'staff')`),
    index('audit_entries_refused').on(table.merchantId, table.at).where(sql`outcome = 'refused'`),
    index('audit_entries_indexed').on(table.merchantId, table.subjectId, table.at).where(IS_INDEXED),
    index('audit_entries_products_of_key')
      .on(table.merchantId, table.actorId, table.subjectId)
      .where(sql`actor_kind = 'key' AND subject_type = 'product' AND outcome = 'done'`),
  ],
);

/**
 * Archive objects of audit logs: a run of an account's oldest entries. Inserted in the batch that deletes the entries. `lastHash` is the
 * hash that the next entry follows.
 */
export const auditArchives = sqliteTable(
  'audit_archives',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    lastSeq: integer('last_seq').notNull(),
    lastHash: hashBytes('last_hash').notNull(),
    /** Object name. It contains a content hash and the id of the run. */
    key: text('key').notNull(),
    /** Persons with a name or an address in the object. */
    named: json<AccountId[]>('named').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.lastSeq] })],
);

export type AuditEntry = typeof auditEntries.$inferSelect;
