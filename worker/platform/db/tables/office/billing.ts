import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { PaidPlan, SubscriptionStatus } from '#rules/plans.ts';
import { flag, instant, json } from '../columns.ts';

/** The plan of a subscription, as its price said when both were seen together. */
export interface SoldPlan {
  priceId: string;
  plan: PaidPlan;
}

/** A subscription of a price that buys no plan of ours, or more subscriptions than one, which are all charged. */
export type CardTrouble = 'price_unknown' | 'subscribed_twice';

/**
 * Accounts as the payment processor knows them, with the subscription that counts as it was read last. Made by the first checkout; ended
 * once the processor has deleted the customer of a deleted account.
 */
export const billingCustomers = sqliteTable(
  'billing_customers',
  {
    accountId: text('account_id').$type<AccountId>().primaryKey(),
    /** The processor's name for it. */
    customerId: text('customer_id').notNull().unique(),
    subscriptionId: text('subscription_id'),
    subscriptionStatus: text('subscription_status').$type<SubscriptionStatus>().notNull(),
    subscriptionPlan: text('subscription_plan').$type<PaidPlan>(),
    currentPeriodEnd: instant('current_period_end'),
    cancelsAtPeriodEnd: flag('cancels_at_period_end').notNull(),
    /** By subscription: when the first event came about that showed it unpaid, in the processor's time. */
    pastDueSince: json<Record<string, number>>('past_due_since').notNull(),
    /** By subscription that is not over: the price that it was seen with last, and the plan which that bought then. */
    soldPlans: json<Record<string, SoldPlan>>('sold_plans').notNull(),
    /** Trouble that needs a person; null: none. */
    trouble: text('trouble').$type<CardTrouble>(),
    /** When the processor is read again though no event came; null: no subscription runs. */
    nextReadAt: instant('next_read_at'),
    /** Since when the processor is to delete it: its account was deleted, or the processor could not be told of it last time. */
    erasingSince: instant('erasing_since'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    index('billing_customers_erasing').on(table.erasingSince).where(sql`erasing_since IS NOT NULL`),
    index('billing_customers_troubled').on(table.trouble).where(sql`trouble IS NOT NULL`),
    index('billing_customers_read').on(table.nextReadAt, table.accountId).where(sql`next_read_at IS NOT NULL`),
    index('billing_customers_ending').on(table.currentPeriodEnd).where(sql`current_period_end IS NOT NULL`),
  ],
);

/** Events of the processor that were taken in, by its own ids, so that none counts twice; ended by age. */
export const processorEvents = sqliteTable(
  'processor_events',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').$type<AccountId>().notNull(),
    type: text('type').notNull(),
    createdAt: instant('created_at').notNull(),
    receivedAt: instant('received_at').notNull(),
  },
  (table) => [index('processor_events_received').on(table.receivedAt)],
);

export type BillingCustomer = typeof billingCustomers.$inferSelect;
export type ProcessorEventRow = typeof processorEvents.$inferSelect;
