import { sql } from 'drizzle-orm';
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, MembershipId, PaymentId, ProductId, ReceiptId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import { amount, flag, instant, uuidBytes } from './columns.ts';

/**
 * Objects of the archive, which hold what the database no longer does: each a run of a merchant's events of one day, in their order,
 * and the receipts among them. Made by the sweep alone, in the batch that takes the events out, and never ended. A merchant's objects
 * are numbered in the order of their events.
 */
export const archives = sqliteTable(
  'archives',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** The object's name, of which a hash of what is in it and the run that wrote it are parts: no other run ever writes under it. */
    key: text('key').notNull(),
    /** The lowest and the highest of its events' ids, which begin with their time. */
    firstEventId: text('first_event_id').notNull(),
    lastEventId: text('last_event_id').notNull(),
  },
  (table) => [index('archives_by_event').on(table.merchantId, table.livemode, table.lastEventId)],
);

/**
 * Objects that are being written, and are not in `archives` yet. The row ends in the batch that puts the object there; of a run that crashed
 * before that, the sweep gives it up after an hour, and deletes first the object and then the row.
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

/** How many events of a type an object holds, and of all types under `ANY_TYPE`: what lists count and page by. */
export const archivedTypes = sqliteTable(
  'archived_types',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    type: text('type').notNull(),
    archiveId: integer('archive_id').notNull(),
    events: integer('events').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.type, table.archiveId] })],
);

/** Which objects hold events of a payment or membership: where its timeline is read from. */
export const archivedStories = sqliteTable(
  'archived_stories',
  {
    /** The 16 bytes of its id. */
    storyId: blob('story_id').notNull(),
    archiveId: integer('archive_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.storyId, table.archiveId] })],
);

/** Where in which object a whole row stands: the bytes of its line there. */
const placeColumns = () => ({
  archiveId: integer('archive_id').notNull(),
  lineAt: integer('line_at').notNull(),
  lineLength: integer('line_length').notNull(),
});

/**
 * Final payments whose whole row is in the archive: what they are listed, found and counted by, and where that row stands. They are
 * made by the sweep alone, in the batch that takes the row out of `payments`, and never change.
 */
export const archivedPayments = sqliteTable(
  'archived_payments',
  {
    id: uuidBytes('id').$type<PaymentId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    membershipId: uuidBytes('membership_id').$type<MembershipId>(),
    /** null where it owns no memo: late money that names it is found by this. */
    nonce: text('nonce'),
    customerRef: text('customer_ref'),
    payerWallet: text('payer_wallet').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    priceAmount: amount('price_amount').notNull(),
    overpaidAmount: amount('overpaid_amount'),
    feeAmount: amount('fee_amount'),
    /** What it carries its membership for, as its terms say. */
    accessPeriodDays: integer('access_period_days'),
    periodEndsAt: instant('period_ends_at'),
    isMetered: flag('is_metered').notNull().default(false),
    confirmedAt: instant('confirmed_at').notNull(),
    createdAt: instant('created_at').notNull(),
    ...placeColumns(),
  },
  (table) => [
    uniqueIndex('archived_payments_by_nonce').on(table.livemode, table.nonce).where(sql`nonce IS NOT NULL`),
    index('archived_payments_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    index('archived_payments_by_product').on(table.merchantId, table.livemode, table.productId, table.createdAt),
    index('archived_payments_by_payer').on(table.merchantId, table.livemode, table.payerWallet, table.createdAt),
    index('archived_payments_by_ref')
      .on(table.merchantId, table.livemode, table.customerRef, table.createdAt)
      .where(sql`customer_ref IS NOT NULL`),
    index('archived_payments_by_membership').on(table.membershipId, table.confirmedAt).where(sql`membership_id IS NOT NULL`),
  ],
);

/** Receipts whose whole row is in the archive, in the same way. */
export const archivedReceipts = sqliteTable(
  'archived_receipts',
  {
    /** The number its row had, by which words find it. */
    rowNumber: integer('row_number').primaryKey(),
    id: uuidBytes('id').$type<ReceiptId>().notNull().unique(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull().unique(),
    payer: text('payer').notNull(),
    /** What words are found by, if they are to be indexed anew. */
    productName: text('product_name').notNull(),
    createdAt: instant('created_at').notNull(),
    ...placeColumns(),
  },
  (table) => [
    index('archived_receipts_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    index('archived_receipts_by_product').on(table.merchantId, table.livemode, table.productId, table.createdAt),
    index('archived_receipts_by_payer').on(table.merchantId, table.livemode, table.payer, table.createdAt),
  ],
);

export const ANY_TYPE = '*';
