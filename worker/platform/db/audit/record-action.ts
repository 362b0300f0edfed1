/**
 * Writes of the audit log. An entry belongs in the batch of its effect, so that neither exists without the other.
 * @module
 */

import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import { canonicalJson } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import type { Ctx, Shard, Tenant } from '#platform/context.ts';
import type { AuditAction, AuditActor, AuditOutcome, AuditSubject } from '#rules/access/audit-actions.ts';
import type { Role } from '#rules/access/roles.ts';
import { fieldAs, idField, jsonRows } from '../among.ts';
import type { Write } from '../commit.ts';
import { accounts } from '../tables/accounts.ts';
import { apiKeys } from '../tables/keys.ts';
import { type AuditDetails, auditEntries } from '../tables/office/audit-log.ts';
import { persons } from '../tables/office/people.ts';

export type AuditFields = Record<string, unknown>;

/** Author of an action. Without a name, the database adds that of the key or person. */
interface Author {
  kind: AuditActor;
  id: string | null;
  name?: string;
  role?: Role;
}

export interface NewAuditEntry {
  action: AuditAction;
  subject: { type: AuditSubject; id: string };
  /** Allowed fields before the action, none for a new object. */
  before?: AuditFields | undefined;
  after?: AuditFields | undefined;
  reason?: string | undefined;
  outcome?: AuditOutcome;
  /** Author, if not the caller of the request. */
  by?: Author | undefined;
}

/** Caller with the secret of an agent's setup. */
const BY_SETUP: Author = { kind: 'system', id: null, name: 'setup' };

/** The role is that in the account of the log: a call of persons about themselves may come from another account. */
function authorOf({ acting }: Ctx, merchantId: AccountId): Author {
  const { actor, operator } = acting;
  if (operator) return { kind: 'operator', id: null, name: operator.name };
  if (!actor) return { kind: 'system', id: null };
  const { accountId, actsOn = accountId, keyId, personId, role, isStaff } = actor;
  if (isStaff && accountId !== merchantId && personId !== merchantId) return { kind: 'staff', id: personId ?? keyId };
  if (personId === null) return keyId === null ? BY_SETUP : { kind: 'key', id: keyId };
  return { kind: 'person', id: personId, ...(actsOn === merchantId && role && { role }) };
}

/** Owner of the account, acting by a proof other than a token. */
export const personIn = (accountId: AccountId): Author => ({ kind: 'person', id: accountId, role: 'owner' });

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null);

/** Fields that differ. A new object has those of its fields that are set. */
export function changedFields(before: AuditFields | undefined, after: AuditFields | undefined): Pick<AuditDetails, 'before' | 'after'> {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (name) => !isSame(before?.[name], after?.[name]),
  );
  const pick = (fields: AuditFields) => Object.fromEntries(names.map((name) => [name, fields[name] ?? null]));
  return names.length === 0 ? {} : { ...(before && { before: pick(before) }), ...(after && { after: pick(after) }) };
}

/** SQL of the author's name. A person of another database has none here. */
const PERSON_NAME = sql`(SELECT ${persons.name} FROM ${persons} WHERE ${persons.id} = ${idField('actorId')})`;
const NAME_OF: Record<AuditActor, SQL | null> = {
  key: sql`(SELECT ${apiKeys.name} FROM ${apiKeys} WHERE ${apiKeys.id} = ${idField('actorId')})`,
  person: PERSON_NAME,
  staff: PERSON_NAME,
  operator: null,
  system: null,
};

/** SQL condition: the person of the same id does not own the account of the log, so its members do not see how that person signs in. */
const IS_HANDED_OVER = sql`EXISTS (SELECT 1 FROM ${accounts} WHERE ${accounts.id} = ${idField('merchantId')} AND ${accounts.ownerId} <> ${accounts.id})`;

/** SQL of the next number of an account. The last entry of an account is never deleted. */
const NEXT_SEQ = sql`coalesce((SELECT max(${auditEntries.seq}) FROM ${auditEntries} WHERE ${auditEntries.merchantId} = ${idField('merchantId')}), 0) + 1`;

/** Plans an entry for each subject. `subjects`: query of `id` and `livemode` as they are before the effect. */
export const recordEach = (
  ctx: Shard,
  tenant: Tenant,
  entry: Omit<NewAuditEntry, 'subject'> & { subject: AuditSubject },
  subjects: SQL,
): Write => planEntries(ctx, tenant, { ...entry, subject: { type: entry.subject, id: '' } }, { subjects });

/** Plans the entry of an action in the log of `tenant`. `unless`: SQL condition under which none is written. */
export const recordAction = (ctx: Shard, tenant: Tenant, entry: NewAuditEntry, unless?: SQL): Write =>
  planEntries(ctx, tenant, entry, { unless });

/** Plans the entry of a change that persons make about themselves. Without a caller, it was proven by another way than a token. */
export const recordPerson = (
  ctx: Shard,
  id: AccountId,
  action: Extract<AuditAction, `person.${string}`>,
  fields: Pick<NewAuditEntry, 'before' | 'after'> = {},
): Write =>
  recordAction(
    ctx,
    { merchantId: id, livemode: true },
    { action, subject: { type: 'person', id }, ...fields, by: ctx.acting.actor ? undefined : personIn(id) },
  );

function planEntries(
  ctx: Shard,
  { merchantId, livemode }: Tenant,
  entry: NewAuditEntry,
  { unless, subjects }: { unless?: SQL | undefined; subjects?: SQL },
): Write {
  ctx.acting.recorded.add(merchantId);
  const { action, subject, before, after, reason = ctx.acting.operator?.reason, outcome = 'done', by = authorOf(ctx, merchantId) } = entry;
  const details: AuditDetails = {
    ...changedFields(before, after),
    ...(reason === undefined ? {} : { reason }),
    ...(ctx.acting.origin && { ip: ctx.acting.origin.ip }),
    ...(ctx.acting.actor?.signIn ? { session_id: ctx.acting.actor.signIn.sessionId } : {}),
  };
  const row = {
    ...{ merchantId, at: ctx.wallNow, actorKind: by.kind, actorId: by.id, actorName: by.name ?? null, role: by.role ?? null },
    ...{ action, subjectType: subject.type, subjectId: subject.id, outcome, livemode, requestId: ctx.cause, isErased: false },
    ...{ prevHash: null, hash: null, details: JSON.stringify(details) },
  };
  const isOfPerson = /^(?:person|session)\./.test(action) && by.kind !== 'operator';
  const conditions = [...(unless ? [unless] : []), ...(isOfPerson ? [IS_HANDED_OVER] : [])];
  const computed: Record<string, SQL> = {
    seq: subjects ? sql`${NEXT_SEQ} + row_number() OVER (ORDER BY subject.id) - 1` : NEXT_SEQ,
    ...(subjects && { subjectId: sql`subject.id`, livemode: sql`subject.livemode` }),
    ...(row.actorName === null && NAME_OF[by.kind] ? { actorName: NAME_OF[by.kind]! } : {}),
  };
  const values = Object.entries(getTableColumns(auditEntries)).map(([name, column]) => computed[name] ?? fieldAs(column, name));
  return ctx.db
    .insert(auditEntries)
    .select(
      sql`SELECT ${sql.join(values, sql`, `)} FROM ${jsonRows([row])}${subjects ? sql`, (${subjects}) subject` : sql``} WHERE NOT (${sql.join([sql`false`, ...conditions], sql` OR `)})`,
    );
}
