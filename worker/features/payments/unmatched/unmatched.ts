import { newId, type PaymentId, type UnmatchedId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import type { Purchase } from '#features/memberships/membership.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { type Change, unchanged } from '#platform/db/commit.ts';
import { FINAL_AFTER_MS, type OutcomeHandler, storeStep } from '#platform/db/outcome.ts';
import type { Payment, Unmatched } from '#platform/db/tables/payments.ts';
import type { loadConfirmation } from '../confirm/store.ts';
import { UNPAID } from '../new-payment.store.ts';
import { paymentEvent } from '../payment.ts';
import { type Proof, planPurchase } from '../purchase.ts';
import { toPaymentResource, toUnmatchedResource } from '../resource.ts';
import { claimTransaction, closeUnmatched, holdRecovered, insertPayment, insertUnmatched, listUnmatchedOf } from '../store.ts';

type Loaded = NonNullable<Awaited<ReturnType<typeof loadConfirmation>>>;

/** `arrived`: money that missed the payment, if the caller has read it. */
export async function viewPayment(ctx: Scope, payment: Payment, view: 'buyer' | 'merchant', arrived?: Unmatched[]) {
  const unmatched = arrived ?? (await listUnmatchedOf(ctx.db, [payment.id]));
  return { now: iso(ctx.now), payment: toPaymentResource(ctx, payment, view, unmatched) };
}

/**
 * Records money that arrived and pays no session, once per transaction, for the merchant to decide. Includes dust, because its sender pays
 * the network fee.
 */
export function planUnmatched(ctx: Shard, { payment, unmatched }: Loaded, proof: Proof, reason: Unmatched['reason']): Change<null> {
  if (unmatched) return unchanged(null);
  const row: Unmatched = {
    id: newId<UnmatchedId>(ctx.now, payment.merchantId),
    merchantId: payment.merchantId,
    livemode: payment.livemode,
    paymentId: payment.id,
    txSignature: proof.txSignature,
    asset: payment.asset,
    amount: proof.paidUnits,
    feePaidAmount: proof.feePaidUnits,
    payerWallet: proof.payer,
    slot: proof.slot,
    blockTime: proof.blockTime,
    reason,
    status: 'open',
    recoveredPaymentId: null,
    finalAt: null,
    doubtedAt: null,
    droppedAt: null,
    nextCheckAt: ctx.now + FINAL_AFTER_MS,
    createdAt: ctx.now,
  };
  const event = {
    merchantId: row.merchantId,
    livemode: row.livemode,
    type: 'payment.unmatched',
    subject: { type: 'unmatched_payment', id: row.id, version: 1 },
    object: toUnmatchedResource(row),
    productId: payment.productId,
    paymentId: payment.id,
  } as const;
  return { events: [event], writes: insertUnmatched(ctx, row), result: null };
}

/**
 * Plans a new, confirmed payment from money that missed its session. FAILED stays FAILED. The new payment names the session that it
 * recovers, carries the memo on the chain and counts the received amount.
 */
export function planRecovery(
  ctx: Shard,
  { payment, ...sale }: Loaded,
  proof: Proof,
  subscription: Purchase['subscription'] = null,
): Change<Payment> {
  const isFullPrice = proof.paidUnits >= payment.priceAmount;
  const recovered: Payment = {
    ...payment,
    ...UNPAID,
    id: newId<PaymentId>(ctx.now, payment.merchantId),
    recoversPaymentId: payment.id,
    status: 'CONFIRMED',
    failureCode: null,
    priceAmount: isFullPrice ? payment.priceAmount : proof.paidUnits,
    overpaidAmount: proof.paidUnits > payment.priceAmount ? proof.paidUnits - payment.priceAmount : null,
    // A full price owes the fee, paid or not. A short one counts the fee that came along.
    feeAmount: isFullPrice ? payment.feeAmount : proof.feePaidUnits || null,
    feeOwedAmount: (isFullPrice && payment.feeAmount !== null && payment.feeAmount - proof.feePaidUnits) || null,
    payerWallet: proof.payer,
    txSignature: proof.txSignature,
    slot: proof.slot,
    blockTime: proof.blockTime,
    confirmedAt: ctx.now,
    createdAt: ctx.now,
    updatedAt: ctx.now,
    version: 1,
  };
  const bought = planPurchase(ctx, recovered, sale, proof, subscription);
  const row = { ...recovered, membershipId: bought.result.membership.id, receiptId: bought.result.receipt.id };
  return {
    events: [paymentEvent(ctx, 'payment.confirmed', row), ...bought.events],
    writes: [
      claimTransaction(ctx, row, proof),
      insertPayment(ctx.db, row),
      closeUnmatched(ctx.db, proof.txSignature, row),
      ...holdRecovered(ctx.db, row),
      ...bought.writes,
    ],
    result: row,
  };
}

/** Unmatched money stays open until the merchant decides. Only money still on the chain can be accepted. */
export const unmatchedOutcome: OutcomeHandler = {
  onFinal: (ctx, _ids, step) => storeStep(ctx, step),
  onDropped: (ctx, _id, step) => storeStep(ctx, step),
  onReturned: (ctx, _id, step) => storeStep(ctx, step),
};
