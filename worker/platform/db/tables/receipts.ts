import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, PaymentId, ProductId, ReceiptId } from '#core/ids.ts';
import type { InvoiceMetadata } from '#papers/facts.ts';
import { bytes, flag, instant, json } from './columns.ts';

/** Receipts that are not in the archive (`archivedReceipts`). */
export const receipts = sqliteTable(
  'receipts',
  {
    id: text('id').$type<ReceiptId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    paymentId: text('payment_id').$type<PaymentId>().notNull().unique(),
    /** Found, and kept from having two, by the claim of the payment. */
    txSignature: text('tx_signature').notNull(),
    /** The exact signed text (RFC 8785). Served as it is, never rebuilt. */
    document: text('document').notNull(),
    sha256: text('sha256').notNull(),
    signature: text('signature').notNull(),
    keyId: text('key_id').notNull(),
    /** A copy of a signed fact, to search by. The words of the product name are in `receipt_words`, where a trigger puts them. */
    payer: text('payer').notNull(),
    /** The account paid it, for a plan: it is in the chain of those. false: the account received it. */
    isPaidByOwner: flag('is_paid_by_owner').notNull(),
    /** Place in its hash chain, given afterwards by a job. */
    linkSeq: integer('link_seq'),
    linkPrevHash: text('link_prev_hash'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('receipts_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    index('receipts_by_product').on(table.merchantId, table.livemode, table.productId, table.createdAt),
    index('receipts_by_payer').on(table.merchantId, table.livemode, table.payer, table.createdAt),
    uniqueIndex('receipts_chain').on(table.merchantId, table.livemode, table.isPaidByOwner, table.linkSeq),
    index('receipts_unlinked').on(table.createdAt).where(sql`link_seq IS NULL`),
  ],
);

/**
 * What a merchant wrote to a receipt, one row for each receipt that has any. Made by the merchant alone, ended with the account. Triggers
 * keep invoice number, reference and the buyer's name in `receipt_words` beside the product name, where lists search for them.
 */
export const receiptMetadata = sqliteTable(
  'receipt_metadata',
  {
    receiptId: text('receipt_id').$type<ReceiptId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** Of the receipt: by it, and by exactly this name, its words are taken back out of the index. */
    rowNumber: integer('row_number').notNull(),
    productName: text('product_name').notNull(),
    metadata: json<InvoiceMetadata>('metadata').notNull(),
    version: integer('version').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [index('receipt_metadata_by_merchant').on(table.merchantId)],
);

/** The picture that a merchant's `checkout_logo_url` showed when it was set: papers carry these bytes. Replaced with the setting, ended with the account. */
export const brandLogos = sqliteTable('brand_logos', {
  merchantId: text('merchant_id').$type<AccountId>().primaryKey(),
  url: text('url').notNull(),
  sha256: text('sha256').notNull(),
  bytes: bytes('bytes').notNull(),
});
