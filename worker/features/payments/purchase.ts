import { storyOf } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { creditPayment } from '#features/entitlements/credit-payments.ts';
import { type Purchase, planMembership } from '#features/memberships/membership.ts';
import { planReceipt, type Receipt } from '#features/receipts/receipt.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { boughtPlaceOf } from '#rules/members/placement.ts';
import { memoOf } from './resource.ts';

/** What the chain proved about a payment: the facts that receipt and membership rest on. */
export interface Proof {
  txSignature: string;
  slot: number;
  /** Milliseconds. */
  blockTime: number;
  payer: string;
  paidUnits: bigint;
  feePaidUnits: bigint;
}

/** What a proven payment buys: membership and receipt, to be stored in the very batch that confirms it. */
export function planPurchase(
  ctx: Shard,
  payment: Payment,
  merchantName: string,
  held: Membership[],
  proof: Proof,
  subscription: Purchase['subscription'] = null,
): Change<{ membership: Membership; receipt: Receipt }> {
  const { payer: payerWallet } = proof;
  const existing = held.find(({ customerKey }) => payment.customerRef !== null || customerKey === `wallet:${payerWallet}`) ?? null;
  const membership = planMembership(ctx, existing, {
    ...payment,
    paymentId: payment.id,
    payerWallet,
    accessPeriodDays: payment.terms.accessPeriodDays,
    graceHours: payment.terms.graceHours ?? null,
    periodEndsAt: payment.terms.periodEndsAt,
    ...boughtPlaceOf(payment),
    subscription,
  });
  const receipt = planReceipt(ctx, payment.id, {
    txSignature: proof.txSignature,
    slot: proof.slot,
    blockTime: proof.blockTime,
    payer: payerWallet,
    recipient: payment.recipientWallet,
    amount: { asset: payment.asset, units: proof.paidUnits },
    // What arrived, not what was due: a receipt proves facts.
    fee: proof.feePaidUnits > 0n ? { asset: payment.asset, units: proof.feePaidUnits } : null,
    productId: payment.productId,
    productName: payment.terms.productName,
    merchant: { accountId: payment.merchantId, displayName: merchantName },
    memo: payment.terms.isOwnersCollection ? '' : memoOf(payment),
    livemode: payment.livemode,
    quote: payment.terms.quote ?? null,
  });
  return {
    events: [...membership.events, ...receipt.events],
    writes: [...membership.writes, ...receipt.writes],
    result: { membership: membership.result, receipt: receipt.result },
  };
}

/** Payments that this isolate credited lately, whose object need not be asked again. */
const credited = new Memory<Payment['id'], true>(1000);

/**
 * Brings what was bought to the buyer's entitlement, so that a caller who is told of a confirmation can use it at once, also one who
 * is told again. Harmless repeated; the event's job does it anyway, whatever happens here.
 */
export async function grantAccess(ctx: Ctx, payment: Payment): Promise<void> {
  if (payment.status !== 'CONFIRMED' || payment.orphanedAt !== null || credited.has(payment.id)) return;
  try {
    await creditPayment(ctx, payment);
  } catch (error) {
    return ctx.note(`credit: ${storyOf(error)}`);
  }
  credited.set(payment.id, true);
}
