import type { AccountId, PaymentId, ProductId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import type { Anchor } from '#features/receipts/hash-chain.ts';
import { planReceipt } from '#features/receipts/receipt.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { newPayment } from './new-payment.store.ts';
import { paymentEvent } from './payment.ts';
import type { Proof } from './purchase.ts';
import { memoOf } from './resource.ts';
import { insertPayment } from './store.ts';

interface PerRequestSale {
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
  isMetered: boolean;
  paymentIdentifier?: string | undefined;
  /** Channel that another party made pay out, without a memo of this service. */
  channelId?: string;
  createdAt: number;
  expiresAt: number;
}

/** Plans a confirmed payment: the row, its receipt and two events. There is no session and no membership. */
export function planSessionlessPayment(ctx: Shard, sale: PerRequestSale, proof: Proof, anchor: Anchor): Change<Payment> {
  const payment = confirmedPayment(ctx, sale, proof);
  const facts = {
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
    memo: sale.channelId === undefined ? memoOf(payment) : '',
    livemode: payment.livemode,
  };
  const receipt = planReceipt(ctx, payment.id, facts, anchor);
  const row = { ...payment, receiptId: receipt.result.id };
  return {
    events: [paymentEvent(ctx, 'payment.confirmed', row), ...receipt.events],
    writes: [insertPayment(ctx.db, row), ...receipt.writes],
    result: row,
  };
}

const confirmedPayment = (ctx: Ctx, sale: PerRequestSale, { payer: payerWallet, txSignature, slot, blockTime }: Proof): Payment =>
  newPayment(ctx.now, {
    id: sale.paymentId,
    merchantId: sale.merchantId,
    livemode: sale.livemode,
    productId: sale.productId,
    slug: sale.slug,
    status: 'CONFIRMED',
    nonce: sale.nonce,
    // An agent's transaction carries no reference key: the service sends it, so no scan has to find it.
    reference: '',
    asset: sale.asset,
    mint: sale.mint,
    priceAmount: sale.amount,
    recipientWallet: sale.recipientWallet,
    recipientAta: sale.recipientAta,
    terms: {
      productName: sale.productName,
      accessPeriodDays: sale.accessPeriodDays,
      usageUnits: sale.usageUnits,
      successUrl: null,
      ...(sale.isMetered ? { isMetered: true as const } : {}),
      ...(sale.channelId === undefined ? {} : { channelId: sale.channelId }),
      ...(sale.paymentIdentifier === undefined ? {} : { paymentIdentifier: sale.paymentIdentifier }),
    },
    customerRef: sale.customerRef,
    customerWallet: sale.customerWallet,
    payerWallet,
    txSignature,
    slot,
    blockTime,
    expiresAt: sale.expiresAt,
    // Zero, because the transaction is on the chain before the payment exists.
    lateGraceSeconds: 0,
    confirmedAt: ctx.now,
    createdAt: sale.createdAt,
  });
