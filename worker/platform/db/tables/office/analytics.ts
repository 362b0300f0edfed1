import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import { flag, instant, json } from '../columns.ts';

/** Sums by name as decimal text, because a sum of amounts may be above 2^53. */
export type StoredCounts = Record<string, string>;

/**
 * What a merchant's analytics are added up from. One row for each merchant, mode and UTC day in which something happened, made by the
 * sweep that folds events and never ended: it holds no name, and money that was received stays told. Of a sandbox, what a session brought
 * goes with the session.
 */
export const analyticsDays = sqliteTable(
  'analytics_days',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** Its first moment. */
    day: instant('day').notNull(),
    /** By the number of the quarter of an hour, 0 to 95: every zone's day is made of whole ones. */
    quarters: json<Record<string, StoredCounts>>('quarters').notNull(),
    /** Of the whole day, by product. */
    products: json<Record<string, StoredCounts>>('products').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.livemode, table.day] }),
    index('analytics_days_by_day').on(table.day, table.merchantId),
  ],
);

/** What was sold in a quarter of an hour, by product: for the two UTC days that another zone's window begins and ends in. */
export const analyticsQuarters = sqliteTable(
  'analytics_quarters',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** Its first moment. */
    quarter: instant('quarter').notNull(),
    products: json<Record<string, StoredCounts>>('products').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.quarter] })],
);

/** The sum of all that ever happened to a merchant in one mode. */
export const analyticsTotals = sqliteTable(
  'analytics_totals',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    counts: json<StoredCounts>('counts').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode] })],
);

/** How far events are folded: a row for each mode, stepped in the batch of what was folded. */
export const analyticsCursors = sqliteTable('analytics_cursors', {
  name: text('name').primaryKey(),
  /** Events up to this one are folded. */
  seq: integer('seq').notNull(),
  /** When there was no event behind it. */
  foldedAt: instant('folded_at').notNull(),
  version: integer('version').notNull(),
});

/** Ended deliveries that are not folded yet, counted as they end: the sweep takes them out within a minute. */
export const endedDeliveries = sqliteTable(
  'ended_deliveries',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    quarter: instant('quarter').notNull(),
    hasSucceeded: flag('has_succeeded').notNull(),
    /** By the time of its last answer; -1: there was none. */
    answerClass: integer('answer_class').notNull(),
    count: integer('count').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.quarter, table.hasSucceeded, table.answerClass] })],
);

export type AnalyticsCursor = typeof analyticsCursors.$inferSelect;
