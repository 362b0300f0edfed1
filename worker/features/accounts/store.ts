import { and, desc, eq, exists, getTableColumns, gt, inArray, isNotNull, isNull, ne, or, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, KeyId, SignInId } from '#core/ids.ts';
import type { Db, Shard, Tenant } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIf, abortIfExists, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import {
  ACCOUNT_COLUMNS,
  type Account,
  accounts,
  type LoginNonce,
  loginNonces,
  type MerchantSettings,
  payoutWallets,
} from '#platform/db/tables/accounts.ts';
import { type ApiKey, apiKeys } from '#platform/db/tables/keys.ts';
import { type PersonRow, persons } from '#platform/db/tables/office/people.ts';
import { usedSignInStates } from '#platform/db/tables/office/sign-in.ts';
import { brandLogos } from '#platform/db/tables/receipts.ts';
import { casUpdate, stepRows } from '#platform/db/versioned.ts';
import { methodsOf } from '#rules/access/factors.ts';
import { isHandedOver } from '#rules/access/roles.ts';
import type { AdmittedAccount, AdmittedKey } from '#rules/admission.ts';

export type { MerchantSettings };
/** Keys of one email or wallet under each pepper. At most one account has any of them. */
export type AccountKeys = { column: 'emailKey' | 'walletKey'; keys: readonly string[] };

const { id: _, ...OF_PERSON } = getTableColumns(persons);

const selectAccounts = (db: Db, where: SQL | undefined) =>
  db.select(ACCOUNT_COLUMNS).from(accounts).innerJoin(persons, eq(persons.id, accounts.id)).where(where);

export const findAccountByKeys = (db: Db, { column, keys }: AccountKeys) => selectAccounts(db, inArray(persons[column], [...keys])).get();

export const hasKey = async (db: Db, accountId: AccountId, { column, keys }: AccountKeys): Promise<boolean> =>
  (await db.$count(persons, and(eq(persons.id, accountId), inArray(persons[column], [...keys])))) > 0;

/** Aborts the batch if another account has one of these keys. The unique index covers only the stored key. */
export const abortIfTaken = (ctx: Shard, accountId: AccountId, { column, keys: [, ...others] }: AccountKeys): Write[] => {
  if (others.length === 0) return [];
  const rival = ctx.db
    .select({ id: persons.id })
    .from(persons)
    .where(and(inArray(persons[column], others), ne(persons.id, accountId)));
  return [abortIf(ctx, exists(rival))];
};

export const findAccount = (db: Db, accountId: AccountId) => selectAccounts(db, eq(accounts.id, accountId)).get();

export async function getAccount(db: Db, accountId: AccountId): Promise<Account> {
  return (await findAccount(db, accountId)) ?? raise('not_found');
}

export async function isPaused(db: Db, accountId: AccountId): Promise<boolean> {
  const found = await db.select({ at: accounts.salesPausedAt }).from(accounts).where(eq(accounts.id, accountId)).get();
  return found?.at != null;
}

export async function findAdmission(db: Db, admissionId: string): Promise<{ account: AdmittedAccount; keys: AdmittedKey[] } | null> {
  const rows = await db
    .select({ account: ACCOUNT_COLUMNS, key: apiKeys })
    .from(accounts)
    .innerJoin(persons, eq(persons.id, accounts.id))
    .leftJoin(apiKeys, and(eq(apiKeys.merchantId, accounts.id), inArray(apiKeys.livemode, [true, false])))
    .where(eq(accounts.admissionId, admissionId));
  const account = rows[0]?.account;
  if (!account) return null;
  const keys = rows.flatMap(({ key }) => (key ? [toAdmittedKey(key)] : []));
  return { account: toAdmittedAccount(account), keys };
}

/** True for staff with an email: a wallet proves a key, not a colleague. Staff act in the account that they registered with, so they own it. */
export const isStaffMember = (account: Account): boolean => account.isStaff && account.email !== null && !isHandedOver(account);

export const toAdmittedAccount = (account: Account): AdmittedAccount => {
  const { id: accountId, plan, planThrough, processorPlans, status, tokenVersion, factors, ownerId, roles, version } = account;
  const { requireFactor } = account;
  const plans = { plan, planThrough, processorPlans };
  return {
    accountId,
    ...plans,
    status,
    tokenVersion,
    isStaff: isStaffMember(account),
    ...(factors && { factors: methodsOf(factors) }),
    ...(requireFactor && { requireFactor }),
    ownerId,
    roles,
    version,
  };
};

export function toAdmittedKey(key: ApiKey): AdmittedKey {
  const { id: keyId, keyHash, permissions, livemode, revokedAt, version, scopes, expiresAt, allowedIps } = key;
  const restrictions = { ...(scopes && { scopes }), ...(expiresAt !== null && { expiresAt }), ...(allowedIps && { allowedIps }) };
  return { keyId, keyHash, permissions, livemode, revokedAt, version, ...restrictions };
}

export const insertAccount = (db: Db, account: Account): Write[] => [
  db.insert(accounts).values(account),
  db.insert(persons).values(account),
];

/** Replaces an account and what changed of its person. Aborts the batch if either changed since the account was read. */
export function replaceAccount(ctx: Shard, before: Account, after: Account): Write[] {
  const changed = Object.keys(OF_PERSON).filter((name) => before[name as keyof PersonRow] !== after[name as keyof PersonRow]);
  const patch = Object.fromEntries(changed.map((name) => [name, after[name as keyof PersonRow]]));
  return [
    ...casUpdate(ctx, accounts, before, after),
    ...(changed.length === 0 ? [] : [ctx.db.update(persons).set(patch).where(eq(persons.id, before.id))]),
  ];
}

/**
 * Replaces a password hash unless the password changed meanwhile. A change planned on the earlier row may restore the old form, which is
 * equally valid.
 */
export const replacePassword = (db: Db, accountId: AccountId, before: string, passwordHash: string) =>
  db
    .update(persons)
    .set({ passwordHash })
    .where(and(eq(persons.id, accountId), eq(persons.passwordHash, before)));

export const insertLoginNonce = ({ db }: Shard, nonce: LoginNonce): Write[] => [db.insert(loginNonces).values(nonce)];

/**
 * Claims a nonce: the row records the sign-in id until it expires. A second sign-in finds nothing, a stranger's wallet cannot burn the
 * nonce, and the same sign-in may retry after a lost answer.
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

/** Gives a nonce back to the wallet that signed it, for a sign-in that had no effect. */
export const returnLoginNonce = (db: Db, nonce: string, signInId: SignInId): Promise<unknown> =>
  db.update(loginNonces).set({ nonce }).where(eq(loginNonces.nonce, signInId));

const REVOKED_SHOWN = 100;

/** Lists all active keys and the most recently revoked ones per mode. A token sees both modes, a key only its own. */
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

/** Keys that count toward the plan's limit: neither revoked, replaced nor expired. */
const countedKeys = (tenant: Tenant, now: number): SQL =>
  sql`${rowsOf(apiKeys, tenant)} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now})`;

export const getActiveKeyCount = ({ db, now }: Shard, tenant: Tenant): Promise<number> => db.$count(apiKeys, countedKeys(tenant, now));

export const insertKey = (ctx: Shard, key: ApiKey, activeMax: number): Write[] => [
  abortIf(ctx, sql`(SELECT count(*) FROM ${apiKeys} WHERE ${countedKeys(key, ctx.now)}) >= ${activeMax}`),
  ctx.db.insert(apiKeys).values(key),
];

/** Changes a key. Aborts the batch if the key changed since it was read. */
export const updateKey = (ctx: Shard, key: ApiKey, patch: Partial<ApiKey>): Write[] => casUpdate(ctx, apiKeys, key, patch);

/** Replaced keys that still work. */
const endingKeys = (tenant: Tenant, now: number): SQL => sql`${rowsOf(apiKeys, tenant)} AND revoked_at > ${now}`;

export const getEndingKeyCount = ({ db, now }: Shard, tenant: Tenant): Promise<number> => db.$count(apiKeys, endingKeys(tenant, now));

/** Ends a key with the insert of its successor. Aborts the batch if the key changed, or if too many replaced keys work, unless it ends now. */
export const replaceKey = (
  ctx: Shard,
  key: ApiKey,
  successor: ApiKey,
  { revokedAt, endingMax }: { revokedAt: number; endingMax: number },
): Write[] => [
  ...(revokedAt > ctx.now ? [abortIf(ctx, sql`(SELECT count(*) FROM ${apiKeys} WHERE ${endingKeys(key, ctx.now)}) >= ${endingMax}`)] : []),
  ...casUpdate(ctx, apiKeys, key, { revokedAt }),
  ctx.db.insert(apiKeys).values(successor),
];

/** Revokes keys, also those that would end later. */
const revoked = (db: Db, revokedAt: number, where: SQL | undefined): Write =>
  stepRows(db, apiKeys, { revokedAt }, and(where, or(isNull(apiKeys.revokedAt), gt(apiKeys.revokedAt, revokedAt))));

export const revokeKeyRow = (db: Db, merchantId: AccountId, keyId: KeyId, revokedAt: number): Write =>
  revoked(db, revokedAt, and(eq(apiKeys.merchantId, merchantId), eq(apiKeys.id, keyId)));

/** SQL condition: the key is revoked. */
export const isRevoked = (keyId: KeyId, now: number): SQL =>
  sql`EXISTS (SELECT 1 FROM api_keys WHERE id = ${boundId(keyId)} AND revoked_at <= ${now})`;

export const revokeAllKeys = (db: Db, merchantId: AccountId, revokedAt: number): Write =>
  revoked(db, revokedAt, and(eq(apiKeys.merchantId, merchantId), inArray(apiKeys.livemode, [true, false])));

export const findLogo = (db: Db, merchantId: AccountId) => db.select().from(brandLogos).where(eq(brandLogos.merchantId, merchantId)).get();

export const storeLogo = (db: Db, { merchantId, ...logo }: typeof brandLogos.$inferInsert): Write =>
  db
    .insert(brandLogos)
    .values({ merchantId, ...logo })
    .onConflictDoUpdate({ target: brandLogos.merchantId, set: logo });

export const forgetLogo = (db: Db, merchantId: AccountId): Write => db.delete(brandLogos).where(eq(brandLogos.merchantId, merchantId));

type KnownWallets = 'none' | 'this_one' | 'others';

export async function findKnownWallets(db: Db, merchantId: AccountId, wallet: string): Promise<KnownWallets> {
  const row = await db
    .select({ wallet: payoutWallets.wallet, disownedAt: payoutWallets.disownedAt })
    .from(payoutWallets)
    .where(eq(payoutWallets.merchantId, merchantId))
    .orderBy(desc(sql`wallet = ${wallet}`))
    .limit(1)
    .get();
  if (!row) return 'none';
  // After a disowned wallet even the next one requires a sign-in.
  return row.wallet === wallet && row.disownedAt === null ? 'this_one' : 'others';
}

export const findPayee = (db: Db, merchantId: AccountId, wallet: string) =>
  db
    .select({
      status: accounts.status,
      displayName: accounts.displayName,
      isKnown: sql<number>`EXISTS (SELECT 1 FROM payout_wallets WHERE merchant_id = ${boundId(merchantId)} AND wallet = ${wallet}
        AND disowned_at IS NULL)`,
    })
    .from(accounts)
    .where(eq(accounts.id, merchantId))
    .get();

export const rememberWallet = (ctx: Shard, merchantId: AccountId, wallet: string): Write =>
  ctx.db
    .insert(payoutWallets)
    .values({ merchantId, wallet, createdAt: ctx.now })
    .onConflictDoUpdate({
      target: [payoutWallets.merchantId, payoutWallets.wallet],
      set: { createdAt: ctx.now, disownedAt: null },
      setWhere: isNotNull(payoutWallets.disownedAt),
    });

/** Aborts the batch if the wallet was disowned since it was read as known. */
export const abortIfDisowned = (ctx: Shard, merchantId: AccountId, wallet: string): Write =>
  abortIfExists(ctx, payoutWallets, sql`merchant_id = ${boundId(merchantId)} AND wallet = ${wallet} AND disowned_at IS NOT NULL`);

/** Aborts the batch if another wallet has become the merchant's first one. */
export const abortUnlessFirst = (ctx: Shard, merchantId: AccountId, wallet: string): Write =>
  abortIfExists(ctx, payoutWallets, sql`merchant_id = ${boundId(merchantId)} AND wallet <> ${wallet}`);

export const forgetWallets = (db: Db, merchantId: AccountId): Write =>
  db.delete(payoutWallets).where(eq(payoutWallets.merchantId, merchantId));

export async function takeState(db: Db, id: string, expiresAt: number): Promise<boolean> {
  const { meta } = await db.insert(usedSignInStates).values({ id, expiresAt }).onConflictDoNothing();
  return meta.changes === 1;
}

export const findState = (db: Db, id: string) => db.select().from(usedSignInStates).where(eq(usedSignInStates.id, id)).get();

/** Notes the use of a link. Aborts the batch if it was used. */
export const insertState = (db: Db, state: typeof usedSignInStates.$inferInsert): Write => db.insert(usedSignInStates).values(state);

export const forgetState = (db: Db, id: string): Promise<unknown> => db.delete(usedSignInStates).where(eq(usedSignInStates.id, id));

/** Aborts the batch if the account ended, or its address or password changed, since it was read. */
export const abortUnlessAsBefore = (ctx: Shard, { id, tokenVersion }: Account): Write =>
  abortIf(
    ctx,
    sql`NOT EXISTS (SELECT 1 FROM accounts JOIN persons USING (id)
      WHERE id = ${boundId(id)} AND CASE owner_id WHEN id THEN status = 'active' ELSE ended_at IS NULL END
      AND token_version = ${tokenVersion})`,
  );
