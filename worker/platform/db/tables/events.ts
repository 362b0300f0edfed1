import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { EventType, SubjectType } from '#rules/events.ts';
import { flag, instant, json } from './columns.ts';

/** When the sweep may look for an event that is not fanned out. The index is made of it, so a query that reads the index says the same. */
export const EVENT_DUE_AT = sql`CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END`;

/** Lock, audit, timeline and outbox of every named state change. */
export const events = sqliteTable(
  'events',
  {
    /** Lists page by it: insertion order, stable while new events arrive. */
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    merchantId: text('merchant_id').notNull(),
    livemode: flag('livemode').notNull(),
    subjectType: text('subject_type').$type<SubjectType>().notNull(),
    subjectId: text('subject_id').notNull(),
    subjectVersion: integer('subject_version').notNull(),
    type: text('type').$type<EventType>().notNull(),
    data: json<{ object: object; previous?: object } & Record<string, object>>('data').notNull(),
    productId: text('product_id'),
    paymentId: text('payment_id'),
    membershipId: text('membership_id'),
    requestId: text('request_id').notNull(),
    createdAt: instant('created_at').notNull(),
    /** When its deliveries were written; until then the sweep may find it. */
    fannedOutAt: instant('fanned_out_at'),
    /** When the sweep tries again what it could not fan out; null: it did not try yet. */
    nextTryAt: instant('next_try_at'),
  },
  (table) => [
    index('events_due').on(EVENT_DUE_AT).where(sql`fanned_out_at IS NULL AND livemode = 1`),
    index('sandbox_events_due').on(EVENT_DUE_AT).where(sql`fanned_out_at IS NULL AND livemode = 0`),
    // What a sandbox session brought about, in its order.
    index('sandbox_events_by_session').on(table.requestId).where(sql`livemode = 0`),
    uniqueIndex('events_once').on(table.subjectId, table.subjectVersion),
    // An index ends in the rowid, which `seq` is.
    index('events_by_merchant').on(table.merchantId, table.livemode),
    // For what a merchant missed since a moment.
    index('events_by_time').on(table.merchantId, table.livemode, table.createdAt),
    index('events_by_type').on(table.merchantId, table.livemode, table.type),
    index('events_by_payment').on(table.paymentId, table.createdAt).where(sql`payment_id IS NOT NULL`),
    index('events_by_membership').on(table.membershipId, table.createdAt).where(sql`membership_id IS NOT NULL`),
  ],
);

export type StoredEvent = typeof events.$inferSelect;
/** An event before the database numbers it. */
export type NewStoredEvent = Omit<StoredEvent, 'seq' | 'fannedOutAt' | 'nextTryAt'>;
