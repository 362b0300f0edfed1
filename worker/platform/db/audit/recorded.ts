/**
 * SQL conditions about entries of the audit log, for `unless` of `recordAction`.
 * @module
 */

import { type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { AuditAction } from '#rules/access/audit-actions.ts';
import { boundId } from '../among.ts';
import { type IndexedAction, IS_INDEXED } from '../tables/office/audit-log.ts';

interface Known {
  merchantId: AccountId;
  action: AuditAction;
  since: number;
  /** Only what this actor did. */
  by?: string;
}

/** True if staff made this action on a subject since a time. */
export const hasStaffEntry = ({ merchantId, action, since, by }: Known, subjectId: string): SQL =>
  sql`EXISTS (SELECT 1 FROM audit_entries WHERE actor_kind IN ('operator', 'staff') AND at >= ${since}
    AND merchant_id = ${boundId(merchantId)} AND action = ${action} AND subject_id = ${boundId(subjectId)}
    ${by === undefined ? sql`` : sql`AND actor_id = ${boundId(by)}`})`;

/** True if the log has this action on a subject. Reads the log from its beginning, so it is for new accounts. */
export const hasEarlyEntry = ({ merchantId, action }: Omit<Known, 'since'>, subjectId: string): SQL =>
  sql`EXISTS (SELECT 1 FROM audit_entries WHERE merchant_id = ${boundId(merchantId)} AND action = ${action}
    AND subject_id = ${boundId(subjectId)})`;

interface Indexed {
  merchantId: AccountId;
  action: IndexedAction;
}

const entriesOf = ({ merchantId, action }: Indexed, subjectId: string): SQL =>
  sql`FROM audit_entries WHERE merchant_id = ${boundId(merchantId)} AND subject_id = ${boundId(subjectId)} AND action = ${action} AND ${IS_INDEXED}`;

interface Sought {
  /** Time before the entry. */
  after?: number;
  /** Details of the entry by their paths. */
  details?: Record<string, string>;
}

/** True if the log has this action on a subject. */
export function hasEntry(indexed: Indexed, subjectId: string, { after = 0, details = {} }: Sought = {}): SQL {
  const same = Object.entries(details).map(([path, value]) => sql` AND details ->> ${`$.${path}`} = ${value}`);
  return sql`EXISTS (SELECT 1 ${entriesOf(indexed, subjectId)} AND at > ${after}${sql.join(same)})`;
}

/** SQL of the time of the last such action on a subject. */
export const lastEntryAt = (indexed: Indexed, subjectId: string): SQL => sql`(SELECT max(at) ${entriesOf(indexed, subjectId)})`;

const refusals = ({ merchantId, action, since }: Known, more: SQL = sql``): SQL =>
  sql`SELECT 1 FROM audit_entries WHERE merchant_id = ${boundId(merchantId)} AND outcome = 'refused' AND at >= ${since}
    AND action = ${action} ${more}`;

/** True if an action was refused `max` times since a time. */
export const isRefusedOften = (known: Known, max: number): SQL => sql`(SELECT count(*) FROM (${refusals(known)} LIMIT ${max})) = ${max}`;

/** True if an action was refused `max` times since a time, or once to a network since `recently`. */
export const isRefusedTo = (known: Known, { network, recently, max }: { network: string; recently: number; max: number }): SQL =>
  sql`EXISTS (${refusals({ ...known, since: recently }, sql`AND details ->> '$.after.network' = ${network}`)}) OR ${isRefusedOften(known, max)}`;
