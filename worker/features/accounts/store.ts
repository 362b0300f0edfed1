import { and, desc, eq, exists, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, KeyId, SignInId } from '#core/ids.ts';
import type { Db, Shard, Tenant } from '#platform/context.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { type Account, accounts, type LoginNonce, loginNonces, type MerchantSettings } from '#platform/db/tables/accounts.ts';
import { type ApiKey, apiKeys } from '#platform/db/tables/keys.ts';
import { brandLogos } from '#platform/db/tables/receipts.ts';
import { casUpdate, updateUnversioned } from '#platform/db/versioned.ts';
import type { AdmittedAccount, AdmittedKey } from '#rules/admission.ts';

export type { MerchantSettings };
/** The keys of one e-mail or wallet, under each pepper; at most one account has any of them. */
export type AccountKeys = { column: 'emailKey' | 'walletKey'; keys: readonly string[] };

export const findAccountByKeys = (db: Db, { column, keys }: AccountKeys) =>
  db
    .select()
    .from(accounts)
    .where(inArray(accounts[column], [...keys]))
    .get();

/** Fails the batch where another account has one of these keys: that it is unique tells only of the key that is stored. */
export const vetoTaken = (ctx: Shard, accountId: AccountId, { column, keys: [, ...others] }: AccountKeys): Write[] => {
  if (others.length === 0) return [];
  const rival = ctx.db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(inArray(accounts[column], others), ne(accounts.id, accountId)));
  return [vetoIf(ctx, exists(rival))];
};

export const findAccount = (db: Db, accountId: AccountId) => db.select().from(accounts).where(eq(accounts.id, accountId)).get();

export async function getAccount(db: Db, accountId: AccountId): Promise<Account> {
  return (await findAccount(db, accountId)) ?? raise('not_found');
}

/** What an admission object needs to judge every call of one account; null where no such account exists. */
export async function findAdmission(db: Db, admissionId: string): Promise<{ account: AdmittedAccount; keys: AdmittedKey[] } | null> {
  const rows = await db
    .select()
    .from(accounts)
    .leftJoin(apiKeys, and(eq(apiKeys.merchantId, accounts.id), inArray(apiKeys.livemode, [true, false])))
    .where(eq(accounts.admissionId, admissionId));
  const account = rows[0]?.accounts;
  if (!account) return null;
  const keys = rows.flatMap(({ api_keys: key }) => (key ? [toAdmittedKey(key)] : []));
  return { account: toAdmittedAccount(account), keys };
}

/** A wallet proves a key, not a colleague: staff sign in with an e-mail. */
export const isStaffMember = (account: Account): boolean => account.isStaff && account.email !== null;

export const toAdmittedAccount = (account: Account): AdmittedAccount => {
  const { id: accountId, plan, planThrough, processorPlans, status, tokenVersion, version } = account;
  return { accountId, plan, planThrough, processorPlans, status, tokenVersion, isStaff: isStaffMember(account), version };
};

export const toAdmittedKey = ({ id, keyHash, permissions, livemode, revokedAt }: ApiKey): AdmittedKey => ({
  keyId: id,
  keyHash,
  permissions,
  livemode,
  revokedAt,
});

export const insertAccount = (db: Db, account: Account): Write => db.insert(accounts).values(account);

/** Replaces the row the change was planned from. */
export const replaceAccount = (ctx: Shard, before: Account, after: Account): Write[] => casUpdate(ctx, accounts, before, after);

/** Another form of the same password, unless it was changed meanwhile. A change that read the row before may put the old form back, which is as good. */
export const replacePassword = (db: Db, accountId: AccountId, before: string, passwordHash: string) =>
  updateUnversioned(db, accounts, { passwordHash }, and(eq(accounts.id, accountId), eq(accounts.passwordHash, before)));

/** Stores a text to sign. */
export const insertLoginNonce = ({ db }: Shard, nonce: LoginNonce): Write[] => [db.insert(loginNonces).values(nonce)];

/**
 * Used up by being taken: its row goes by the name of the attempt from then on, until it expires. A second attempt finds nothing, a
 * stranger's wallet cannot burn it, and the same attempt may ask again where it did not hear the answer.
 */
export async function takeLoginNonce(db: Db, nonce: string, walletAddress: string, signInId: SignInId): Promise<LoginNonce | null> {
  const [, [taken]] = await db.batch([
    db
      .update(loginNonces)
      .set({ nonce: signInId })
      .where(and(eq(loginNonces.nonce, nonce), eq(loginNonces.walletAddress, walletAddress))),
    db.select().from(loginNonces).where(eq(loginNonces.nonce, signInId)),
  ]);
  return taken ? { ...taken, nonce } : null;
}

const REVOKED_SHOWN = 100;

/** A token sees the keys of both modes, a key only those of its own: all that work, and of each mode those revoked last. */
export async function listKeys(db: Db, merchantId: AccountId, livemode: boolean | null): Promise<ApiKey[]> {
  const keysOf = (mode: boolean) =>
    db
      .select()
      .from(apiKeys)
      .where(and(rowsOf(apiKeys, { merchantId, livemode: mode }), isNull(apiKeys.revokedAt)));
  const revokedOf = (mode: boolean) =>
    db
      .select()
      .from(apiKeys)
      .where(and(rowsOf(apiKeys, { merchantId, livemode: mode }), isNotNull(apiKeys.revokedAt)))
      .orderBy(desc(apiKeys.revokedAt))
      .limit(REVOKED_SHOWN);
  const [first = true, ...others] = livemode === null ? [true, false] : [livemode];
  const found = await db.batch([keysOf(first), revokedOf(first), ...others.flatMap((mode) => [keysOf(mode), revokedOf(mode)])]);
  return found.flat().sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
}

export const findKey = (db: Db, merchantId: AccountId, keyId: KeyId) =>
  db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.merchantId, merchantId), eq(apiKeys.id, keyId)))
    .get();

export async function getActiveKeyCount(db: Db, tenant: Tenant): Promise<number> {
  return db.$count(apiKeys, and(rowsOf(apiKeys, tenant), isNull(apiKeys.revokedAt)));
}

/** The first statement fails the batch where the account has as many active keys of this mode as it may. */
export const insertKey = (ctx: Shard, key: ApiKey, activeMax: number): Write[] => [
  vetoIf(
    ctx,
    sql`(SELECT count(*) FROM api_keys WHERE merchant_id = ${key.merchantId} AND livemode = ${key.livemode ? 1 : 0} AND revoked_at IS NULL)
      >= ${activeMax}`,
  ),
  ctx.db.insert(apiKeys).values(key),
];

export const revokeKeyRow = (db: Db, merchantId: AccountId, keyId: KeyId, revokedAt: number): Write =>
  db
    .update(apiKeys)
    .set({ revokedAt })
    .where(and(eq(apiKeys.merchantId, merchantId), eq(apiKeys.id, keyId), isNull(apiKeys.revokedAt)));

export const revokeAllKeys = (db: Db, merchantId: AccountId, revokedAt: number): Write =>
  db
    .update(apiKeys)
    .set({ revokedAt })
    .where(and(eq(apiKeys.merchantId, merchantId), inArray(apiKeys.livemode, [true, false]), isNull(apiKeys.revokedAt)));

export const findLogo = (db: Db, merchantId: AccountId) => db.select().from(brandLogos).where(eq(brandLogos.merchantId, merchantId)).get();

export const storeLogo = (db: Db, { merchantId, ...logo }: typeof brandLogos.$inferInsert): Write =>
  db
    .insert(brandLogos)
    .values({ merchantId, ...logo })
    .onConflictDoUpdate({ target: brandLogos.merchantId, set: logo });

export const forgetLogo = (db: Db, merchantId: AccountId): Write => db.delete(brandLogos).where(eq(brandLogos.merchantId, merchantId));
