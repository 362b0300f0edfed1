import type { AccountId, PaymentId, ProductId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import { planReceipt } from '#features/receipts/receipt.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { paymentEvent } from './payment.ts';
import type { Proof } from './purchase.ts';
import { memoOf } from './resource.ts';
import { insertPayment } from './store.ts';

/** What an agent bought with one x402 payment, as it was when its payment was claimed. */
export interface PerRequestSale {
  paymentId: PaymentId;
  merchantId: AccountId;
  merchantName: string;
  livemode: boolean;
  productId: ProductId;
  productName: string;
  slug: string;
  nonce: string;
  asset: Asset;
  mint: string;
  amount: bigint;
  recipientWallet: string;
  recipientAta: string;
  customerRef: string | null;
  customerWallet: string | null;
  accessPeriodDays: number | null;
  usageUnits: number | null;
  createdAt: number;
  expiresAt: number;
}

/** A payment that is born confirmed: the row, its receipt and two events. No session came before it, and no membership follows. */
export function planPerRequest(ctx: Shard, sale: PerRequestSale, proof: Proof): Change<Payment> {
  const payment = confirmedPayment(ctx, sale, proof);
  const receipt = planReceipt(ctx, payment.id, {
    txSignature: proof.txSignature,
    slot: proof.slot,
    blockTime: proof.blockTime,
    payer: proof.payer,
    recipient: payment.recipientWallet,
    amount: { asset: payment.asset, units: payment.priceAmount },
    fee: null,
    productId: payment.productId,
    productName: sale.productName,
    merchant: { accountId: payment.merchantId, displayName: sale.merchantName },
    memo: memoOf(payment),
    livemode: payment.livemode,
  });
  const row = { ...payment, receiptId: receipt.result.id };
  return {
    events: [paymentEvent(ctx, 'payment.confirmed', row), ...receipt.events],
    writes: [insertPayment(ctx.db, row), ...receipt.writes],
    result: row,
  };
}

const confirmedPayment = ({ now }: Ctx, sale: PerRequestSale, proof: Proof): Payment => ({
  id: sale.paymentId,
  merchantId: sale.merchantId,
  livemode: sale.livemode,
  productId: sale.productId,
  slug: sale.slug,
  status: 'CONFIRMED',
  failureCode: null,
  nonce: sale.nonce,
  // Agents’ transactions carry no reference keys: we send them, so nobody has to find them.
  reference: '',
  asset: sale.asset,
  mint: sale.mint,
  priceAmount: sale.amount,
  recipientWallet: sale.recipientWallet,
  recipientAta: sale.recipientAta,
  feeAmount: null,
  feeWallet: null,
  feeAta: null,
  feeOwedAmount: null,
  overpaidAmount: null,
  terms: { productName: sale.productName, accessPeriodDays: sale.accessPeriodDays, usageUnits: sale.usageUnits, successUrl: null },
  expectedWallet: null,
  customerRef: sale.customerRef,
  customerWallet: sale.customerWallet,
  email: null,
  payerWallet: proof.payer,
  txSignature: proof.txSignature,
  slot: proof.slot,
  blockTime: proof.blockTime,
  membershipId: null,
  receiptId: null,
  paymentSessionId: null,
  recoversPaymentId: null,
  expiresAt: sale.expiresAt,
  // Nobody waits for it: what agents pay is sent by us, and on the chain before it is a payment.
  lateGraceSeconds: 0,
  confirmedAt: now,
  finalizedAt: null,
  orphanSuspectedAt: null,
  orphanedAt: null,
  isKept: false,
  createdAt: sale.createdAt,
  updatedAt: now,
  version: 1,
});
