import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, PaymentId, ProductId, ReceiptId } from '#core/ids.ts';
import type { InvoiceMetadata, Party } from '#pdf/facts.ts';
import { addressBytes, bytes, flag, hashBytes, instant, json, signatureBytes, squeezed, uuidBytes } from './columns.ts';

/** Receipts not yet in the archive (`archivedReceipts`). */
export const receipts = sqliteTable(
  'receipts',
  {
    id: uuidBytes('id').$type<ReceiptId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    /**
     * A payment has one receipt, held by the payment's version and key (an activation's key for plans). No index: the receipt is found by
     * `payments.receipt_id` or `activations.receipt_id`.
     */
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull(),
    txSignature: signatureBytes('tx_signature').notNull(),
    /** Exact signed text (RFC 8785). Served unchanged, never rebuilt. */
    document: squeezed('document').notNull(),
    /** Copy of a signed fact, for search: SQL cannot read the document. A trigger notes new names in `receipt_names`. */
    productName: text('product_name').notNull(),
    sha256: hashBytes('sha256').notNull(),
    signature: signatureBytes('signature').notNull(),
    keyId: text('key_id').notNull(),
    /** Copy of a signed fact, for lists. */
    payer: addressBytes('payer').notNull(),
    /** True if the account paid for a plan, false if the account received the payment. Selects the hash chain. */
    isPaidByOwner: flag('is_paid_by_owner').notNull(),
    /** Position in the hash chain, from 1. Numbered inside the INSERT. */
    seq: integer('seq').notNull(),
    /** Number of received receipts before a paid one: its position in the list of both. */
    afterSeq: integer('after_seq'),
    /** Hash of an earlier link of the chain, usually the previous one. The hash of the previous link follows from it (hash-chain.ts). */
    anchorSeq: integer('anchor_seq').notNull(),
    anchorHash: hashBytes('anchor_hash').notNull(),
    /** `limit`: the buyer's email was not sent, because a limit was full. null: no email was withheld. */
    emailNote: text('email_note').$type<'limit'>(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    // Also the order of the list. Lists of a product or wallet go through the payments.
    uniqueIndex('receipts_chain').on(table.merchantId, table.livemode, table.isPaidByOwner, table.seq),
  ],
);

/**
 * Names on receipts, each once per product, for list search. A trigger of `receipts` inserts them, and triggers index them in `name_words`.
 * Retained with the receipts. Those of test sales are deleted with these.
 */
export const receiptNames = sqliteTable(
  'receipt_names',
  {
    id: integer('id').primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    name: text('name').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    /** Every payment under this name was created from `since` to `until`, so that a search for an old name reads little of the others. */
    since: instant('since').notNull(),
    until: instant('until').notNull(),
  },
  (table) => [uniqueIndex('receipt_names_once').on(table.merchantId, table.livemode, table.name, table.productId)],
);

/**
 * Merchant's notes on a receipt, one row per receipt with any. A buyer writes `bill_to` alone. Deleted with the account. Triggers index
 * invoice number, reference and buyer name in `invoice_words`, with the product name, for list search.
 */
export const receiptMetadata = sqliteTable(
  'receipt_metadata',
  {
    receiptId: uuidBytes('receipt_id').$type<ReceiptId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** Row number of the receipt. A trigger needs it and the exact `productName` to delete the terms from the index. */
    rowNumber: integer('row_number').notNull(),
    productName: text('product_name').notNull(),
    metadata: json<InvoiceMetadata>('metadata').notNull(),
    /** Subject of the buyer that wrote `bill_to`. null: the merchant did. */
    billedBy: bytes('billed_by'),
    version: integer('version').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [index('receipt_metadata_by_merchant').on(table.merchantId)],
);

/**
 * Details of a buyer for the invoices of one merchant, and the buyer's last request of erasure: one row per subject, which only buyers of
 * the merchant make. Deleted with the account.
 */
export const buyerDetails = sqliteTable(
  'buyer_details',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** Half of the SHA-256 of the subject (`buyerKeyOf`). */
    buyerKey: bytes('buyer_key').notNull(),
    billTo: json<Party>('bill_to'),
    erasureAskedAt: instant('erasure_asked_at'),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.buyerKey] })],
);

/** Image of the merchant's `checkout_logo_url` when set, for PDFs. Replaced with the setting, deleted with the account. */
export const brandLogos = sqliteTable('brand_logos', {
  merchantId: uuidBytes('merchant_id').$type<AccountId>().primaryKey(),
  url: text('url').notNull(),
  sha256: text('sha256').notNull(),
  bytes: bytes('bytes').notNull(),
});
