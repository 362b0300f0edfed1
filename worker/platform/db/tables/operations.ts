import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { instant, json } from './columns.ts';

/** One row per sweep, made by its first run and never ended: when it is due, who runs it, and how its last runs went. */
export const sweeps = sqliteTable('sweeps', {
  name: text('name').primaryKey(),
  dueAt: instant('due_at').notNull(),
  /** When its message was sent last; it is not sent again until that one has certainly come or is lost. 0: none is on its way. */
  sentAt: instant('sent_at').notNull(),
  /** Renewed while it runs, so that the lease of a run that crashed ends soon. */
  leaseUntil: instant('lease_until').notNull(),
  /** Names one taking of the lease and never another. */
  fence: integer('fence').notNull(),
  /** When it last came to its end without an error; null: never. */
  succeededAt: instant('succeeded_at'),
  /** Runs since then that ended with an error. */
  failures: integer('failures').notNull(),
});

/**
 * Messages of queues that ended without having been served: of a kind this release does not know, or that failed every time. Made
 * by queues alone; ended after 90 days, or when a release that knows the kind sends it again.
 */
export const parkedMessages = sqliteTable(
  'parked_messages',
  {
    /** Of the message, so that one delivered twice is kept once. */
    id: text('id').primaryKey(),
    queue: text('queue').notNull(),
    /** Of a job; null: a message of another queue. */
    kind: text('kind'),
    body: json<object>('body').notNull(),
    reason: text('reason').$type<'unknown_kind' | 'failed'>().notNull(),
    parkedAt: instant('parked_at').notNull(),
  },
  (table) => [index('parked_messages_by_reason').on(table.reason, table.parkedAt), index('parked_messages_ending').on(table.parkedAt)],
);

/** What the operator switched off: `rail:<rail_id>` or `product:<product_id>`. Made and ended by the operator alone, so they are few. */
export const switchedOff = sqliteTable('switched_off', {
  subject: text('subject').primaryKey(),
  since: instant('since').notNull(),
});

/** Trouble that an operator is told of: one row for each kind while it lasts, made and ended by the look of each cron. */
export const alarms = sqliteTable('alarms', {
  name: text('name').primaryKey(),
  since: instant('since').notNull(),
  /** What was found last, for a person. */
  finding: text('finding').notNull(),
  /** When the operator was told last; 0: not yet, because it may pass. */
  toldAt: instant('told_at').notNull(),
});

export type ParkedMessage = typeof parkedMessages.$inferSelect;
/** What the fee payer held at a look of the minute's sweep, which is the only one to write it and ends it after two hours. */
export const feePayerLooks = sqliteTable(
  'fee_payer_looks',
  {
    address: text('address').notNull(),
    at: instant('at').notNull(),
    /** A number, because what a fee payer holds is far below the nine million SOL that are 2^53 lamports. */
    lamports: integer('lamports').notNull(),
  },
  (table) => [primaryKey({ columns: [table.at, table.address] })],
);
