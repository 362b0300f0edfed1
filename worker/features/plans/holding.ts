import type { AccountId, PaymentId } from '#core/ids.ts';
import type { Db, Tenant } from '#platform/context.ts';
import type { Activation } from '#platform/db/tables/plans.ts';
import { foldPurchases, type HeldPlan, type PaidTime, type PlanPurchase, planPrice } from '#rules/plans.ts';
import { listActivations } from './store.ts';

const toPurchase = ({ plan, amount: paidUnits, createdAt: at }: Activation): PlanPurchase => ({ plan, paidUnits, at });

/** What an account's activations amount to: those that stand, and this one only if it does. */
export async function foldActivations(db: Db, accountId: AccountId, one: { paymentId: PaymentId; stands: boolean }): Promise<PaidTime> {
  const rows = await listActivations(db, accountId, { livemode: true });
  const standing = rows.filter(({ activation, droppedAt }) => (activation.paymentId === one.paymentId ? one.stands : droppedAt === null));
  return foldPurchases(standing.map(({ activation }) => toPurchase(activation)));
}

/**
 * What an account holds in a mode, with the price at which it was bought; and from when its next purchase counts, which is after all
 * others. In the sandbox only test purchases count, and what the account really holds is not among them.
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
  // A plan that was not bought has the price of the list.
  const isBought = folded.plan === plan && folded.planThrough === planThrough;
  return { plan, planThrough, planPrice: isBought ? folded.planPrice : planPrice(plan), nextAt };
}
