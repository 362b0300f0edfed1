import { and, eq, gt, gte, inArray, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { payoutWallets } from '#platform/db/tables/accounts.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { auditEntries } from '#platform/db/tables/office/audit-log.ts';
import { passkeys, totpSecrets } from '#platform/db/tables/office/factors.ts';
import { invitations, members } from '#platform/db/tables/office/people.ts';
import { signInIdentities } from '#platform/db/tables/office/sign-in.ts';
import { products } from '#platform/db/tables/products.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { webhookEndpoints } from '#platform/db/tables/webhooks.ts';
import { stepRows } from '#platform/db/versioned.ts';
import { INVITATION } from '#rules/states.ts';
import { endOpenSales } from '../claim/store.ts';
import { disableEndpoints } from '../members/store.ts';

const newKeys = ({ now }: Shard, accountId: AccountId, since: number) =>
  and(
    eq(apiKeys.merchantId, accountId),
    eq(apiKeys.livemode, true),
    gte(apiKeys.createdAt, since),
    or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, now)),
  );

/** Live keys that were created since a time and still work. */
export const listNewKeys = (ctx: Shard, accountId: AccountId, since: number) =>
  ctx.db
    .select({ keyHash: apiKeys.keyHash })
    .from(apiKeys)
    .where(newKeys(ctx, accountId, since));

const newRows = (table: typeof passkeys | typeof payoutWallets | typeof members, owner: SQL, at: SQL) =>
  sql`SELECT count(*) FROM ${table} WHERE ${owner} AND ${at}`;

/** Ids of endpoints that were created, or got another URL or secret, since a time. */
const newEndpoints = (accountId: AccountId, since: number): SQL => {
  const changed = sql`SELECT ${auditEntries.subjectId} FROM ${auditEntries} WHERE ${auditEntries.merchantId} = ${boundId(accountId)}
    AND ${auditEntries.at} >= ${since} AND (${auditEntries.action} = 'endpoint.secret_rotated'
      OR (${auditEntries.action} = 'endpoint.changed' AND ${auditEntries.details} -> '$.after.url' IS NOT NULL))`;
  return sql`(${webhookEndpoints.createdAt} >= ${since} OR ${webhookEndpoints.id} IN (${changed}))`;
};

const newAdmins = (accountId: AccountId, since: number) => and(eq(members.accountId, accountId), eq(members.role, 'admin'), becameSince(accountId, since));

/** Members who joined, or got another role, since a time. */
const becameSince = (accountId: AccountId, since: number): SQL => sql`(${members.joinedAt} >= ${since} OR ${members.personId} IN (
  SELECT ${auditEntries.subjectId} FROM ${auditEntries} WHERE ${auditEntries.merchantId} = ${boundId(accountId)}
    AND ${auditEntries.at} >= ${since} AND ${auditEntries.action} = 'member.role_changed'))`;
