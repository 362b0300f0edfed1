import { and, asc, eq, ne, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AccountId, PaymentId, SetupIntentId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import type { Ctx, Db } from '#platform/context.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';
import type { Settlement } from '#platform/db/tables/access.ts';
import { type Activation, activations, type SetupIntent, settlements, setupIntents } from '#platform/db/tables/access.ts';
import { accounts } from '#platform/db/tables/identity.ts';
import { txClaims } from '#platform/db/tables/tx-claims.ts';
import { foldPurchases, type HeldPlan, type PaidTime, type PlanPurchase, planPrice } from '#rules/plans.ts';
import { SETUP } from '#rules/states.ts';

/** With whether a payment for it is on its way, as of the same moment: that keeps it open past its time. */
export async function findSetup(db: Db, setupIntentId: SetupIntentId): Promise<(SetupIntent & { isPaying: boolean }) | null> {
  const isPaying = sql<number>`EXISTS (SELECT 1 FROM settlements WHERE setup_intent_id = setup_intents.id AND status = 'pending')`;
  const found = await db.select({ intent: setupIntents, isPaying }).from(setupIntents).where(eq(setupIntents.id, setupIntentId)).get();
  return found ? { ...found.intent, isPaying: found.isPaying === 1 } : null;
}

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
export type PendingPayment = Awaited<ReturnType<typeof listPendingPayments>>[number];

export const isSignatureTaken = async (db: Db, { txSignature, livemode }: Settlement): Promise<boolean> =>
  (await db.$count(txClaims, and(eq(txClaims.txSignature, txSignature), eq(txClaims.livemode, livemode)))) > 0;

/** What an account holds, as it is stored: a plan that has ended may still stand there. */
export async function getStanding(db: Db, accountId: AccountId): Promise<HeldPlan & Pick<typeof accounts.$inferSelect, 'status'>> {
  const { plan, planThrough, status } = accounts;
  return (await db.select({ plan, planThrough, status }).from(accounts).where(eq(accounts.id, accountId)).get()) ?? raise('not_found');
}

/** With the setup it was paid for, if any. */
export async function getActivationOfSetup(db: Db, paymentId: PaymentId) {
  const found = await db
    .select({ accountId: activations.accountId, setupIntentId: settlements.setupIntentId })
    .from(activations)
    .leftJoin(settlements, eq(settlements.paymentId, activations.paymentId))
    .where(eq(activations.paymentId, paymentId))
    .get();
  return found ?? raise('not_found');
}

export async function getActivation(db: Db, paymentId: PaymentId): Promise<Activation> {
  return (await db.select().from(activations).where(eq(activations.paymentId, paymentId)).get()) ?? raise('not_found');
}

/** What an account bought, in the order in which it counts, and which of it the chain dropped. */
const listActivations = (db: Db, accountId: AccountId) =>
  db
    .select({ activation: activations, droppedAt: txClaims.droppedAt })
    .from(activations)
    .leftJoin(txClaims, eq(txClaims.subjectId, activations.paymentId))
    .where(eq(activations.accountId, accountId))
    .orderBy(asc(activations.createdAt), asc(activations.paymentId));

const toPurchase = ({ plan, amount, createdAt: at, resultingPlan, paidThrough, resultingPrice }: Activation): PlanPurchase | PaidTime =>
  amount === null
    ? { plan: resultingPlan, planThrough: paidThrough, planPrice: resultingPrice ?? planPrice(resultingPlan) }
    : { plan, paidUnits: amount, at };

/** What an account's activations amount to: those that stand, and this one only if it does. */
export async function foldStanding(db: Db, accountId: AccountId, one: { paymentId: PaymentId; stands: boolean }): Promise<PaidTime> {
  const rows = await listActivations(db, accountId);
  const standing = rows.filter(({ activation, droppedAt }) => (activation.paymentId === one.paymentId ? one.stands : droppedAt === null));
  return foldPurchases(standing.map(({ activation }) => toPurchase(activation)));
}

/** What an account holds, with the price at which it was bought; and from when its next purchase counts, which is after all others. */
export async function getHolding(db: Db, { id, plan, planThrough }: HeldPlan & { id: AccountId }): Promise<PaidTime & { nextAt: number }> {
  const rows = await listActivations(db, id);
  const folded = foldPurchases(rows.flatMap(({ activation, droppedAt }) => (droppedAt === null ? [toPurchase(activation)] : [])));
  // A plan that was not bought has the price of the list.
  const isBought = folded.plan === plan && folded.planThrough === planThrough;
  const nextAt = (rows.at(-1)?.activation.createdAt ?? -1) + 1;
  return { plan, planThrough, planPrice: isBought ? folded.planPrice : planPrice(plan), nextAt };
}

export const insertActivation = (db: Db, activation: Activation): Write => db.insert(activations).values(activation);

/**
 * A setup that was paid for stays (null), and one whose payment is gone ends again. One that had ended before its payment was found after
 * all begins anew, because its secret is the only way to a key for what was paid. Its version moves too, so that no request writes the
 * old end back.
 */
export const setExpiry = (ctx: Ctx, setupIntentId: SetupIntentId, expiresAt: number | null): Write =>
  ctx.db
    .update(setupIntents)
    .set({ expiresAt, updatedAt: ctx.now, version: sql`${setupIntents.version} + 1`, ...(expiresAt === null ? REVIVED : {}) })
    .where(and(eq(setupIntents.id, setupIntentId), expiresAt === null ? undefined : ne(setupIntents.status, 'expired')));
const REVIVED = {
  status: sql`CASE status WHEN 'expired' THEN ${SETUP.next('expired', 'revive')} ELSE status END`,
  isKept: false,
};

const spentSince = (setupIntentId: SetupIntentId, since: number) => sql`(SELECT coalesce(sum(CAST(amount AS INTEGER)), 0) FROM settlements
  WHERE setup_intent_id = ${setupIntentId} AND status <> 'failed' AND created_at >= ${since})`;

/** Days of spend limits are those of UTC. */
const dayOf = (at: number): number => at - (at % DAY);

/** What a setup may spend, and has spent today: all that was claimed and did not fail. Base units of USDC. */
export async function getSpending(
  { db, now }: Ctx,
  setupIntentId: SetupIntentId,
): Promise<{ perPayment: bigint | null; perDay: bigint | null; today: bigint }> {
  const { spendPerPayment: perPayment, spendPerDay: perDay } = setupIntents;
  const today = sql<number>`${spentSince(setupIntentId, dayOf(now))}`;
  const found = await db.select({ perPayment, perDay, today }).from(setupIntents).where(eq(setupIntents.id, setupIntentId)).get();
  return found ? { ...found, today: BigInt(found.today) } : raise('not_found');
}

/**
 * A statement, not an effect: refuses the claim of a payment for an account whose setup was ended before, keys and all. Its
 * counterpart is `vetoWhilePaid`: of a claim and an end at the same moment one is stored, whichever the database sees first.
 */
export const vetoEnded = (ctx: Ctx, { merchantId }: Settlement): Write =>
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM setup_intents WHERE account_id = ${merchantId} AND status = 'expired')`);

/** Statements, not effects: refuse the end of a setup whose account holds a paid plan, or whose payment is on its way. */
export const vetoWhilePaid = (ctx: Ctx, accountId: AccountId): Write[] => [
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM settlements WHERE status = 'pending' AND merchant_id = ${accountId} AND purpose = 'activation')`),
  vetoIf(
    ctx,
    sql`EXISTS (SELECT 1 FROM accounts WHERE id = ${accountId} AND plan <> 'free' AND (plan_through IS NULL OR plan_through > ${ctx.now}))`,
  ),
];

/**
 * Statements, not effects: refuse the batch that would claim more than the setup may spend, by the limits as they are right
 * then. A limit that is not set is NULL, and NULL refuses nothing.
 */
export function vetoOverspending(ctx: Ctx, { setupIntentId, amount, createdAt }: Settlement): Write[] {
  if (setupIntentId === null) return [];
  const units = amount.toString();
  const limit = (column: 'spend_per_payment' | 'spend_per_day') =>
    sql`(SELECT CAST(${sql.raw(column)} AS INTEGER) FROM setup_intents WHERE id = ${setupIntentId})`;
  return [
    vetoIf(ctx, sql`CAST(${units} AS INTEGER) > ${limit('spend_per_payment')}`),
    vetoIf(ctx, sql`${spentSince(setupIntentId, dayOf(createdAt))} + CAST(${units} AS INTEGER) > ${limit('spend_per_day')}`),
  ];
}
