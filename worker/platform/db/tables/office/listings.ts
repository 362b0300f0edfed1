import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, ListingId, ProductId } from '#core/ids.ts';
import type { ProbeReason, ProbeRequest, Shown } from '#rules/catalogue/listing.ts';
import { instant, json, uuidBytes } from '../columns.ts';

/**
 * Resources of the public catalogue, in live mode alone. Triggers on `products` insert and delete those of a product with its routes. A
 * settled payment of the facilitator inserts any other. A row is public only after a probe of its URL (features/catalogue/).
 */
export const listings = sqliteTable(
  'listings',
  {
    id: uuidBytes('id').$type<ListingId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    /** null: sold by the merchant's own server, over the facilitator. */
    productId: uuidBytes('product_id').$type<ProductId>(),
    /** Method, or `tool`. */
    call: text('call').notNull(),
    /** Path of the product's route, name of its tool, or the URL that a facilitator's payment echoed, without its query. */
    target: text('target').notNull(),
    /** Request of a probe. Only of the facilitator: a product's follows from its route. */
    request: json<ProbeRequest>('request'),
    /** URL that was seen, with the parameters of its path by name. */
    resource: text('resource'),
    origin: text('origin'),
    shown: json<Shown>('shown'),
    /** Result of the latest probe, null: good. */
    reason: text('reason').$type<ProbeReason>(),
    reasonDetail: text('reason_detail'),
    probedAt: instant('probed_at'),
    /** Latest good probe. null: not listed. Triggers end a listing with its origin, rail, product or account. */
    goodAt: instant('good_at'),
    /** null: nothing can be seen. */
    nextProbeAt: instant('next_probe_at'),
    lastPaymentAt: instant('last_payment_at'),
    createdAt: instant('created_at').notNull(),
    /** Last change of what is shown. */
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    uniqueIndex('listings_of_product').on(table.productId, table.call, table.target).where(sql`product_id IS NOT NULL`),
    uniqueIndex('listings_of_facilitator').on(table.merchantId, table.call, table.target).where(sql`product_id IS NULL`),
    index('listings_by_merchant').on(table.merchantId, table.createdAt),
    index('listings_due').on(table.nextProbeAt).where(sql`next_probe_at IS NOT NULL`),
    index('listings_due_by_merchant').on(table.merchantId, table.nextProbeAt).where(sql`next_probe_at IS NOT NULL`),
    index('listings_listed').on(table.updatedAt, table.resource, table.goodAt, table.id).where(sql`good_at IS NOT NULL`),
    index('listings_by_origin').on(table.origin).where(sql`good_at IS NOT NULL`),
  ],
);

/** Words that find a listing, with the weight of their field. Deleted with it by a trigger. */
export const listingWords = sqliteTable(
  'listing_words',
  {
    listingId: uuidBytes('listing_id').$type<ListingId>().notNull(),
    word: text('word').notNull(),
    weight: integer('weight').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.listingId, table.word] }),
    index('listing_words_by_word').on(table.word, table.listingId, table.weight),
  ],
);

export type ListingRow = typeof listings.$inferSelect;
