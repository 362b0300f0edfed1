/**
 * SQL conditions about entries of the audit log, for `unless` of `recordAction`.
 * @module
 */

import { type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { AuditAction } from '#rules/access/audit-actions.ts';
import { boundId } from '../among.ts';

interface Known {
  merchantId: AccountId;
  action: AuditAction;
  since: number;
}

/** True if staff made this action on a subject since a time. */
export const hasStaffEntry = ({ merchantId, action, since }: Known, subjectId: string): SQL =>
  sql`EXISTS (SELECT 1 FROM audit_entries WHERE actor_kind IN ('operator', 'staff') AND at >= ${since}
    AND merchant_id = ${boundId(merchantId)} AND action = ${action} AND subject_id = ${boundId(subjectId)})`;

/** True if the log has this action on a subject. Reads the log from its beginning, so it is for new accounts and rare acts. */
export const hasEntry = ({ merchantId, action }: Omit<Known, 'since'>, subjectId: string): SQL =>
  sql`EXISTS (SELECT 1 FROM audit_entries WHERE merchant_id = ${boundId(merchantId)} AND action = ${action}
    AND subject_id = ${boundId(subjectId)})`;

/** True if a session of the person of the log did this with this result after a time. Reads the log from its beginning too. */
export const hasEntryOfSession = ({ merchantId, action, since }: Known, sessionId: string, after: object): SQL =>
  sql`EXISTS (SELECT 1 FROM audit_entries WHERE merchant_id = ${boundId(merchantId)} AND action = ${action} AND at > ${since}
    AND subject_id = ${boundId(merchantId)} AND details ->> '$.session_id' = ${sessionId} AND details ->> '$.after' = ${JSON.stringify(after)})`;

/** True if a person did this to a subject since a time. Reads the log from its beginning too. */
export const hasEntryBy = ({ merchantId, action, since }: Known, personId: AccountId, subjectId: string): SQL =>
  sql`EXISTS (SELECT 1 FROM audit_entries WHERE merchant_id = ${boundId(merchantId)} AND action = ${action} AND at >= ${since}
    AND actor_id = ${boundId(personId)} AND subject_id = ${boundId(subjectId)})`;

/** SQL of the time of the last such action on a subject. Reads the log from its beginning too. */
export const lastEntryAt = ({ merchantId, action }: Omit<Known, 'since'>, subjectId: string): SQL =>
  sql`(SELECT max(at) FROM audit_entries WHERE merchant_id = ${boundId(merchantId)} AND action = ${action} AND subject_id = ${boundId(subjectId)})`;

const refusals = ({ merchantId, action, since }: Known, more: SQL = sql``): SQL =>
  sql`SELECT 1 FROM audit_entries WHERE merchant_id = ${boundId(merchantId)} AND outcome = 'refused' AND at >= ${since}
    AND action = ${action} ${more}`;

/** True if an action was refused `max` times since a time. */
export const isRefusedOften = (known: Known, max: number): SQL => sql`(SELECT count(*) FROM (${refusals(known)} LIMIT ${max})) = ${max}`;

/** True if an action was refused `max` times since a time, or once to a network since `recently`. */
export const isRefusedTo = (known: Known, { network, recently, max }: { network: string; recently: number; max: number }): SQL =>
  sql`EXISTS (${refusals({ ...known, since: recently }, sql`AND details ->> '$.after.network' = ${network}`)}) OR ${isRefusedOften(known, max)}`;
