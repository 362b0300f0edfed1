import { formatErrorChain } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { creditPayment } from '#features/entitlements/credit-payments.ts';
import { type Purchase, planMembership } from '#features/memberships/membership.ts';
import type { Anchor } from '#features/receipts/hash-chain.ts';
import { type NewReceipt, planReceipt } from '#features/receipts/receipt.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { purchasedDeliveryOf } from '#rules/members/placement.ts';
import { memoOf } from './resource.ts';

export interface Proof {
  txSignature: string;
  slot: number;
  blockTime: number;
  payer: string;
  paidUnits: bigint;
  feePaidUnits: bigint;
}

export function planPurchase(
  ctx: Shard,
  payment: Payment,
  { merchantName, memberships, anchor }: { merchantName: string; memberships: Membership[]; anchor: Anchor },
  proof: Proof,
  subscription: Purchase['subscription'] = null,
): Change<{ membership: Membership; receipt: NewReceipt }> {
  const { payer: payerWallet } = proof;
  const existing = memberships.find(({ customerKey }) => payment.customerRef !== null || customerKey === `wallet:${payerWallet}`) ?? null;
  const membership = planMembership(ctx, existing, {
    ...payment,
    paymentId: payment.id,
    payerWallet,
    accessPeriodDays: payment.terms.accessPeriodDays,
    graceHours: payment.terms.graceHours ?? null,
    periodEndsAt: payment.terms.periodEndsAt,
    ...purchasedDeliveryOf(payment),
    subscription,
  });
  const facts = {
    txSignature: proof.txSignature,
    slot: proof.slot,
    blockTime: proof.blockTime,
    payer: payerWallet,
    recipient: payment.recipientWallet,
    amount: { asset: payment.asset, units: proof.paidUnits },
    // The received fee, not the due one: a receipt proves facts.
    fee: proof.feePaidUnits > 0n ? { asset: payment.asset, units: proof.feePaidUnits } : null,
    productId: payment.productId,
    productName: payment.terms.productName,
    merchant: { accountId: payment.merchantId, displayName: merchantName },
    memo: payment.terms.isOwnersCollection ? '' : memoOf(payment),
    livemode: payment.livemode,
    quote: payment.terms.quote ?? null,
  };
  const receipt = planReceipt(ctx, payment.id, facts, anchor);
  return {
    events: [...membership.events, ...receipt.events],
    writes: [...membership.writes, ...receipt.writes],
    result: { membership: membership.result, receipt: receipt.result },
  };
}

/** Cache of payments credited by this isolate, so that their objects need not be called again. */
const credited = new Memory<Payment['id'], true>(1000);

/**
 * Credits a purchase to the buyer's entitlement, so that the caller can use it right after a confirmation or its replay. Idempotent. The
 * event's job does the same, whatever happens here.
 */
export async function grantAccess(ctx: Ctx, payment: Payment): Promise<void> {
  if (payment.status !== 'CONFIRMED' || payment.orphanedAt !== null || credited.has(payment.id)) return;
  try {
    await creditPayment(ctx, payment);
  } catch (error) {
    return ctx.note(`credit: ${formatErrorChain(error)}`);
  }
  credited.set(payment.id, true);
}
