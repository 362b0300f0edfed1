import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, ProductId } from '#core/ids.ts';
import { amount, flag, instant } from '../columns.ts';

/**
 * Plans of the subscriptions program that the chain showed as a product was to be sold. A merchant makes one with each change of terms, at
 * the chain's own price, and none ends: its subscribers stay on it.
 */
export const subscriptionPlans = sqliteTable(
  'subscription_plans',
  {
    planAddress: text('plan_address').notNull(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    /** A u64, as decimal text. */
    planId: text('plan_id').notNull(),
    /** The merchant's wallet: it published the plan, and is paid. */
    ownerWallet: text('owner_wallet').notNull(),
    puller: text('puller').notNull(),
    mint: text('mint').notNull(),
    amount: amount('amount').notNull(),
    periodHours: integer('period_hours').notNull(),
    /** By the chain's clock: one that was closed and made again has another. */
    publishedAt: instant('published_at').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.livemode, table.planAddress] }),
    index('subscription_plans_of_product').on(table.productId, table.createdAt),
    index('subscription_plans_of_wallet').on(table.merchantId, table.livemode, table.ownerWallet),
  ],
);

export type SubscriptionPlanRow = typeof subscriptionPlans.$inferSelect;
