import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { instant } from '../columns.ts';

/**
 * Partitions that a database does not simply hold, three hex digits each. Inserted and deleted by the operator's moves. No row: open.
 * `resting`: the sweeps of the database do not start. `leaving`: nor is anything of the partition written. `left`: the partition is in another
 * database. `arriving`: its rows are being copied into this one.
 */
export const held = sqliteTable('held', {
  partition: text('partition').primaryKey(),
  state: text('state').$type<'resting' | 'leaving' | 'left' | 'arriving'>().notNull(),
});

/** Steps of a move, in order. `closed`: nothing is written until the operator opens the partition, because its database is restored. */
export type MoveState =
  | 'begun'
  | 'clearing'
  | 'copying'
  | 'resting'
  | 'fencing'
  | 'published'
  | 'purging'
  | 'done'
  | 'cancelling'
  | 'closed';

/** Moved or closed partitions with their databases, in the directory. Inserted by the operator's moves, one row each, and never deleted. */
export const moves = sqliteTable('moves', {
  partition: text('partition').primaryKey(),
  fromDatabase: text('from_database').notNull(),
  toDatabase: text('to_database').notNull(),
  state: text('state').$type<MoveState>().notNull(),
  /** Table and row after which the step continues, or how often it was tried. */
  position: text('position').notNull().default(''),
  rowsCopied: integer('rows_copied').notNull().default(0),
  begunAt: instant('begun_at').notNull(),
  changedAt: instant('changed_at').notNull(),
  /** Time from which writes are refused, and since when they are accepted again. */
  fencedAt: instant('fenced_at'),
  openedAt: instant('opened_at'),
});

/** Keys of rows that changed while their partition is copied. Written by the triggers of the move, and deleted when copied. */
export const changedRows = sqliteTable('changed_rows', {
  id: integer('id').primaryKey({ autoIncrement: true }),
  changedTable: text('changed_table').notNull(),
  key: text('key').notNull(),
});

export type Move = typeof moves.$inferSelect;
