import { and, asc, eq, inArray, isNotNull, lte, ne, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, PaymentId, SetupIntentId } from '#core/ids.ts';
import type { Db, Shard, Tenant } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { type Activation, activations } from '#platform/db/tables/plans.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { setupIntents } from '#platform/db/tables/setups.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { stepRows } from '#platform/db/versioned.ts';
import type { AccountPlans } from '#rules/plans.ts';
import { SETUP } from '#rules/states.ts';

/** What an account holds, as it is stored: a plan that has ended may still stand there. */
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

/** What an account bought in a mode, in the order in which it counts, and which of it the chain dropped. */
export const listActivations = (db: Db, accountId: AccountId, { livemode }: Pick<Tenant, 'livemode'>) =>
  db
    .select({ activation: activations, droppedAt: txClaims.droppedAt })
    .from(activations)
    .leftJoin(txClaims, eq(txClaims.subjectId, activations.paymentId))
    .where(and(eq(activations.accountId, accountId), eq(activations.livemode, livemode)))
    .orderBy(asc(activations.createdAt), asc(activations.paymentId));

export const insertActivation = (db: Db, activation: Activation): Write => db.insert(activations).values(activation);

/**
 * A setup that was paid for stays (null), and one whose payment is gone ends again. One that had ended before its payment was found after
 * all begins anew, because its secret is the only way to a key for what was paid. Its version moves too, so that no request writes the
 * old end back.
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
  isKept: false,
};

/** Plans that are over and still stand in their rows, longest over first. Answers how many it ended, at most `max`. */
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

/** With the setup it was paid for, if any. */
export async function getActivationOfSetup(db: Db, paymentId: PaymentId) {
  const found = await db
    .select({ accountId: activations.accountId, livemode: activations.livemode, setupIntentId: settlements.setupIntentId })
    .from(activations)
    .leftJoin(settlements, eq(settlements.paymentId, activations.paymentId))
    .where(eq(activations.paymentId, paymentId))
    .get();
  return found ?? raise('not_found');
}
