import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, PaymentId, ReceiptId } from '#core/ids.ts';
import type { PaidPlan, PlanName } from '#rules/plans.ts';
import { amount, flag, instant } from './columns.ts';

/** Plans that were paid for: one row per payment, so that none counts twice. What an account holds follows from those that stand. */
export const activations = sqliteTable(
  'activations',
  {
    paymentId: text('payment_id').$type<PaymentId>().primaryKey(),
    accountId: text('account_id').$type<AccountId>().notNull(),
    /** Of test purchases only the account's other test purchases know: they change no limit of it. */
    livemode: flag('livemode').notNull().default(true),
    plan: text('plan').$type<PaidPlan>().notNull(),
    /** What was paid; null: from before it was kept, so that only what was held afterwards tells what it bought. */
    amount: amount('amount'),
    /** The plan, its end (null: none) and what 30 days of it had cost, as they were right after it. */
    resultingPlan: text('resulting_plan').$type<PlanName>().notNull(),
    paidThrough: instant('paid_through'),
    resultingPrice: amount('resulting_price'),
    receiptId: text('receipt_id').$type<ReceiptId>().notNull(),
    /** From when it counts: later than any other of its account. */
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('activations_by_account').on(table.accountId, table.createdAt)],
);

export type Activation = typeof activations.$inferSelect;
