import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, MembershipId, PaymentId, ProductId, ReceiptId } from '../core/ids.ts';
import type { Asset } from '../core/money.ts';
import { MEMBERSHIP, type MembershipStatus, PAYMENT, type PaymentStatus, PRODUCT, type ProductStatus } from '../states.ts';
import { amount, flag, instant, json, oneOf } from './columns.ts';

export const products = sqliteTable(
  'products',
  {
    id: text('id').$type<ProductId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    slug: text('slug').notNull().unique(),
    externalProductId: text('external_product_id'),
    name: text('name').notNull(),
    description: text('description'),
    productType: text('product_type').$type<'api' | 'link'>().notNull(),
    status: text('status').$type<ProductStatus>().notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    priceAmount: amount('price_amount').notNull(),
    billingModel: text('billing_model').$type<'one_off' | 'recurring'>().notNull(),
    accessPeriodDays: integer('access_period_days'),
    usageUnits: integer('usage_units'),
    unitName: text('unit_name'),
    payoutWallet: text('payout_wallet'),
    graceHours: integer('grace_hours').notNull(),
    sessionSeconds: integer('session_seconds'),
    successUrl: text('success_url'),
    metadata: json<Record<string, string>>('metadata').notNull(),
    liveModeConfirmed: flag('live_mode_confirmed').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('products_status', 'status', PRODUCT.states),
    uniqueIndex('products_by_external_id').on(table.merchantId, table.livemode, table.externalProductId),
    index('products_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
  ],
);

/** What the buyer was promised when the session began; later edits of the product do not change it. */
export interface PaymentTerms {
  productName: string;
  accessPeriodDays: number | null;
  usageUnits: number | null;
  successUrl: string | null;
}

export const payments = sqliteTable(
  'payments',
  {
    id: text('id').$type<PaymentId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    slug: text('slug').notNull(),
    status: text('status').$type<PaymentStatus>().notNull(),
    failureCode: text('failure_code').$type<'session_expired' | 'underpaid' | 'transaction_failed'>(),
    nonce: text('nonce').notNull().unique(),
    /** The payment's own read-only key on chain. */
    reference: text('reference').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
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
    email: text('email'),
    payerWallet: text('payer_wallet'),
    txSignature: text('tx_signature'),
    slot: integer('slot'),
    blockTime: instant('block_time'),
    membershipId: text('membership_id').$type<MembershipId>(),
    receiptId: text('receipt_id').$type<ReceiptId>(),
    expiresAt: instant('expires_at').notNull(),
    confirmedAt: instant('confirmed_at'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('payments_status', 'status', PAYMENT.states),
    index('payments_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
  ],
);

/**
 * Signatures somebody named for a payment and the chain has not shown us yet. Not claims: at most five, replaceable, and
 * only ones we broadcast ourselves (`origin: sent`) are kept against newcomers. (contract section 3 "confirm")
 */
export const paymentCandidates = sqliteTable(
  'payment_candidates',
  {
    paymentId: text('payment_id').$type<PaymentId>().notNull(),
    txSignature: text('tx_signature').notNull(),
    origin: text('origin').$type<'sent' | 'named'>().notNull(),
    attempt: integer('attempt').notNull(),
    nextCheckAt: instant('next_check_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('payment_candidates_once').on(table.paymentId, table.txSignature),
    index('payment_candidates_due').on(table.nextCheckAt),
  ],
);

/** One transaction pays one thing in the whole service, for ever. (architecture section 7) */
export const txClaims = sqliteTable('tx_claims', {
  txSignature: text('tx_signature').primaryKey(),
  kind: text('kind').$type<'payment'>().notNull(),
  subjectId: text('subject_id').notNull().unique(),
  createdAt: instant('created_at').notNull(),
});

export const memberships = sqliteTable(
  'memberships',
  {
    id: text('id').$type<MembershipId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    /** `ref:<customer_ref>` or `wallet:<address>`; with the three above the lock that two first purchases need. */
    customerKey: text('customer_key').notNull(),
    walletAddress: text('wallet_address'),
    customerRef: text('customer_ref'),
    email: text('email'),
    status: text('status').$type<MembershipStatus>().notNull(),
    paidThrough: instant('paid_through'),
    lastPaymentId: text('last_payment_id').$type<PaymentId>().notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('memberships_status', 'status', MEMBERSHIP.states),
    uniqueIndex('memberships_by_customer').on(table.merchantId, table.livemode, table.productId, table.customerKey),
    index('memberships_by_wallet').on(table.merchantId, table.livemode, table.walletAddress),
    index('memberships_by_ref').on(table.merchantId, table.livemode, table.customerRef),
    index('memberships_by_email').on(table.merchantId, table.livemode, table.email),
  ],
);

export const receipts = sqliteTable(
  'receipts',
  {
    id: text('id').$type<ReceiptId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    paymentId: text('payment_id').$type<PaymentId>().notNull().unique(),
    txSignature: text('tx_signature').notNull().unique(),
    /** The exact signed text (RFC 8785). Served as it is, never rebuilt. */
    document: text('document').notNull(),
    sha256: text('sha256').notNull(),
    signature: text('signature').notNull(),
    keyId: text('key_id').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('receipts_by_merchant').on(table.merchantId, table.livemode, table.createdAt)],
);
