import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { EventType, SubjectType } from '../events.ts';
import { flag, instant, json } from './columns.ts';

/** Lock, audit, timeline and outbox of every named state change. (architecture section 7) */
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
    data: json<{ object: object; previous?: object }>('data').notNull(),
    productId: text('product_id'),
    paymentId: text('payment_id'),
    membershipId: text('membership_id'),
    requestId: text('request_id').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('events_once').on(table.subjectId, table.subjectVersion),
    index('events_by_merchant').on(table.merchantId, table.livemode, table.seq),
    index('events_by_payment').on(table.paymentId, table.seq),
    index('events_by_membership').on(table.membershipId, table.seq),
  ],
);

/** Idempotency records: the finished answer, written in the batch of its effect, or a lease while an external call runs. */
export const claims = sqliteTable(
  'claims',
  {
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    status: integer('status'),
    body: text('body'),
    /** Counts takeovers of a lease; only the holder of the newest fence may finish. */
    fence: integer('fence').notNull(),
    leaseUntil: instant('lease_until'),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.scope, table.key] }), index('claims_expiring').on(table.expiresAt)],
);

/** Never holds a row: inserting NULL fails the batch, which is how a statement can veto its neighbours. (architecture section 7) */
export const guard = sqliteTable('guard', { veto: integer('veto').notNull() });
