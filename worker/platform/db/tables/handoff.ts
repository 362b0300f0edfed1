import { sql } from 'drizzle-orm';
import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, HandoffId, IdentitySessionId, PaymentId, ProductId } from '#core/ids.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';
import { flag, instant, json } from './columns.ts';

/** A buyer a merchant's server sends us, already recognised. The token in the link only names this row. */
export const handoffs = sqliteTable(
  'handoffs',
  {
    id: text('id').$type<HandoffId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    customerRef: text('customer_ref'),
    email: text('email'),
    walletAddress: text('wallet_address'),
    successUrl: text('success_url'),
    metadata: json<Record<string, string>>('metadata'),
    /** The one payment it was used for. */
    paymentId: text('payment_id').$type<PaymentId>(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('handoffs_ending').on(table.expiresAt), index('handoffs_waiting').on(table.merchantId).where(sql`payment_id IS NULL`)],
);

/** A buyer on the way to a messaging platform and back, to show who they are there. */
export const identitySessions = sqliteTable(
  'identity_sessions',
  {
    id: text('id').$type<IdentitySessionId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    provider: text('provider').$type<IdentityProvider>().notNull(),
    /** What the connector told us; null until it did. */
    providerUserId: text('provider_user_id'),
    username: text('username'),
    completedAt: instant('completed_at'),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('identity_sessions_ending').on(table.expiresAt)],
);

export type IdentitySession = typeof identitySessions.$inferSelect;

export type Handoff = typeof handoffs.$inferSelect;
