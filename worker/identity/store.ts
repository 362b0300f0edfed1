import { and, asc, eq, isNull, sql } from 'drizzle-orm';
import type { AdmittedAccount, AdmittedKey } from '../admission.ts';
import type { Ctx, Db } from '../context.ts';
import { raise } from '../core/errors.ts';
import type { AccountId, KeyId } from '../core/ids.ts';
import { vetoIf, type Write } from '../db/commit.ts';
import { accounts, apiKeys } from '../db/identity.ts';

export type Account = typeof accounts.$inferSelect;
export type ApiKey = typeof apiKeys.$inferSelect;

export const findAccountByEmailKey = (db: Db, emailKey: string) => db.select().from(accounts).where(eq(accounts.emailKey, emailKey)).get();

export const findAccount = (db: Db, accountId: AccountId) => db.select().from(accounts).where(eq(accounts.id, accountId)).get();

export async function getAccount(db: Db, accountId: AccountId): Promise<Account> {
  return (await findAccount(db, accountId)) ?? raise('not_found');
}

/** What an admission object needs to judge every call of one account; null where no such account exists. */
export async function findAdmission(db: Db, admissionId: string): Promise<{ account: AdmittedAccount; keys: AdmittedKey[] } | null> {
  const rows = await db
    .select()
    .from(accounts)
    .leftJoin(apiKeys, eq(apiKeys.merchantId, accounts.id))
    .where(eq(accounts.admissionId, admissionId));
  const account = rows[0]?.accounts;
  if (!account) return null;
  const { id: accountId, plan, status, tokenVersion, isStaff, version } = account;
  const keys = rows.flatMap(({ api_keys: key }) => (key ? [toAdmittedKey(key)] : []));
  return { account: { accountId, plan, status, tokenVersion, isStaff, version }, keys };
}

export const toAdmittedKey = ({ id, keyHash, permissions, livemode, revokedAt }: ApiKey): AdmittedKey => ({
  keyId: id,
  keyHash,
  permissions,
  livemode,
  revokedAt,
});

export const insertAccount = (db: Db, account: Account): Write => db.insert(accounts).values(account);

/** A token sees the keys of both modes, a key only those of its own. */
export const listKeys = (db: Db, merchantId: AccountId, livemode: boolean | null) =>
  db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.merchantId, merchantId), livemode === null ? undefined : eq(apiKeys.livemode, livemode)))
    .orderBy(asc(apiKeys.createdAt), asc(apiKeys.id));

export const findKey = (db: Db, merchantId: AccountId, keyId: KeyId) =>
  db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.merchantId, merchantId), eq(apiKeys.id, keyId)))
    .get();

export async function countActiveKeys(db: Db, merchantId: AccountId): Promise<number> {
  return db.$count(apiKeys, and(eq(apiKeys.merchantId, merchantId), isNull(apiKeys.revokedAt)));
}

export const insertKey = (ctx: Ctx, key: ApiKey, activeMax: number): Write[] => [
  vetoIf(ctx, sql`(SELECT count(*) FROM api_keys WHERE merchant_id = ${key.merchantId} AND revoked_at IS NULL) >= ${activeMax}`),
  ctx.db.insert(apiKeys).values(key),
];

export const revokeKeyRow = (db: Db, merchantId: AccountId, keyId: KeyId, revokedAt: number): Write =>
  db
    .update(apiKeys)
    .set({ revokedAt })
    .where(and(eq(apiKeys.merchantId, merchantId), eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)));
