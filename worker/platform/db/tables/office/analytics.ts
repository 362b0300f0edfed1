import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import { flag, instant, json, uuidBytes } from '../columns.ts';

/** Sums as decimal text, because a sum of amounts may exceed 2^53. */
export type StoredCounts = Record<string, string>;

/**
 * Counts of a merchant's analytics: one row per merchant, mode and UTC day with activity, written by the folding sweep. Rows of an
 * account that received money outlive it, because they hold no personal data. Deleting a sandbox session subtracts its counts.
 */
export const analyticsDays = sqliteTable(
  'analytics_days',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    day: instant('day').notNull(),
    /** Counts by quarter-hour number, 0 to 95, because every time zone's day begins at a quarter hour. */
    quarters: json<Record<string, StoredCounts>>('quarters').notNull(),
    products: json<Record<string, StoredCounts>>('products').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.livemode, table.day] }),
    index('analytics_days_by_day').on(table.day, table.merchantId),
  ],
);

/** Sales per quarter hour and product, read for the UTC days that a window in another time zone covers only in part. */
export const analyticsQuarters = sqliteTable(
  'analytics_quarters',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    quarter: instant('quarter').notNull(),
    products: json<Record<string, StoredCounts>>('products').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.quarter] })],
);

export const analyticsTotals = sqliteTable(
  'analytics_totals',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    counts: json<StoredCounts>('counts').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode] })],
);

/** Position of the folding sweep per mode, stored in the same batch as the counts. */
export const analyticsCursors = sqliteTable('analytics_cursors', {
  name: text('name').primaryKey(),
  seq: integer('seq').notNull(),
  foldedAt: instant('folded_at').notNull(),
  version: integer('version').notNull(),
});

/** Counts of ended webhook deliveries. The folding sweep adds each row to the analytics and deletes the row within a minute. */
export const endedDeliveries = sqliteTable(
  'ended_deliveries',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    quarter: instant('quarter').notNull(),
    hasSucceeded: flag('has_succeeded').notNull(),
    /** Class of the last answer time, -1 if the endpoint did not answer. */
    answerClass: integer('answer_class').notNull(),
    count: integer('count').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.quarter, table.hasSucceeded, table.answerClass] })],
);

export type AnalyticsCursor = typeof analyticsCursors.$inferSelect;
