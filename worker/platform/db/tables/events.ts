import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { EventType, SubjectType } from '#rules/events.ts';
import { flag, instant, json } from './columns.ts';

/** Due time of the fan-out sweep. The index contains this expression, so queries must use the same text. */
export const EVENT_DUE_AT = sql`CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END`;

/** Lock, audit trail, timeline and outbox of every named state change. */
export const events = sqliteTable(
  'events',
  {
    /** Paging order of lists: insertion order, stable while new events arrive. */
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
    fannedOutAt: instant('fanned_out_at'),
    nextTryAt: instant('next_try_at'),
  },
  (table) => [
    index('events_due').on(EVENT_DUE_AT).where(sql`fanned_out_at IS NULL AND livemode = 1`),
    index('sandbox_events_due').on(EVENT_DUE_AT).where(sql`fanned_out_at IS NULL AND livemode = 0`),
    index('sandbox_events_by_session').on(table.requestId).where(sql`livemode = 0`),
    uniqueIndex('events_once').on(table.subjectId, table.subjectVersion),
    // Every index ends in the rowid, which is `seq`.
    index('events_by_merchant').on(table.merchantId, table.livemode),
    index('events_by_time').on(table.merchantId, table.livemode, table.createdAt),
    index('events_by_type').on(table.merchantId, table.livemode, table.type),
    index('events_by_payment').on(table.paymentId, table.createdAt).where(sql`payment_id IS NOT NULL`),
    index('events_by_membership').on(table.membershipId, table.createdAt).where(sql`membership_id IS NOT NULL`),
  ],
);

export type StoredEvent = typeof events.$inferSelect;
export type NewStoredEvent = Omit<StoredEvent, 'seq' | 'fannedOutAt' | 'nextTryAt'>;
