import { assert } from '#core/errors.ts';
import { planProductIdOf, type ReceiptId, SERVICE_ACCOUNT_ID } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Anchor } from '#features/receipts/hash-chain.ts';
import { planReceipt } from '#features/receipts/receipt.ts';
import type { Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import type { NewEvent } from '#rules/events.ts';
import { extendPlan, type HeldPlan, PAID_PLANS, type PaidPlan, PLAN_DAYS } from '#rules/plans.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import type { getHolding } from './holding.ts';
import { insertActivation, setExpiry } from './store.ts';

export const planTitle = (plan: PaidPlan): string => `${plan[0]!.toUpperCase()}${plan.slice(1)} plan, ${PLAN_DAYS} days`;

function boughtPlan({ terms }: Settlement): PaidPlan {
  const plan = PAID_PLANS.find((name) => name === terms.plan);
  assert(plan !== undefined, 'an activation names its plan');
  return plan;
}

/**
 * Plans a paid plan: the account's plan and end, activation, receipt and event, and a setup without expiry. Commit in the batch that ends
 * the settlement.
 */
export function planActivation(
  ctx: Shard,
  settlement: Settlement,
  transaction: ChainTransaction,
  held: Awaited<ReturnType<typeof getHolding>>,
  anchor: Anchor,
): { values: HeldPlan; events: NewEvent[]; writes: Write[]; receiptId: ReceiptId } {
  const { paymentId, merchantId: accountId, setupIntentId } = settlement;
  const plan = boughtPlan(settlement);
  const at = Math.max(ctx.now, held.nextAt);
  const { planPrice, ...after } = extendPlan(held, { plan, paidUnits: settlement.amount, at });
  const facts = {
    txSignature: settlement.txSignature,
    slot: transaction.slot,
    blockTime: transaction.blockTimeSeconds! * SECOND,
    payer: settlement.payerWallet,
    recipient: settlement.recipientWallet,
    amount: { asset: settlement.asset, units: settlement.amount },
    fee: null,
    productId: planProductIdOf(plan),
    productName: planTitle(plan),
    merchant: { accountId: SERVICE_ACCOUNT_ID, displayName: 'svc' },
    memo: `svc:${settlement.nonce}`,
    livemode: settlement.livemode,
  };
  // The service sells, and the buying account owns the receipt and reads it like those of its own sales.
  const receipt = planReceipt(ctx, paymentId, facts, anchor, accountId);
  const activation = {
    paymentId,
    accountId,
    livemode: settlement.livemode,
    plan,
    amount: settlement.amount,
    resultingPlan: after.plan,
    paidThrough: after.planThrough,
    receiptId: receipt.result.id,
    createdAt: at,
  };
  return {
    values: after,
    receiptId: receipt.result.id,
    events: receipt.events,
    writes: [
      insertActivation(ctx.db, activation),
      ...receipt.writes,
      ...(setupIntentId === null ? [] : [setExpiry(ctx, setupIntentId, null)]),
    ],
  };
}
