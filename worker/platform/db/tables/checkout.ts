import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, HandoffId, IdentitySessionId, PaymentId, PaymentSessionId, ProductId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import type { IdentityProvider, PaymentFailure } from '#rules/payment-terms.ts';
import type { RailId } from '#rules/rails.ts';
import { addressBytes, amount, flag, instant, json, uuidBytes } from './columns.ts';

/** Checkout session that the merchant's server opened for one buyer. Holds at most one pending payment. */
export const paymentSessions = sqliteTable(
  'payment_sessions',
  {
    id: uuidBytes('id').$type<PaymentSessionId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    /** Price fixed at creation. Later product edits do not change it. */
    asset: text('asset').$type<Asset>().notNull(),
    priceAmount: amount('price_amount').notNull(),
    /** Checkout rail that the session was opened for. */
    railId: text('rail_id').$type<RailId>().notNull(),
    customerRef: text('customer_ref'),
    successUrl: text('success_url'),
    metadata: json<Record<string, string>>('metadata').notNull(),
    paymentId: uuidBytes('payment_id').$type<PaymentId>(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    index('payment_sessions_ending').on(table.expiresAt),
    index('payment_sessions_of_merchant').on(table.merchantId, table.livemode, table.expiresAt),
  ],
);

/** Buyer handed off by a merchant's server, already authenticated. The link's token only names this row. */
export const handoffs = sqliteTable(
  'handoffs',
  {
    id: uuidBytes('id').$type<HandoffId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    customerRef: text('customer_ref'),
    email: text('email'),
    walletAddress: text('wallet_address'),
    successUrl: text('success_url'),
    metadata: json<Record<string, string>>('metadata'),
    paymentId: uuidBytes('payment_id').$type<PaymentId>(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('handoffs_ending').on(table.expiresAt),
    index('handoffs_waiting').on(table.merchantId, table.livemode).where(sql`payment_id IS NULL`),
  ],
);

export const identitySessions = sqliteTable(
  'identity_sessions',
  {
    id: uuidBytes('id').$type<IdentitySessionId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    provider: text('provider').$type<IdentityProvider>().notNull(),
    providerUserId: text('provider_user_id'),
    username: text('username'),
    /** Permission to add the buyer to a guild. Erased after use, and with the row. */
    grantSealed: text('grant_sealed'),
    completedAt: instant('completed_at'),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    index('identity_sessions_ending').on(table.expiresAt),
    index('identity_sessions_granting').on(table.merchantId, table.provider, table.providerUserId).where(sql`grant_sealed IS NOT NULL`),
  ],
);

/**
 * Remains of an unpaid checkout a month after its end: enough to report the failure, to match its memo on the chain, and to accept late
 * money. All other data is then the product's.
 */
export const endedSessions = sqliteTable(
  'ended_sessions',
  {
    id: uuidBytes('id').$type<PaymentId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    /** null means session_expired and needs no storage. The service itself never accepts money for a replaced payment. */
    failureCode: text('failure_code').$type<PaymentFailure>(),
    nonce: text('nonce').notNull(),
    reference: addressBytes('reference').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    priceAmount: amount('price_amount').notNull(),
    recipientWallet: addressBytes('recipient_wallet').notNull(),
    customerRef: text('customer_ref'),
    expiresAt: instant('expires_at').notNull(),
    lateGraceSeconds: integer('late_grace_seconds').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
    referenceKey: integer('reference_key'),
  },
  (table) => [
    uniqueIndex('ended_sessions_by_nonce').on(table.livemode, table.nonce).where(sql`nonce IS NOT NULL`),
    // A sandbox session that ends reads no live row.
    index('sandbox_ended_sessions').on(table.merchantId, table.customerRef).where(sql`livemode = 0`),
  ],
);

export type PaymentSession = typeof paymentSessions.$inferSelect;

export type IdentitySession = typeof identitySessions.$inferSelect;

export type Handoff = typeof handoffs.$inferSelect;
