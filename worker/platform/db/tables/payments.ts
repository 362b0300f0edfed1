import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, MembershipId, PaymentId, PaymentSessionId, ProductId, ReceiptId, RefundId, UnmatchedId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import type { PaymentFailure, PaymentTerms } from '#rules/payment-terms.ts';
import { PAYMENT, type PaymentStatus, UNMATCHED, type UnmatchedStatus } from '#rules/states.ts';
import { addressBytes, amount, flag, instant, json, oneOf, outcomeColumns, uuidBytes } from './columns.ts';

/** Refund of a payment as shown by the chain. Base units as decimal text, `at` is the block time. */
export interface Refund {
  units: string;
  txSignature: string;
  at: number;
}

/** Payments of every state. Old final ones are in the archive instead (`archivedPayments`). */
export const payments = sqliteTable(
  'payments',
  {
    id: uuidBytes('id').$type<PaymentId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    slug: text('slug').notNull(),
    status: text('status').$type<PaymentStatus>().notNull(),
    failureCode: text('failure_code').$type<PaymentFailure>(),
    nonce: text('nonce').notNull(),
    reference: addressBytes('reference').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    /** NATIVE_MINT (the empty text) for SOL. The wallet itself is then the receiving account. */
    mint: addressBytes('mint').notNull(),
    priceAmount: amount('price_amount').notNull(),
    recipientWallet: addressBytes('recipient_wallet').notNull(),
    recipientAta: addressBytes('recipient_ata').notNull(),
    feeAmount: amount('fee_amount'),
    feeWallet: addressBytes('fee_wallet'),
    feeAta: addressBytes('fee_ata'),
    feeOwedAmount: amount('fee_owed_amount'),
    overpaidAmount: amount('overpaid_amount'),
    terms: json<PaymentTerms>('terms').notNull(),
    /** Wallet that the session was opened for, if given. Only this wallet's failed transaction can fail the payment. */
    expectedWallet: text('expected_wallet'),
    customerRef: text('customer_ref'),
    customerWallet: addressBytes('customer_wallet'),
    email: text('email'),
    payerWallet: addressBytes('payer_wallet'),
    txSignature: text('tx_signature'),
    slot: integer('slot'),
    blockTime: instant('block_time'),
    membershipId: uuidBytes('membership_id').$type<MembershipId>(),
    receiptId: uuidBytes('receipt_id').$type<ReceiptId>(),
    paymentSessionId: uuidBytes('payment_session_id').$type<PaymentSessionId>(),
    /** Payment that the accepted unmatched money was meant for. */
    recoversPaymentId: uuidBytes('recovers_payment_id').$type<PaymentId>(),
    expiresAt: instant('expires_at').notNull(),
    /** Tolerance for block times after `expiresAt`. Stored per payment, because a deployment may change its setting. */
    lateGraceSeconds: integer('late_grace_seconds').notNull().default(120),
    confirmedAt: instant('confirmed_at'),
    /** Outcome of the transaction for display. The claim is authoritative. */
    finalizedAt: instant('finalized_at'),
    orphanedAt: instant('orphaned_at'),
    refunds: json<Refund[]>('refunds'),
    /** Time at which a refund revoked the purchased access. The payment then no longer extends its membership. */
    accessRevokedAt: instant('access_revoked_at'),
    /** Failed, with money on record: never reduced to an ended session. */
    isRetained: flag('is_retained').notNull().default(false),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('payments_status', 'status', PAYMENT.states),
    index('payments_unpaid').on(table.expiresAt).where(sql`status = 'FAILED' AND is_retained = 0`),
    // Only sessions own a nonce: recovered money carries the memo of another payment, and one x402 challenge may be paid twice.
    uniqueIndex('payments_by_nonce').on(table.livemode, table.nonce).where(sql`recovers_payment_id IS NULL AND reference <> ''`),
    // The list of all payments is merged from these three.
    index('payments_pending')
      .on(table.merchantId, table.livemode, table.createdAt)
      .where(sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION')`),
    index('payments_confirmed').on(table.merchantId, table.livemode, table.createdAt).where(sql`status = 'CONFIRMED'`),
    index('payments_failed').on(table.merchantId, table.livemode, table.createdAt).where(sql`status = 'FAILED'`),
    index('payments_by_product').on(table.merchantId, table.livemode, table.productId, table.createdAt),
    index('payments_by_payer')
      .on(table.merchantId, table.livemode, table.payerWallet, table.createdAt)
      .where(sql`payer_wallet IS NOT NULL`),
    // Payments by one wallet for another, which an agent named as the customer.
    index('payments_by_other')
      .on(table.merchantId, table.livemode, table.customerWallet, table.createdAt)
      .where(sql`customer_wallet <> payer_wallet`),
    index('payments_by_ref').on(table.merchantId, table.livemode, table.customerRef, table.createdAt).where(sql`customer_ref IS NOT NULL`),
    index('payments_by_email').on(table.merchantId, table.livemode, table.email).where(sql`email IS NOT NULL`),
    // Confirmed payments are found through their claim instead.
    index('payments_by_signature').on(table.txSignature).where(sql`status <> 'CONFIRMED' AND tx_signature IS NOT NULL`),
    index('payments_expiring').on(table.expiresAt).where(sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 1`),
    index('sandbox_payments_expiring')
      .on(table.expiresAt)
      .where(sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 0`),
    // Counts the open sessions of a product.
    index('payments_open').on(table.productId).where(sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION')`),
    index('payments_recovering').on(table.recoversPaymentId).where(sql`recovers_payment_id IS NOT NULL`),
    index('payments_by_membership').on(table.membershipId, table.confirmedAt).where(sql`membership_id IS NOT NULL`),
  ],
);

/** Money that arrived and pays no session: late, short, or a second payment. Never deleted silently. */
export const unmatchedPayments = sqliteTable(
  'unmatched_payments',
  {
    id: uuidBytes('id').$type<UnmatchedId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull(),
    txSignature: text('tx_signature').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    amount: amount('amount').notNull(),
    feePaidAmount: amount('fee_paid_amount').notNull(),
    payerWallet: text('payer_wallet').notNull(),
    slot: integer('slot').notNull(),
    blockTime: instant('block_time').notNull(),
    reason: text('reason').$type<'late' | 'underpaid' | 'second_payment' | 'identity_missing'>().notNull(),
    status: text('status').$type<UnmatchedStatus>().notNull(),
    recoveredPaymentId: uuidBytes('recovered_payment_id').$type<PaymentId>(),
    /** Used while open. Once accepted, the claim is watched instead. */
    ...outcomeColumns(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    oneOf('unmatched_payments_status', 'status', UNMATCHED.states),
    // Unique per mode, because a sandbox transaction does not exist on the real chain.
    uniqueIndex('unmatched_by_signature').on(table.livemode, table.txSignature).where(sql`tx_signature IS NOT NULL`),
    index('unmatched_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 1`),
    index('sandbox_unmatched_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 0`),
    index('unmatched_by_merchant').on(table.merchantId, table.livemode, table.status, table.createdAt),
    // Largest first per payment, because only those are shown.
    index('unmatched_of_payment').on(table.paymentId, sql`length(amount)`, table.amount),
  ],
);

export type Payment = typeof payments.$inferSelect;

export type Unmatched = typeof unmatchedPayments.$inferSelect;

/**
 * Refunds that merchants prepared, and their confirmation on the chain. Inserted by the merchant, one at a time per payment. A refund that
 * never landed is deleted a week after it could land, one that landed is retained with its claim.
 */
export const refunds = sqliteTable(
  'refunds',
  {
    id: uuidBytes('id').$type<RefundId>().primaryKey(),
    nonce: text('nonce').notNull(),
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** Prepared amount, replaced by the amount that the chain shows. */
    amount: amount('amount').notNull(),
    revokesAccess: flag('revokes_access').notNull(),
    /** Estimated expiry of the blockhash, shown to the merchant. Not a proof. */
    expiresAt: instant('expires_at').notNull(),
    lastValidBlockHeight: integer('last_valid_block_height').notNull(),
    /**
     * Time at which the finalized chain was above that height. The refund has not landed if the cursor has passed this moment without
     * finding it.
     */
    lapsedAt: instant('lapsed_at'),
    txSignature: text('tx_signature'),
    seenAt: instant('seen_at'),
    /** Time of the block. null: not seen yet, or the node did not report the time, in which case `seen_at` is shown. */
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
