import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, ProductId } from '#core/ids.ts';
import { amount, flag, instant, uuidBytes } from '../columns.ts';

/**
 * Plans of the subscriptions program that the chain showed when a product went on sale. A merchant publishes one per change of terms, and
 * pays the network for it. None is deleted, because its subscribers remain on it.
 */
export const subscriptionPlans = sqliteTable(
  'subscription_plans',
  {
    planAddress: text('plan_address').notNull(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    /** u64 as decimal text. */
    planId: text('plan_id').notNull(),
    ownerWallet: text('owner_wallet').notNull(),
    puller: text('puller').notNull(),
    mint: text('mint').notNull(),
    amount: amount('amount').notNull(),
    periodHours: integer('period_hours').notNull(),
    /** Chain time, which identifies a plan that was closed and published again. */
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
