import { and, asc, eq, gt, inArray, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { amongIds, textOfId } from '#platform/db/among.ts';
import { recordEach } from '#platform/db/audit/record-action.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { ACCOUNT_COLUMNS, type Account, accounts } from '#platform/db/tables/accounts.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { joinedAccounts, type Member, members, persons } from '#platform/db/tables/office/people.ts';
import { webhookDeliveries, webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { stepRows } from '#platform/db/versioned.ts';
import type { GivenRole, Role } from '#rules/access/roles.ts';

/** Lists the members of an account but its owner, in the order in which they joined. */
export const listMemberRows = (db: Db, accountId: AccountId): Promise<Member[]> =>
  db.select().from(members).where(eq(members.accountId, accountId)).orderBy(asc(members.joinedAt), asc(members.personId));

const isMember = (accountId: AccountId, personId: AccountId) => and(eq(members.accountId, accountId), eq(members.personId, personId));

/** Aborts the batch unless the person is the owner, or a member with one of these roles. */
export const abortUnlessMember = (ctx: Shard, accountId: AccountId, personId: AccountId, roles: readonly Role[]): Write =>
  abortIf(
    ctx,
    sql`NOT EXISTS (SELECT 1 FROM ${members} WHERE ${and(isMember(accountId, personId), inArray(members.role, roles as GivenRole[]))})
      AND NOT EXISTS (SELECT 1 FROM ${accounts} WHERE ${and(eq(accounts.id, accountId), eq(accounts.ownerId, personId))})`,
  );

export const insertMember = (db: Db, member: Omit<Member, 'roleAt'>): Write =>
  db.insert(members).values({ ...member, roleAt: member.joinedAt });

export const setMemberRole = ({ db, wallNow }: Shard, accountId: AccountId, personId: AccountId, role: GivenRole): Write =>
  db.update(members).set({ role, roleAt: wallNow }).where(isMember(accountId, personId));

export const deleteMember = (db: Db, accountId: AccountId, personId: AccountId): Write =>
  db.delete(members).where(isMember(accountId, personId));

export const deleteMembers = (db: Db, accountId: AccountId): Write => db.delete(members).where(eq(members.accountId, accountId));

const selectJoined = async (db: Db, where: SQL | undefined): Promise<AccountId[]> =>
  (await db.select({ id: joinedAccounts.accountId }).from(joinedAccounts).where(where)).map(({ id }) => id);

export const listJoined = (db: Db, personId: AccountId): Promise<AccountId[]> =>
  selectJoined(db, and(eq(joinedAccounts.personId, personId), isNull(joinedAccounts.leftAt)));

/** Lists the accounts that a person joined, also those that the person left. */
export const listEverJoined = (db: Db, personId: AccountId): Promise<AccountId[]> =>
  selectJoined(db, eq(joinedAccounts.personId, personId));

export const insertJoined = (db: Db, personId: AccountId, accountId: AccountId): Write =>
  db
    .insert(joinedAccounts)
    .values({ personId, accountId })
    .onConflictDoUpdate({ target: [joinedAccounts.personId, joinedAccounts.accountId], set: { leftAt: null } });

const isJoined = (personId: AccountId, accountId: AccountId) =>
  and(eq(joinedAccounts.personId, personId), eq(joinedAccounts.accountId, accountId));

/** Notes that a person left an account. The row leads to the entries that name the person, for as long as the person exists. */
export const setLeft = ({ db, wallNow }: Shard, personId: AccountId, accountId: AccountId) =>
  db.update(joinedAccounts).set({ leftAt: wallNow }).where(isJoined(personId, accountId));

export const deleteJoined = (db: Db, personId: AccountId, accountId: AccountId) =>
  db.delete(joinedAccounts).where(isJoined(personId, accountId));

/** Notes the account that a person acted on last. */
export const setLastAccount = (db: Db, personId: AccountId, lastAccountId: AccountId) =>
  db.update(persons).set({ lastAccountId }).where(eq(persons.id, personId));

/** Lists accounts, each with the person of the same id. */
export const listAmong = (db: Db, ids: readonly AccountId[]): Promise<Account[]> =>
  db.select(ACCOUNT_COLUMNS).from(accounts).innerJoin(persons, eq(persons.id, accounts.id)).where(amongIds(accounts.id, ids));

export const listJoinedAt = async (db: Db, personId: AccountId, accountIds: readonly AccountId[]): Promise<Map<AccountId, number>> =>
  new Map(
    (
      await db
        .select({ id: members.accountId, joinedAt: members.joinedAt })
        .from(members)
        .where(and(amongIds(members.accountId, accountIds), eq(members.personId, personId)))
    ).map(({ id, joinedAt }) => [id, joinedAt]),
  );

/** Reads names and addresses of persons. */
export const listPersons = (db: Db, ids: readonly AccountId[]) =>
  db
    .select({ id: persons.id, name: persons.name, email: persons.email, emailVerified: persons.emailVerified, factors: persons.factors })
    .from(persons)
    .where(amongIds(persons.id, ids));

const BOTH = [true, false];

const ofPerson = (personId: AccountId) => sql`${apiKeys.createdBy} ->> '$.user_id' = ${personId}`;

/** Keys that a person created and that still work. */
const madeKeys = ({ now }: Shard, accountId: AccountId, personId: AccountId) =>
  and(
    eq(apiKeys.merchantId, accountId),
    inArray(apiKeys.livemode, BOTH),
    or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, now)),
    ofPerson(personId),
  );

export const listKeysMadeBy = (ctx: Shard, accountId: AccountId, personId: AccountId) =>
  ctx.db
    .select({ keyHash: apiKeys.keyHash })
    .from(apiKeys)
    .where(madeKeys(ctx, accountId, personId));

export const revokeKeysMadeBy = (ctx: Shard, accountId: AccountId, personId: AccountId): Write[] => {
  const made = madeKeys(ctx, accountId, personId);
  const entry = { action: 'key.revoked', subject: 'key', before: { created_by: personId }, after: {} } as const;
  return [recordSubjects(ctx, accountId, entry, apiKeys, made), stepRows(ctx.db, apiKeys, { revokedAt: ctx.now }, made)];
};

/** Entries of the rows that a removal ends with the member. */
const recordSubjects = (
  ctx: Shard,
  merchantId: AccountId,
  entry: Parameters<typeof recordEach>[2],
  table: typeof apiKeys | typeof webhookEndpoints,
  made: SQL | undefined,
): Write =>
  recordEach(
    ctx,
    { merchantId, livemode: true },
    entry,
    sql`SELECT ${table.id} AS id, ${table.livemode} AS livemode FROM ${table} WHERE ${made}`,
  );

/**
 * Disables endpoints and hooks that a person, or a key of the person, created or gave their current URL or secret, and cancels their pending
 * deliveries.
 */
export function disableEndpointsMadeBy(ctx: Shard, accountId: AccountId, personId: AccountId): Write[] {
  const keys = and(eq(apiKeys.merchantId, accountId), inArray(apiKeys.livemode, BOTH), ofPerson(personId));
  const makers = sql`SELECT ${personId} UNION ALL SELECT ${textOfId(sql`${apiKeys.id}`)} FROM ${apiKeys} WHERE ${keys}`;
  const made = or(...[webhookEndpoints.createdBy, webhookEndpoints.changedBy].map((maker) => sql`${maker} ->> '$.id' IN (${makers})`));
  const entry = { action: 'endpoint.disabled', subject: 'endpoint', before: { status: 'enabled' }, after: { status: 'disabled' } } as const;
  return [
    recordSubjects(ctx, accountId, entry, webhookEndpoints, enabledOf(accountId, made!)),
    ...disableEndpoints(ctx, accountId, made!, 'member_removed'),
  ];
}

const enabledOf = (accountId: AccountId, which: SQL): SQL | undefined =>
  and(eq(webhookEndpoints.merchantId, accountId), inArray(webhookEndpoints.livemode, BOTH), eq(webhookEndpoints.status, 'enabled'), which);

/** Disables some of the enabled endpoints and hooks of both modes, and cancels their pending deliveries. */
export function disableEndpoints({ db, now, wallNow }: Shard, accountId: AccountId, which: SQL, disabledReason: string): Write[] {
  const ended = enabledOf(accountId, which);
  return [
    db
      .update(webhookDeliveries)
      .set({ status: 'cancelled', nextAttemptAt: null, completedAt: wallNow })
      .where(
        and(
          eq(webhookDeliveries.merchantId, accountId),
          inArray(webhookDeliveries.livemode, BOTH),
          sql`status IN ('pending', 'retrying')`,
          inArray(webhookDeliveries.endpointId, db.select({ id: webhookEndpoints.id }).from(webhookEndpoints).where(ended)),
        ),
      ),
    stepRows(db, webhookEndpoints, { status: 'disabled', disabledReason, updatedAt: now }, ended),
  ];
}
