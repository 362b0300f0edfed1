import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, MembershipId, PaymentId, PaymentSessionId, ProductId, ReceiptId, RefundId, UnmatchedId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import type { PaymentFailure, PaymentTerms } from '#rules/payment-terms.ts';
import { PAYMENT, type PaymentStatus, UNMATCHED, type UnmatchedStatus } from '#rules/states.ts';
import { amount, fateColumns, flag, instant, json, oneOf } from './columns.ts';

/** Money of a payment that the chain shows was paid back; base units as decimal text, `at` the time of its block. */
export interface Refund {
  units: string;
  txSignature: string;
  at: number;
}

/** Payments of every state. Final ones that are old are in the archive instead (`archivedPayments`). */
export const payments = sqliteTable(
  'payments',
  {
    id: text('id').$type<PaymentId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    slug: text('slug').notNull(),
    status: text('status').$type<PaymentStatus>().notNull(),
    failureCode: text('failure_code').$type<PaymentFailure>(),
    nonce: text('nonce').notNull(),
    /** The payment's own read-only key on chain. */
    reference: text('reference').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    /** NATIVE_MINT (the empty text) for SOL, whose account is the wallet itself. */
    mint: text('mint').notNull(),
    priceAmount: amount('price_amount').notNull(),
    recipientWallet: text('recipient_wallet').notNull(),
    recipientAta: text('recipient_ata').notNull(),
    feeAmount: amount('fee_amount'),
    feeWallet: text('fee_wallet'),
    feeAta: text('fee_ata'),
    feeOwedAmount: amount('fee_owed_amount'),
    overpaidAmount: amount('overpaid_amount'),
    terms: json<PaymentTerms>('terms').notNull(),
    /** The wallet the session was opened for, if it said so; only its own failed transaction can fail the payment. */
    expectedWallet: text('expected_wallet'),
    customerRef: text('customer_ref'),
    /** A wallet that was named as the customer; null: the payer. */
    customerWallet: text('customer_wallet'),
    email: text('email'),
    payerWallet: text('payer_wallet'),
    txSignature: text('tx_signature'),
    slot: integer('slot'),
    blockTime: instant('block_time'),
    membershipId: text('membership_id').$type<MembershipId>(),
    receiptId: text('receipt_id').$type<ReceiptId>(),
    /** The session of a merchant's server that it was begun in. */
    paymentSessionId: text('payment_session_id').$type<PaymentSessionId>(),
    /** Made by accepting money that had missed this other payment. */
    recoversPaymentId: text('recovers_payment_id').$type<PaymentId>(),
    expiresAt: instant('expires_at').notNull(),
    /** How much later than that a block may still be on time. Of this payment, because a deployment may change its setting. */
    lateGraceSeconds: integer('late_grace_seconds').notNull().default(120),
    confirmedAt: instant('confirmed_at'),
    /** What became of its transaction afterwards, as a payment shows it. The claim is what is watched and believed. */
    finalizedAt: instant('finalized_at'),
    orphanedAt: instant('orphaned_at'),
    /** null: nothing was refunded. */
    refunds: json<Refund[]>('refunds'),
    /** When a refund took back what it had bought. It carries its membership no more. */
    accessRevokedAt: instant('access_revoked_at'),
    /** Failed, and with money to tell of: it never becomes an ended session. */
    isKept: flag('is_kept').notNull().default(false),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('payments_status', 'status', PAYMENT.states),
    index('payments_unpaid').on(table.expiresAt).where(sql`status = 'FAILED' AND is_kept = 0`),
    // Only sessions own a nonce: recovered money carries the memo of another, and one challenge of x402 may be paid twice.
    uniqueIndex('payments_by_nonce').on(table.livemode, table.nonce).where(sql`recovers_payment_id IS NULL AND reference <> ''`),
    index('payments_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    index('payments_by_status').on(table.merchantId, table.livemode, table.status, table.createdAt),
    index('payments_by_product').on(table.merchantId, table.livemode, table.productId, table.createdAt),
    index('payments_by_payer')
      .on(table.merchantId, table.livemode, table.payerWallet, table.createdAt)
      .where(sql`payer_wallet IS NOT NULL`),
    index('payments_by_ref').on(table.merchantId, table.livemode, table.customerRef, table.createdAt).where(sql`customer_ref IS NOT NULL`),
    index('payments_by_email').on(table.merchantId, table.livemode, table.email).where(sql`email IS NOT NULL`),
    // A claim tells which payment a confirmed transaction is of.
    index('payments_by_signature').on(table.txSignature).where(sql`status <> 'CONFIRMED' AND tx_signature IS NOT NULL`),
    index('payments_expiring').on(table.expiresAt).where(sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 1`),
    index('sandbox_payments_expiring')
      .on(table.expiresAt)
      .where(sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 0`),
    index('payments_recovering').on(table.recoversPaymentId).where(sql`recovers_payment_id IS NOT NULL`),
    index('payments_by_membership').on(table.membershipId, table.confirmedAt).where(sql`membership_id IS NOT NULL`),
    index('payments_unfinalized')
      .on(table.confirmedAt)
      .where(sql`status = 'CONFIRMED' AND finalized_at IS NULL AND orphaned_at IS NULL AND livemode = 1`),
  ],
);

/** Money that arrived and pays no session: late, short, or a second time. Never lost from sight. */
export const unmatchedPayments = sqliteTable(
  'unmatched_payments',
  {
    id: text('id').$type<UnmatchedId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    paymentId: text('payment_id').$type<PaymentId>().notNull(),
    txSignature: text('tx_signature').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    amount: amount('amount').notNull(),
    /** Part of the amount that went to the service. */
    feePaidAmount: amount('fee_paid_amount').notNull(),
    payerWallet: text('payer_wallet').notNull(),
    slot: integer('slot').notNull(),
    blockTime: instant('block_time').notNull(),
    reason: text('reason').$type<'late' | 'underpaid' | 'second_payment' | 'identity_missing'>().notNull(),
    status: text('status').$type<UnmatchedStatus>().notNull(),
    recoveredPaymentId: text('recovered_payment_id').$type<PaymentId>(),
    /** While it is open; once accepted, its claim is watched. */
    ...fateColumns(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    oneOf('unmatched_payments_status', 'status', UNMATCHED.states),
    // A transaction is recorded once in each mode: what a sandbox shows is no transaction of the real chain.
    uniqueIndex('unmatched_by_signature').on(table.livemode, table.txSignature).where(sql`tx_signature IS NOT NULL`),
    index('unmatched_due').on(table.nextLookAt).where(sql`next_look_at IS NOT NULL AND livemode = 1`),
    index('sandbox_unmatched_due').on(table.nextLookAt).where(sql`next_look_at IS NOT NULL AND livemode = 0`),
    // Of a payment the largest first: only those are shown.
    index('unmatched_of_payment').on(table.paymentId, sql`length(amount)`, table.amount),
  ],
);

export type Payment = typeof payments.$inferSelect;

export type Unmatched = typeof unmatchedPayments.$inferSelect;

/**
 * Money that a merchant was given a transaction for to pay it back, and whether the chain showed it. Made by the merchant, one at a time
 * of a payment; one that never landed ends a week after it could, one that did stays, as its claim does.
 */
export const refunds = sqliteTable(
  'refunds',
  {
    id: text('id').$type<RefundId>().primaryKey(),
    /** Of its memo, `svc-refund:<nonce>`. */
    nonce: text('nonce').notNull(),
    paymentId: text('payment_id').$type<PaymentId>().notNull(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** As it was prepared; once it was seen, what really came back. */
    amount: amount('amount').notNull(),
    /** What the payment bought is taken back when this is seen. */
    revokesAccess: flag('revokes_access').notNull(),
    /** When its blockhash is most likely dead: what the merchant is told, and no proof. */
    expiresAt: instant('expires_at').notNull(),
    /** Above this height its transaction cannot land. */
    lastValidBlockHeight: integer('last_valid_block_height').notNull(),
    /** When the finalized chain was found above that height. It has not landed where the cursor has passed this moment without finding it. */
    lapsedAt: instant('lapsed_at'),
    txSignature: text('tx_signature'),
    seenAt: instant('seen_at'),
    /** Of the block it landed in; null: not seen yet, or the node did not say, and then `seen_at` is told. */
    blockTime: instant('block_time'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('refunds_by_nonce').on(table.livemode, table.nonce).where(sql`nonce IS NOT NULL`),
    index('refunds_of_payment').on(table.paymentId, table.expiresAt),
    index('refunds_ending').on(table.expiresAt).where(sql`seen_at IS NULL`),
  ],
);

export type RefundRow = typeof refunds.$inferSelect;
