import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, sqliteView, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, MembershipId, PaymentId, ProductId, ReceiptId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import { addressStart, amount, flag, instant, nonceHash, uuidBytes } from './columns.ts';

/**
 * Archive objects: a run of a merchant's events of one day, in order, with their receipts. Inserted only by the sweep, in the batch that
 * deletes the events, and never deleted.
 */
export const archives = sqliteTable(
  'archives',
  {
    /** In the order of the objects, and unique over all databases (`numbers.ts`). */
    id: integer('id').primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** Object name. It contains a content hash and the id of the run, so that no other run writes under the same name. */
    key: text('key').notNull(),
    firstEventId: text('first_event_id').notNull(),
    lastEventId: text('last_event_id').notNull(),
  },
  (table) => [
    index('archives_by_event').on(table.merchantId, table.livemode, table.lastEventId),
    // In the order of ids.
    index('archives_by_merchant').on(table.merchantId, table.livemode),
  ],
);

/**
 * Objects being written, not yet in `archives`. The batch that inserts the object deletes the draft. Of a crashed run, the sweep deletes
 * the object and then the draft after an hour.
 */
export const archiveDrafts = sqliteTable(
  'archive_drafts',
  {
    key: text('key').primaryKey(),
    begunAt: integer('begun_at').notNull(),
    isGivenUp: flag('is_given_up').notNull().default(false),
  },
  (table) => [index('archive_drafts_by_age').on(table.begunAt)],
);

/** Events of a type per object, and of all types under `ANY_TYPE`, for list totals and paging. */
export const archivedTypes = sqliteTable(
  'archived_types',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    type: text('type').notNull(),
    archiveId: integer('archive_id').notNull(),
    events: integer('events').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.type, table.archiveId] })],
);

/** Objects with events of a payment or membership, except those with the payment itself: `archived_sales` names these. */
export const archivedSubjects = sqliteTable(
  'archived_subjects',
  {
    subjectId: blob('subject_id').notNull(),
    archiveId: integer('archive_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subjectId, table.archiveId] })],
);

/** Merchants with archived sales, each mode under a short number. Never deleted. */
export const archiveOwners = sqliteTable(
  'archive_owners',
  {
    /** Begins with the partition of the merchant, so that no other database uses the number, and it moves with its partition. */
    id: integer('id').primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
  },
  (table) => [uniqueIndex('archive_owners_once').on(table.merchantId, table.livemode)],
);

/** Columns of a payment that are null while only its receipt is archived. */
const ofPayment = () => ({
  membershipId: uuidBytes('membership_id').$type<MembershipId>(),
  /** null: the payment owns no memo. Late money that carries the memo is found by this. */
  nonce: nonceHash('nonce'),
  customerRef: text('customer_ref'),
  /** Wallet of the customer, if another than the payer was named. */
  customerWallet: addressStart('customer_wallet'),
  overpaidAmount: amount('overpaid_amount'),
  feeAmount: amount('fee_amount'),
  accessPeriodDays: integer('access_period_days'),
  periodEndsAt: instant('period_ends_at'),
  asset: text('asset').$type<Asset>(),
  priceAmount: amount('price_amount'),
  isMetered: flag('is_metered'),
  confirmedAt: instant('confirmed_at'),
  /** null: the payment is not in the archive. */
  archiveId: integer('archive_id'),
  lineAt: integer('line_at'),
  lineLength: integer('line_length'),
});

/** Columns of a receipt, null for a payment without one. */
const ofReceipt = () => ({
  receiptId: uuidBytes('receipt_id').$type<ReceiptId>().unique(),
  isPaidByOwner: flag('is_paid_by_owner'),
  seq: integer('seq'),
  afterSeq: integer('after_seq'),
  /** Compared by a search, which finds names by `receipt_names`. */
  productName: text('product_name'),
  /** null: the receipt is in the object of the payment, or not in the archive. */
  receiptArchiveId: integer('receipt_archive_id'),
  receiptLineAt: integer('receipt_line_at'),
  receiptLineLength: integer('receipt_line_length'),
});

export const RECEIPT_FIELDS = Object.keys(ofReceipt());
export const PAYMENT_FIELDS = Object.keys(ofPayment()) as (keyof ReturnType<typeof ofPayment>)[];

/**
 * Final payments and receipts in the archive, in one row for both: columns to list, find and count them, and the positions of the archived
 * rows. Written only by the sweep, in the batch that deletes the rows from `payments` and `receipts`. Read as `archivedPayments` and
 * `archivedReceipts`.
 */
export const archivedSales = sqliteTable(
  'archived_sales',
  {
    /** Row number of the receipt. Negative without one. */
    rowNumber: integer('row_number').primaryKey(),
    /** Id in `archive_owners`. */
    owner: integer('owner').notNull(),
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull().unique(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    payer: addressStart('payer').notNull(),
    /** Creation of the payment, which is the order of all lists. */
    createdAt: instant('created_at').notNull(),
    ...ofPayment(),
    ...ofReceipt(),
  },
  (table) => [
    uniqueIndex('archived_sales_by_nonce').on(table.nonce).where(sql`nonce IS NOT NULL`),
    index('archived_sales_by_owner').on(table.owner, table.createdAt),
    index('archived_sales_by_product').on(table.owner, table.productId, table.createdAt),
    index('archived_sales_by_payer').on(table.owner, table.payer, table.createdAt),
    index('archived_sales_by_other').on(table.owner, table.customerWallet, table.createdAt).where(sql`customer_wallet <> payer`),
    index('archived_sales_by_ref').on(table.owner, table.customerRef, table.createdAt).where(sql`customer_ref IS NOT NULL`),
    index('archived_sales_by_membership').on(table.membershipId).where(sql`membership_id IS NOT NULL`),
    uniqueIndex('archived_sales_chain').on(table.owner, table.isPaidByOwner, table.seq).where(sql`seq IS NOT NULL`),
  ],
);

const ofView = () => ({
  rowNumber: integer('row_number').notNull(),
  merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
  livemode: flag('livemode').notNull(),
  productId: uuidBytes('product_id').$type<ProductId>().notNull(),
  createdAt: instant('created_at').notNull(),
  archiveId: integer('archive_id').notNull(),
  lineAt: integer('line_at').notNull(),
  lineLength: integer('line_length').notNull(),
});

/** Payments in the archive (`triggers.sql`). The database reads it like the table, but not as the right side of a LEFT JOIN. */
export const archivedPayments = sqliteView('archived_payments', {
  ...ofPayment(),
  ...ofView(),
  id: uuidBytes('id').$type<PaymentId>().notNull(),
  payerWallet: addressStart('payer_wallet').notNull(),
  asset: text('asset').$type<Asset>().notNull(),
  priceAmount: amount('price_amount').notNull(),
  isMetered: flag('is_metered').notNull(),
  confirmedAt: instant('confirmed_at').notNull(),
}).existing();

/** Receipts in the archive, in the same way. */
export const archivedReceipts = sqliteView('archived_receipts', {
  ...ofView(),
  id: uuidBytes('id').$type<ReceiptId>().notNull(),
  paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull(),
  payer: addressStart('payer').notNull(),
  isPaidByOwner: flag('is_paid_by_owner').notNull(),
  seq: integer('seq').notNull(),
  afterSeq: integer('after_seq'),
  productName: text('product_name').notNull(),
}).existing();

/** Position of an archived payment and its membership, which a merge changes, for statements that join the table. */
export const PAYMENT_LINE = {
  // First, because a joined object is null if its first column is.
  archiveId: archivedSales.archiveId,
  lineAt: archivedSales.lineAt,
  lineLength: archivedSales.lineLength,
  membershipId: archivedSales.membershipId,
};

/** Position of an archived receipt, in the archive and in lists. */
export const RECEIPT_LINE = {
  archiveId: sql<number>`coalesce(${archivedSales.receiptArchiveId}, ${archivedSales.archiveId})`,
  lineAt: sql<number>`${archivedSales.receiptLineAt}`,
  lineLength: sql<number>`${archivedSales.receiptLineLength}`,
  isPaidByOwner: sql<boolean>`${archivedSales.isPaidByOwner}`.mapWith(archivedSales.isPaidByOwner),
  seq: sql<number>`${archivedSales.seq}`,
  afterSeq: sql<number | null>`${archivedSales.afterSeq}`,
};

export const ANY_TYPE = '*';
