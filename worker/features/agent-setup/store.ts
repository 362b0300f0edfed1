import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, SetupIntentId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { ACCOUNT_COLUMNS, accounts } from '#platform/db/tables/accounts.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { persons } from '#platform/db/tables/office/people.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { type SetupIntent, setupIntents } from '#platform/db/tables/setups.ts';
import { casUpdate, updateUnversioned } from '#platform/db/versioned.ts';

/**
 * Loads a setup with its account's plan, live key and pending payments. Pending payments are read first: one that arrives in between has
 * extended the expiry that is read after it.
 */
export async function getSetupState(db: Db, setupIntentId: SetupIntentId) {
  const pending = await listPendingPayments(db, setupIntentId);
  const found = await db
    .select({ intent: setupIntents, account: ACCOUNT_COLUMNS, liveKey: apiKeys })
    .from(setupIntents)
    .innerJoin(accounts, eq(accounts.id, setupIntents.accountId))
    .innerJoin(persons, eq(persons.id, accounts.id))
    .leftJoin(apiKeys, eq(apiKeys.id, setupIntents.liveKeyId))
    .where(eq(setupIntents.id, setupIntentId))
    .get();
  return found ? { ...found, pending } : raise('not_found');
}

export type SetupState = Awaited<ReturnType<typeof getSetupState>>;

export const insertSetup = (db: Db, intent: SetupIntent): Write => db.insert(setupIntents).values(intent);

/** Updates a setup except the expiry, which only payments extend. */
export const updateSetup = (
  ctx: Shard,
  before: Pick<SetupIntent, 'id' | 'version'>,
  patch: Partial<Omit<SetupIntent, 'id' | 'version' | 'updatedAt'>>,
): Write[] => casUpdate(ctx, setupIntents, before, { ...patch, updatedAt: ctx.now });

export type ExpiringSetup = Awaited<ReturnType<typeof listExpiringSetups>>[number];

export const listExpiringSetups = (
  db: Db,
  endedBefore: number,
  last: { intent: Pick<SetupIntent, 'expiresAt'>; rowNumber: number } | null,
  limit: number,
) =>
  db
    .select({ intent: setupIntents, account: ACCOUNT_COLUMNS, rowNumber: sql<number>`setup_intents.rowid`.as('rowNumber') })
    .from(setupIntents)
    .innerJoin(accounts, eq(accounts.id, setupIntents.accountId))
    .innerJoin(persons, eq(persons.id, accounts.id))
    .where(
      and(
        // Must match the index expression exactly, or SQLite does not use the index.
        sql`${setupIntents.status} <> 'expired' AND ${setupIntents.expiresAt} IS NOT NULL`,
        lte(setupIntents.expiresAt, endedBefore),
        last ? sql`(${setupIntents.expiresAt}, setup_intents.rowid) > (${last.intent.expiresAt}, ${last.rowNumber})` : undefined,
        sql`NOT EXISTS (SELECT 1 FROM settlements WHERE setup_intent_id = ${setupIntents.id} AND status = 'pending')`,
      ),
    )
    .orderBy(asc(setupIntents.expiresAt), sql`setup_intents.rowid`)
    .limit(limit);

export const listActiveKeys = (db: Db, accountId: AccountId) =>
  db
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.merchantId, accountId), inArray(apiKeys.livemode, [true, false]), isNull(apiKeys.revokedAt)));

/** Loads a setup and, as of the same moment, whether a payment for it is pending, which extends the setup past its end. */
export async function findSetup(db: Db, setupIntentId: SetupIntentId): Promise<(SetupIntent & { isPaying: boolean }) | null> {
  const isPaying = sql<number>`EXISTS (SELECT 1 FROM settlements WHERE setup_intent_id = setup_intents.id AND status = 'pending')`;
  const found = await db.select({ intent: setupIntents, isPaying }).from(setupIntents).where(eq(setupIntents.id, setupIntentId)).get();
  return found ? { ...found.intent, isPaying: found.isPaying === 1 } : null;
}

/**
 * Replaces the hash of an unchanged secret. A change planned on the earlier row may restore the old hash, which is valid until the secret
 * is shown again.
 */
export const replaceSecretHash = async (db: Db, { id, secretHash: before }: SetupIntent, secretHash: string): Promise<void> => {
  await updateUnversioned(db, setupIntents, { secretHash }, and(eq(setupIntents.id, id), eq(setupIntents.secretHash, before)));
};

export const listPendingPayments = (db: Db, setupIntentId: SetupIntentId) =>
  db
    .select({
      terms: settlements.terms,
      amount: settlements.amount,
      txSignature: settlements.txSignature,
      createdAt: settlements.createdAt,
    })
    .from(settlements)
    .where(and(eq(settlements.setupIntentId, setupIntentId), eq(settlements.status, 'pending')))
    .orderBy(asc(settlements.createdAt));

/** Aborts the expiry of a setup if its account holds a paid plan or a payment is pending. */
export const abortWhilePaid = (ctx: Shard, accountId: AccountId): Write[] => [
  abortIfExists(
    ctx,
    settlements,
    sql`status = 'pending' AND merchant_id = ${boundId(accountId)} AND purpose = 'activation' AND livemode = 1`,
  ),
  abortIfExists(ctx, accounts, sql`id = ${boundId(accountId)} AND plan <> 'free' AND (plan_through IS NULL OR plan_through > ${ctx.now})`),
];
