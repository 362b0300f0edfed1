import type { AccountId, PaymentId } from '#core/ids.ts';
import type { Db, Tenant } from '#platform/context.ts';
import type { Activation } from '#platform/db/tables/plans.ts';
import { foldPurchases, type HeldPlan, type PaidTime, type PlanPurchase, planPrice } from '#rules/plans.ts';
import { listActivations } from './store.ts';

const toPurchase = ({ plan, amount: paidUnits, createdAt: at }: Activation): PlanPurchase => ({ plan, paidUnits, at });

export async function foldActivations(db: Db, accountId: AccountId, one: { paymentId: PaymentId; isValid: boolean }): Promise<PaidTime> {
  const rows = await listActivations(db, accountId, { livemode: true });
  const valid = rows.filter(({ activation, droppedAt }) => (activation.paymentId === one.paymentId ? one.isValid : droppedAt === null));
  return foldPurchases(valid.map(({ activation }) => toPurchase(activation)));
}

/**
 * Returns the account's plan in a mode with its price, and the start of its next purchase, which comes after all others. In the sandbox
 * only test purchases count.
 */
export async function getHolding(
  db: Db,
  { id, plan, planThrough }: HeldPlan & { id: AccountId },
  { livemode }: Pick<Tenant, 'livemode'>,
): Promise<PaidTime & { nextAt: number }> {
  const rows = await listActivations(db, id, { livemode });
  const folded = foldPurchases(rows.flatMap(({ activation, droppedAt }) => (droppedAt === null ? [toPurchase(activation)] : [])));
  const nextAt = (rows.at(-1)?.activation.createdAt ?? -1) + 1;
  if (!livemode) return { ...folded, nextAt };
  // A plan that was not bought has the list price.
  const isBought = folded.plan === plan && folded.planThrough === planThrough;
  return { plan, planThrough, planPrice: isBought ? folded.planPrice : planPrice(plan), nextAt };
}
