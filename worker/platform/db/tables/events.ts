import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, sqliteView, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { EventType, SubjectType } from '#rules/events.ts';
import { flag, instant, json } from './columns.ts';

/** Due time of the fan-out sweep. The index contains this expression, so queries must use the same text. */
export const EVENT_DUE_AT = sql`CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END`;

type EventData = { object: object; previous?: object } & Record<string, object>;

/** Event as an act stores it. */
export interface ActEvent {
  type: EventType;
  subjectType: SubjectType;
  subjectId: string;
  subjectVersion: number;
  data: EventData;
  productId: string | null;
  paymentId: string | null;
  membershipId: string | null;
}

/**
 * Events of one change, in one row: lock, audit trail, timeline and outbox of every named state change. An act is about at most one
 * payment, one membership and one rare type.
 */
export const acts = sqliteTable(
  'acts',
  {
    /**
     * Paging order of lists: insertion order, stable while new acts arrive. At least the wall time in units of 1/64 ms, so a number is never
     * used twice, and acts of a time are found by it.
     */
    seq: integer('seq').primaryKey(),
    /** Beginning of the ids of its events: time, then a hash of the first event's subject and version. */
    id: text('id').notNull(),
    merchantId: text('merchant_id').notNull(),
    livemode: flag('livemode').notNull(),
    /** Payment of its events, if another subject leads the act. Acts led by a payment are found by their ids. */
    paymentId: text('payment_id'),
    /** Membership of its events, if neither it nor a payment leads the act. Payments name their membership. */
    membershipId: text('membership_id'),
    rareType: text('rare_type').$type<EventType>(),
    events: json<ActEvent[]>('events').notNull(),
    requestId: text('request_id').notNull(),
    createdAt: instant('created_at').notNull(),
    fannedOutAt: instant('fanned_out_at'),
    nextTryAt: instant('next_try_at'),
  },
  (table) => [
    // The part of the id without the time, so that two acts about the same version of a subject exclude each other.
    uniqueIndex('acts_once').on(sql`substr(id, 15)`),
    index('acts_due').on(EVENT_DUE_AT).where(sql`fanned_out_at IS NULL AND livemode = 1`),
    index('sandbox_acts_due').on(EVENT_DUE_AT).where(sql`fanned_out_at IS NULL AND livemode = 0`),
    index('sandbox_acts_by_session').on(table.requestId).where(sql`livemode = 0`),
    // Every index ends in the rowid, which is `seq`.
    index('acts_by_merchant').on(table.merchantId, table.livemode),
    index('acts_by_rare_type').on(table.merchantId, table.livemode, table.rareType).where(sql`rare_type IS NOT NULL`),
    index('acts_by_payment').on(table.paymentId).where(sql`payment_id IS NOT NULL`),
    index('acts_by_membership').on(table.membershipId).where(sql`membership_id IS NOT NULL`),
  ],
);

/** Numbers of acts a millisecond. */
export const ACTS_PER_MS = 64;

/** Most events of one act. The last character of an event's id is its position. */
export const ACT_EVENTS_MAX = 32;

/** Events of all acts, for reading (`triggers.sql`). Columns of the act begin with `act`: they have the indexes. */
export const events = sqliteView('events', {
  /** Number of the act and position in it. */
  seq: integer('seq').notNull(),
  id: text('id').notNull(),
  merchantId: text('merchant_id').notNull(),
  livemode: flag('livemode').notNull(),
  subjectType: text('subject_type').$type<SubjectType>().notNull(),
  subjectId: text('subject_id').notNull(),
  subjectVersion: integer('subject_version').notNull(),
  type: text('type').$type<EventType>().notNull(),
  data: json<EventData>('data').notNull(),
  productId: text('product_id'),
  paymentId: text('payment_id'),
  membershipId: text('membership_id'),
  requestId: text('request_id').notNull(),
  createdAt: instant('created_at').notNull(),
  fannedOutAt: instant('fanned_out_at'),
}).existing();

export type StoredEvent = typeof events.$inferSelect;
export type NewStoredEvent = Omit<StoredEvent, 'seq' | 'fannedOutAt'>;
