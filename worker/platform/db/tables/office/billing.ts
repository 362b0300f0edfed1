import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { PaidPlan, SubscriptionStatus } from '#rules/plans.ts';
import { flag, instant, json, uuidBytes } from '../columns.ts';

export interface SoldPlan {
  priceId: string;
  plan: PaidPlan;
}

/** The subscription's price buys none of our plans, or the account has several subscriptions, all charged. */
export type CardTrouble = 'price_unknown' | 'subscribed_twice';

/**
 * Accounts at the payment processor, with the effective subscription as last read. Inserted by the first checkout, deleted once the
 * processor has deleted the customer of a deleted account.
 */
export const billingCustomers = sqliteTable(
  'billing_customers',
  {
    accountId: uuidBytes('account_id').$type<AccountId>().primaryKey(),
    customerId: text('customer_id').notNull().unique(),
    subscriptionId: text('subscription_id'),
    subscriptionStatus: text('subscription_status').$type<SubscriptionStatus>().notNull(),
    subscriptionPlan: text('subscription_plan').$type<PaidPlan>(),
    currentPeriodEnd: instant('current_period_end'),
    cancelsAtPeriodEnd: flag('cancels_at_period_end').notNull(),
    /** Processor time of the first event that showed a subscription unpaid, by subscription. */
    pastDueSince: json<Record<string, number>>('past_due_since').notNull(),
    /** Last price of each active subscription, and the plan that the price bought then. */
    soldPlans: json<Record<string, SoldPlan>>('sold_plans').notNull(),
    trouble: text('trouble').$type<CardTrouble>(),
    /** Next read from the processor without an event, null if no subscription is active. */
    nextReadAt: instant('next_read_at'),
    /** Start of the pending deletion at the processor: the account was deleted, or the last deletion call failed. */
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

/** Processed events by processor id, so that none counts twice. Deleted by age. */
export const processorEvents = sqliteTable(
  'processor_events',
  {
    id: text('id').primaryKey(),
    accountId: uuidBytes('account_id').$type<AccountId>().notNull(),
    type: text('type').notNull(),
    createdAt: instant('created_at').notNull(),
    receivedAt: instant('received_at').notNull(),
  },
  (table) => [index('processor_events_received').on(table.receivedAt)],
);

export type BillingCustomer = typeof billingCustomers.$inferSelect;
export type ProcessorEventRow = typeof processorEvents.$inferSelect;
