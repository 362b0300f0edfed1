import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { instant, json } from './columns.ts';

/** Sweeps with due time, lease, last success and failures since. A row is inserted when a tick first sends the sweep. */
export const sweeps = sqliteTable(
  'sweeps',
  {
    name: text('name').primaryKey(),
    dueAt: instant('due_at').notNull(),
    /** Send time of the queued message, 0 if none is queued. A message that has not arrived after 50 seconds is resent. */
    sentAt: instant('sent_at').notNull(),
    /** Renewed during a run, so that the lease of a crashed run expires soon. */
    leaseUntil: instant('lease_until').notNull(),
    fence: integer('fence').notNull(),
    succeededAt: instant('succeeded_at'),
    failures: integer('failures').notNull(),
    /** Set while every run ends with rows left: when the sweep counts as behind, three questions for its work after the first of these runs. */
    behindAt: instant('behind_at'),
  },
  (table) => [
    index('sweeps_behind').on(table.behindAt).where(sql`behind_at IS NOT NULL`),
    index('sweeps_failed').on(table.name).where(sql`failures > 0`),
  ],
);

/**
 * Queue messages that could not be processed: `unknown_kind` waits for a release that knows the kind, `failed` for the operator to resend
 * the message. Rows are deleted when resent, or after 90 days.
 */
export const parkedMessages = sqliteTable(
  'parked_messages',
  {
    id: text('id').primaryKey(),
    queue: text('queue').notNull(),
    kind: text('kind'),
    body: json<object>('body').notNull(),
    reason: text('reason').$type<'unknown_kind' | 'failed'>().notNull(),
    parkedAt: instant('parked_at').notNull(),
  },
  (table) => [index('parked_messages_by_reason').on(table.reason, table.parkedAt), index('parked_messages_ending').on(table.parkedAt)],
);

/**
 * Kill switches of the operator: `rail:<rail_id>`, `product:<product_id>` or `mail`. Only the operator writes rows, so they are few.
 */
export const switchedOff = sqliteTable('switched_off', {
  subject: text('subject').primaryKey(),
  since: instant('since').notNull(),
});

/** Active operator alarms, one row per kind. Each cron runs the health checks and inserts new alarms and deletes ended ones. */
export const alarms = sqliteTable('alarms', {
  name: text('name').primaryKey(),
  since: instant('since').notNull(),
  finding: text('finding').notNull(),
  /** Time of the last notification. 0: the operator has not been notified, because the problem may be transient or sending failed. */
  notifiedAt: instant('notified_at').notNull(),
});

export type ParkedMessage = typeof parkedMessages.$inferSelect;
/** Fee payer balances per minute, written only by the minute's sweep and deleted after two hours. */
export const feePayerReadings = sqliteTable(
  'fee_payer_readings',
  {
    address: text('address').notNull(),
    at: instant('at').notNull(),
    /** A number, because a fee payer holds far less than 2^53 lamports (nine million SOL). */
    lamports: integer('lamports').notNull(),
  },
  (table) => [primaryKey({ columns: [table.at, table.address] })],
);
