import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, CustomerId, EntitlementId, PaymentId, ProductId } from '#core/ids.ts';
import type { Customer, EntitlementStatus } from '#rules/balance.ts';
import { CUSTOMER, type CustomerStatus } from '#rules/states.ts';
import { addressBytes, bytes, flag, instant, json, oneOf, uuidBytes } from './columns.ts';

/** Copies of entitlement objects for lists. Only the projection writes them, and an older version never replaces a newer one. */
export const entitlements = sqliteTable(
  'entitlements',
  {
    id: uuidBytes('id').$type<EntitlementId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    walletAddress: addressBytes('wallet_address'),
    customerRef: text('customer_ref'),
    status: text('status').$type<EntitlementStatus>().notNull(),
    grantedUnits: integer('granted_units'),
    usedUnits: integer('used_units').notNull(),
    remaining: integer('remaining'),
    paidThrough: instant('paid_through'),
    unlimited: flag('unlimited').notNull(),
    version: integer('version').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    oneOf('entitlements_status', 'status', ['active', 'exhausted', 'expired', 'revoked'] satisfies EntitlementStatus[]),
    // Each index ends in the rowid, which is the list order.
    index('entitlements_by_merchant').on(table.merchantId, table.livemode),
    index('entitlements_by_product').on(table.merchantId, table.livemode, table.productId),
    index('entitlements_by_status').on(table.merchantId, table.livemode, table.status),
    index('entitlements_by_wallet').on(table.merchantId, table.livemode, table.walletAddress).where(sql`wallet_address IS NOT NULL`),
    index('entitlements_by_ref').on(table.merchantId, table.livemode, table.customerRef).where(sql`customer_ref IS NOT NULL`),
  ],
);

export interface Company {
  name?: string | undefined;
  address?: string | undefined;
  tax_id?: string | undefined;
  email?: string | undefined;
}

/** Key of an erased customer, and the one that its rows get. A wallet stays. */
export interface ErasedKey {
  id: CustomerId;
  key: Customer;
  erased: Customer;
}

export interface ErasureProgress {
  /** Step, and the row after which it continues. */
  step: number;
  after: string | null;
  /** True in the final pass through the steps, which follows a complete one. */
  isLast: boolean;
  hasPassed: boolean;
  /** True if only the archive is left. The customer is erased then. */
  hasEnded: boolean;
  /** Wall time of the request, by which the platforms have taken away access, and by which calls that began before the request have ended. */
  requestedAt: number;
  takenAt: number;
  callsEndAt: number;
  /** Business time of the request: what came up to then is the customer's, and what comes later is the next one's. */
  until: number;
  /**
   * Payments that the request found confirmed, of those after `decidedSince`. A payment with a confirmation that was stored later is the
   * next customer's, whatever time its call had read.
   */
  decided: PaymentId[];
  decidedSince: number;
  /** Keys of the customer and of those that were merged into it. Erased with the progress. */
  keys: ErasedKey[];
  /** Versions up to which copies and events of entitlements are the customer's. */
  forgotten: Record<EntitlementId, number>;
  /** Act and log entry up to which the customer is erased. */
  actSeq: number;
  entrySeq: number;
  /** Email addresses of the customer. Erased with the progress. */
  emails: string[];
}

/** SQL condition of the index of references: of sandbox sessions, and of erased customers, which no id follows from. */
export const HAS_FOUND_REF = sql`customer_ref IS NOT NULL AND (livemode = 0 OR erased_at IS NOT NULL)`;

/**
 * Customers of a merchant, by a key: reference or wallet. Inserted by the fold of the analytics for a payment, grant or metered session, and
 * by the merchant with a customer, hand-off or payment session. Deleted with the account or the sandbox session. No sweep reads them.
 */
export const customers = sqliteTable(
  'customers',
  {
    id: uuidBytes('id').$type<CustomerId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** Wallet of a customer without a reference. */
    walletAddress: addressBytes('wallet_address'),
    customerRef: text('customer_ref'),
    /** Customer that this one was merged into, itself merged into none. Lists leave the row out, and the fold continues to write it. */
    mergedInto: uuidBytes('merged_into').$type<CustomerId>(),
    status: text('status').$type<CustomerStatus>().notNull(),
    /** Customer that the key names since an erasure, if the key is a reference. */
    nextId: uuidBytes('next_id').$type<CustomerId>(),
    /** Time of the last erasure. Events of before belong to the erased customer. */
    erasedAt: instant('erased_at'),
    /** Progress of an erasure, in the archive even after its end, and the time of its next step. null: nothing is left to erase. */
    erasure: json<ErasureProgress>('erasure'),
    eraseAt: instant('erase_at'),
    /** Details that the merchant noted. */
    email: text('email'),
    name: text('name'),
    company: json<Company>('company'),
    metadata: json<Record<string, string>>('metadata').notNull(),
    /** Newest wallets that paid and email addresses of memberships, written by the fold alone, without a version. */
    wallets: json<string[]>('wallets').notNull(),
    emails: json<string[]>('emails').notNull(),
    /** Sums of payments by name, as in the analytics. Written by the fold alone. */
    totals: json<Record<string, string>>('totals').notNull(),
    firstSeenAt: instant('first_seen_at').notNull(),
    lastSeenAt: instant('last_seen_at').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('customers_status', 'status', CUSTOMER.states),
    // The two orders of the list. Each sale writes the first one, at most once a minute and customer.
    index('customers_by_last_seen').on(table.merchantId, table.livemode, table.lastSeenAt),
    index('customers_by_creation').on(table.merchantId, table.livemode, table.createdAt),
    index('customers_by_survivor').on(table.mergedInto).where(sql`merged_into IS NOT NULL`),
    index('customers_by_email').on(table.merchantId, table.livemode, table.email).where(sql`email IS NOT NULL`),
    index('customers_erasing').on(table.eraseAt).where(sql`erase_at IS NOT NULL`),
    // Queries must use the same text.
    index('customers_by_ref').on(table.merchantId, table.livemode, table.customerRef).where(HAS_FOUND_REF),
  ],
);

export type CustomerRow = typeof customers.$inferSelect;

/**
 * Merchants from whom a wallet or email address bought in live mode, or got access, so that its buyer finds them. Inserted with the customer,
 * and retained like the payments that it leads to.
 */
export const buyerSellers = sqliteTable(
  'buyer_sellers',
  {
    /** Half of the SHA-256 of the subject (`buyerKeyOf`, `granteeKeyOf`). */
    buyerKey: bytes('buyer_key').notNull(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
  },
  (table) => [primaryKey({ columns: [table.buyerKey, table.merchantId] })],
);
