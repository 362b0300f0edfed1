import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, MembershipId, PaymentId, ProductId, ReceiptId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import { addressBytes, amount, flag, instant, uuidBytes } from './columns.ts';

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

export const archivedSubjects = sqliteTable(
  'archived_subjects',
  {
    subjectId: blob('subject_id').notNull(),
    archiveId: integer('archive_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.subjectId, table.archiveId] })],
);

const archiveColumns = () => ({
  archiveId: integer('archive_id').notNull(),
  lineAt: integer('line_at').notNull(),
  lineLength: integer('line_length').notNull(),
});

/**
 * Final payments in the archive: columns to list, find and count them, and the position of the archived row. Inserted only by the sweep, in
 * the batch that deletes the row from `payments`. Never changed.
 */
export const archivedPayments = sqliteTable(
  'archived_payments',
  {
    id: uuidBytes('id').$type<PaymentId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    membershipId: uuidBytes('membership_id').$type<MembershipId>(),
    /** null: the payment owns no memo. Late money that carries the memo is matched by this. */
    nonce: text('nonce'),
    customerRef: text('customer_ref'),
    /** Wallet of the customer, if another than the payer was named. */
    customerWallet: addressBytes('customer_wallet'),
    payerWallet: addressBytes('payer_wallet').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    priceAmount: amount('price_amount').notNull(),
    overpaidAmount: amount('overpaid_amount'),
    feeAmount: amount('fee_amount'),
    accessPeriodDays: integer('access_period_days'),
    periodEndsAt: instant('period_ends_at'),
    isMetered: flag('is_metered').notNull().default(false),
    confirmedAt: instant('confirmed_at').notNull(),
    createdAt: instant('created_at').notNull(),
    ...archiveColumns(),
  },
  (table) => [
    uniqueIndex('archived_payments_by_nonce').on(table.livemode, table.nonce).where(sql`nonce IS NOT NULL`),
    index('archived_payments_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    index('archived_payments_by_product').on(table.merchantId, table.livemode, table.productId, table.createdAt),
    index('archived_payments_by_payer').on(table.merchantId, table.livemode, table.payerWallet, table.createdAt),
    index('archived_payments_by_other')
      .on(table.merchantId, table.livemode, table.customerWallet, table.createdAt)
      .where(sql`customer_wallet <> payer_wallet`),
    index('archived_payments_by_ref')
      .on(table.merchantId, table.livemode, table.customerRef, table.createdAt)
      .where(sql`customer_ref IS NOT NULL`),
    index('archived_payments_by_membership').on(table.membershipId, table.confirmedAt).where(sql`membership_id IS NOT NULL`),
  ],
);

/** Receipts in the archive, under the same rules as `archivedPayments`. */
export const archivedReceipts = sqliteTable(
  'archived_receipts',
  {
    rowNumber: integer('row_number').primaryKey(),
    id: uuidBytes('id').$type<ReceiptId>().notNull().unique(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    isPaidByOwner: flag('is_paid_by_owner').notNull(),
    seq: integer('seq').notNull(),
    afterSeq: integer('after_seq'),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull().unique(),
    payer: addressBytes('payer').notNull(),
    /** Compared by a search, which finds names by `receipt_names`. */
    productName: text('product_name').notNull(),
    /** Creation of the payment, which is the order of lists by product or wallet. */
    createdAt: instant('created_at').notNull(),
    ...archiveColumns(),
  },
  (table) => [
    index('archived_receipts_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    uniqueIndex('archived_receipts_chain').on(table.merchantId, table.livemode, table.isPaidByOwner, table.seq),
    index('archived_receipts_by_product').on(table.merchantId, table.livemode, table.productId, table.createdAt),
    index('archived_receipts_by_payer').on(table.merchantId, table.livemode, table.payer, table.createdAt),
  ],
);

export const ANY_TYPE = '*';
