import { and, asc, eq, inArray, isNull, lte, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, SetupIntentId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { type SetupIntent, setupIntents } from '#platform/db/tables/setups.ts';
import { casUpdate, updateUnversioned } from '#platform/db/versioned.ts';

/**
 * A setup as it stands: with its account's plan, the live key it issued, whether that is revoked by now or not, and payments
 * on their way. These are read first: one that arrives in between has lifted the end that is read after it.
 */
export async function getSetupState(db: Db, setupIntentId: SetupIntentId) {
  const pending = await listPendingPayments(db, setupIntentId);
  const found = await db
    .select({ intent: setupIntents, account: accounts, liveKey: apiKeys })
    .from(setupIntents)
    .innerJoin(accounts, eq(accounts.id, setupIntents.accountId))
    .leftJoin(apiKeys, eq(apiKeys.id, setupIntents.liveKeyId))
    .where(eq(setupIntents.id, setupIntentId))
    .get();
  return found ? { ...found, pending } : raise('not_found');
}

export type SetupState = Awaited<ReturnType<typeof getSetupState>>;

export const insertSetup = (db: Db, intent: SetupIntent): Write => db.insert(setupIntents).values(intent);

/** The expiry is left to those who lift it. */
export const updateSetup = (
  ctx: Shard,
  before: Pick<SetupIntent, 'id' | 'version'>,
  patch: Partial<Omit<SetupIntent, 'id' | 'version' | 'updatedAt'>>,
): Write[] => casUpdate(ctx, setupIntents, before, { ...patch, updatedAt: ctx.now });

export type ExpiringSetup = Awaited<ReturnType<typeof listExpiringSetups>>[number];

/** Setups whose time is over, and that no payment still on its way can save: longest over first, and after `last`. */
export const listExpiringSetups = (
  db: Db,
  endedBefore: number,
  last: { intent: Pick<SetupIntent, 'expiresAt'>; place: number } | null,
  limit: number,
) =>
  db
    .select({ intent: setupIntents, account: accounts, place: sql<number>`setup_intents.rowid`.as('place') })
    .from(setupIntents)
    .innerJoin(accounts, eq(accounts.id, setupIntents.accountId))
    .where(
      and(
        // As the index has it, word for word, or it is not used.
        sql`${setupIntents.status} <> 'expired' AND ${setupIntents.expiresAt} IS NOT NULL`,
        lte(setupIntents.expiresAt, endedBefore),
        last ? sql`(${setupIntents.expiresAt}, setup_intents.rowid) > (${last.intent.expiresAt}, ${last.place})` : undefined,
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

/** With whether a payment for it is on its way, as of the same moment: that keeps it open past its time. */
export async function findSetup(db: Db, setupIntentId: SetupIntentId): Promise<(SetupIntent & { isPaying: boolean }) | null> {
  const isPaying = sql<number>`EXISTS (SELECT 1 FROM settlements WHERE setup_intent_id = setup_intents.id AND status = 'pending')`;
  const found = await db.select({ intent: setupIntents, isPaying }).from(setupIntents).where(eq(setupIntents.id, setupIntentId)).get();
  return found ? { ...found.intent, isPaying: found.isPaying === 1 } : null;
}

/** Another hash of the same secret. A change that read the row before may put the old one back, which is as good until it is shown again. */
export const replaceSecretHash = async (db: Db, { id, secretHash: before }: SetupIntent, secretHash: string): Promise<void> => {
  await updateUnversioned(db, setupIntents, { secretHash }, and(eq(setupIntents.id, id), eq(setupIntents.secretHash, before)));
};

/** Payments of a setup that the chain has not decided yet, oldest first. */
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

/** Refuse the end of a setup whose account holds a paid plan, or whose payment is on its way. */
export const abortWhilePaid = (ctx: Shard, accountId: AccountId): Write[] => [
  abortIfExists(ctx, settlements, sql`status = 'pending' AND merchant_id = ${accountId} AND purpose = 'activation' AND livemode = 1`),
  abortIfExists(ctx, accounts, sql`id = ${accountId} AND plan <> 'free' AND (plan_through IS NULL OR plan_through > ${ctx.now})`),
];
