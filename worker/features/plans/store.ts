import { and, asc, eq, getTableColumns, inArray, isNotNull, lte, ne, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, PaymentId, SetupIntentId } from '#core/ids.ts';
import type { Db, Shard, Tenant } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { isClaimOf } from '#platform/db/outcome.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { type Activation, activations } from '#platform/db/tables/plans.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { setupIntents } from '#platform/db/tables/setups.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { stepRows } from '#platform/db/versioned.ts';
import type { AccountPlans } from '#rules/plans.ts';
import { SETUP } from '#rules/states.ts';

/** Loads an account's stored plan, which may have ended already. */
export async function getHeldPlan(db: Db, accountId: AccountId): Promise<AccountPlans & Pick<typeof accounts.$inferSelect, 'status'>> {
  const { plan, planThrough, processorPlans, status } = accounts;
  return (
    (await db.select({ plan, planThrough, processorPlans, status }).from(accounts).where(eq(accounts.id, accountId)).get()) ??
    raise('not_found')
  );
}

export async function getActivation(db: Db, paymentId: PaymentId): Promise<Activation> {
  return (await db.select().from(activations).where(eq(activations.paymentId, paymentId)).get()) ?? raise('not_found');
}

export const listActivations = (db: Db, accountId: AccountId, { livemode }: Pick<Tenant, 'livemode'>) =>
  db
    .select({ activation: activations, droppedAt: txClaims.droppedAt })
    .from(activations)
    .leftJoin(settlements, eq(settlements.paymentId, activations.paymentId))
    .leftJoin(txClaims, isClaimOf({ ...getTableColumns(settlements), id: settlements.paymentId }))
    .where(and(eq(activations.accountId, accountId), eq(activations.livemode, livemode)))
    .orderBy(asc(activations.createdAt), asc(activations.paymentId));

export const insertActivation = (db: Db, activation: Activation): Write => db.insert(activations).values(activation);

/**
 * Sets a setup's expiry: null once paid, a time if its payment was dropped. A setup that expired before its payment was found reopens,
 * because its secret is the only way to a key. Increments the version, so that no request restores the old expiry.
 */
export const setExpiry = (ctx: Shard, setupIntentId: SetupIntentId, expiresAt: number | null): Write =>
  stepRows(
    ctx.db,
    setupIntents,
    { expiresAt, updatedAt: ctx.now, ...(expiresAt === null ? REVIVED : {}) },
    and(eq(setupIntents.id, setupIntentId), expiresAt === null ? undefined : ne(setupIntents.status, 'expired')),
  );

const REVIVED = {
  status: sql`CASE status WHEN 'expired' THEN ${SETUP.next('expired', 'revive')} ELSE status END`,
  isRetained: false,
};

export async function endLapsedPlans(db: Db, now: number, max: number): Promise<number> {
  const lapsed = db
    .select({ id: accounts.id })
    .from(accounts)
    .where(and(isNotNull(accounts.planThrough), lte(accounts.planThrough, now), ne(accounts.plan, 'free')))
    .orderBy(asc(accounts.planThrough))
    .limit(max);
  const { meta } = await stepRows(db, accounts, { plan: 'free', planThrough: null }, inArray(accounts.id, lapsed));
  return meta.changes;
}

export async function getActivationWithSetup(db: Db, paymentId: PaymentId) {
  const found = await db
    .select({ accountId: activations.accountId, livemode: activations.livemode, setupIntentId: settlements.setupIntentId })
    .from(activations)
    .leftJoin(settlements, eq(settlements.paymentId, activations.paymentId))
    .where(eq(activations.paymentId, paymentId))
    .get();
  return found ?? raise('not_found');
}
