import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, PaymentId, ReceiptId } from '#core/ids.ts';
import type { PaidPlan, PlanName } from '#rules/plans.ts';
import { amount, flag, instant, uuidBytes } from './columns.ts';

/** Paid plans, one row per payment, so that none counts twice. An account's plan follows from the valid rows. */
export const activations = sqliteTable(
  'activations',
  {
    paymentId: uuidBytes('payment_id').$type<PaymentId>().primaryKey(),
    accountId: uuidBytes('account_id').$type<AccountId>().notNull(),
    /** Test purchases see only other test purchases, and change no limit of the account. */
    livemode: flag('livemode').notNull().default(true),
    plan: text('plan').$type<PaidPlan>().notNull(),
    amount: amount('amount').notNull(),
    /** The account's plan and its end (null: none) right after this purchase. */
    resultingPlan: text('resulting_plan').$type<PlanName>().notNull(),
    paidThrough: instant('paid_through'),
    receiptId: uuidBytes('receipt_id').$type<ReceiptId>().notNull(),
    /** Effective time, later than any other of the account. */
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('activations_by_account').on(table.accountId, table.createdAt)],
);

export type Activation = typeof activations.$inferSelect;
