import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { instant, json } from './columns.ts';

/** Sweeps with due time, lease and results of the last runs. A row is inserted by the first run and never deleted. */
export const sweeps = sqliteTable('sweeps', {
  name: text('name').primaryKey(),
  dueAt: instant('due_at').notNull(),
  /** Last send time of the sweep's message. The message is not resent until it has arrived or is lost. 0: none queued. */
  sentAt: instant('sent_at').notNull(),
  /** Renewed during a run, so that the lease of a crashed run expires soon. */
  leaseUntil: instant('lease_until').notNull(),
  fence: integer('fence').notNull(),
  succeededAt: instant('succeeded_at'),
  failures: integer('failures').notNull(),
});

/**
 * Queue messages that could not be processed: of a kind unknown to this release, or failed on every retry. Inserted only by queue
 * consumers. Deleted after 90 days, or resent by a release that knows the kind.
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
 * Kill switches of the operator: `rail:<rail_id>` or `product:<product_id>`. Inserted and deleted only by the operator, so they are few.
 */
export const switchedOff = sqliteTable('switched_off', {
  subject: text('subject').primaryKey(),
  since: instant('since').notNull(),
});

/** Active operator alarms, one row per kind, inserted and deleted by each cron's check. */
export const alarms = sqliteTable('alarms', {
  name: text('name').primaryKey(),
  since: instant('since').notNull(),
  finding: text('finding').notNull(),
  /** Last notification of the operator. 0: none yet, because the problem may be transient. */
  notifiedAt: instant('told_at').notNull(),
});

export type ParkedMessage = typeof parkedMessages.$inferSelect;
/** Fee payer balances per minute, written only by the minute's sweep and deleted after two hours. */
export const feePayerReadings = sqliteTable(
  'fee_payer_looks',
  {
    address: text('address').notNull(),
    at: instant('at').notNull(),
    /** A number, because a fee payer holds far less than 2^53 lamports (nine million SOL). */
    lamports: integer('lamports').notNull(),
  },
  (table) => [primaryKey({ columns: [table.at, table.address] })],
);
