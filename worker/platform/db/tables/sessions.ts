import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, PaymentId, ProductId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import { amount, flag, instant } from './columns.ts';

/** How many sessions of a product are open. Triggers of `payments` count, so that no statement that writes them can forget to. */
export const openSessions = sqliteTable('open_sessions', {
  productId: text('product_id').$type<ProductId>().primaryKey(),
  count: integer('count').notNull(),
});

/**
 * What is kept of a checkout that nobody paid, a month after its end: enough to say that it failed, to know its memo on the chain, and
 * to take money that comes for it after all. The rest is the product's by then.
 */
export const endedSessions = sqliteTable('ended_sessions', {
  id: text('id').$type<PaymentId>().primaryKey(),
  merchantId: text('merchant_id').$type<AccountId>().notNull(),
  livemode: flag('livemode').notNull(),
  productId: text('product_id').$type<ProductId>().notNull(),
  nonce: text('nonce').notNull().unique(),
  reference: text('reference').notNull(),
  asset: text('asset').$type<Asset>().notNull(),
  priceAmount: amount('price_amount').notNull(),
  recipientWallet: text('recipient_wallet').notNull(),
  customerRef: text('customer_ref'),
  expiresAt: instant('expires_at').notNull(),
  lateGraceSeconds: integer('late_grace_seconds').notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
  version: integer('version').notNull(),
});
