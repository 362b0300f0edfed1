import { sql } from 'drizzle-orm';
import { customType, index, integer, sqliteTable, sqliteView, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { EVENT_TYPES, type EventType, type SubjectType } from '#rules/events.ts';
import { bytes, flag, instant, uuidBytes } from './columns.ts';

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
     * used twice, and acts of a time are found by it. Unique over all databases (`numbers.ts`).
     */
    seq: integer('seq').primaryKey(),
    /** Beginning of the ids of its events: time, then a hash of the first event's subject and version, or of what it is stored once for. */
    id: text('id').notNull(),
    merchantId: uuidBytes('merchant_id').notNull(),
    livemode: flag('livemode').notNull(),
    /** Payment of its events, if another subject leads the act. Acts led by a payment are found by their ids. */
    paymentId: uuidBytes('payment_id'),
    /** Membership of its events, if neither it nor a payment leads the act. Payments name their membership. */
    membershipId: uuidBytes('membership_id'),
    rareType: text('rare_type').$type<EventType>(),
    /** Numbers of the types of its events, in order, separated by commas. */
    types: text('types').notNull(),
    /** Events of the act, squeezed (`acts/body.ts`). */
    body: bytes('body').notNull(),
    /** True if the events contain personal data, until it is erased. */
    isPersonal: flag('is_personal').notNull(),
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

/** Most events of one act. The last character of an event's id is its position. */
export const ACT_EVENTS_MAX = 32;

const eventType = customType<{ data: EventType; driverData: number }>({
  dataType: () => 'integer',
  toDriver: (type) => EVENT_TYPES.indexOf(type),
  fromDriver: (number) => EVENT_TYPES[number]!,
});

/**
 * Rows of all events, for finding them (`triggers.sql`): number, id and type. Their contents are read from the body (`acts/read.ts`). Columns
 * of the act begin with `act`: they have the indexes.
 */
export const events = sqliteView('events', {
  /** Number of the act and position in it. */
  seq: integer('seq').notNull(),
  id: text('id').notNull(),
  merchantId: uuidBytes('merchant_id').notNull(),
  livemode: flag('livemode').notNull(),
  type: eventType('type').notNull(),
  /** Body of the act in hexadecimal digits, which the database sends shorter than bytes. */
  body: text('body').notNull(),
  requestId: text('request_id').notNull(),
  createdAt: instant('created_at').notNull(),
  fannedOutAt: instant('fanned_out_at'),
}).existing();

export type EventRow = typeof events.$inferSelect;

export interface StoredEvent extends Omit<EventRow, 'body'>, ActEvent {}
export type NewStoredEvent = Omit<StoredEvent, 'seq' | 'fannedOutAt'>;
