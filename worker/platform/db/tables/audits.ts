import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { instant, json } from './columns.ts';

/** An entitlement whose copy did not say what its object said, of which version that was. */
export interface Suspect {
  merchantId: string;
  livemode: boolean;
  entitlementId: string;
  /** 0: the object held nothing. */
  version: number;
}

/** One row per day, made by its audit and ended 400 days later. Read by its key alone. */
export const audits = sqliteTable('audits', {
  /** `YYYY-MM-DD`, UTC. */
  day: text('day').primaryKey(),
  /** When its next look may begin; while one runs, when that counts as dead. null: it is finished. */
  dueAt: instant('due_at'),
  /** What was looked at, and of that: what differs, and what could not be compared. */
  checked: integer('checked').notNull(),
  differing: integer('differing').notNull(),
  unknown: integer('unknown').notNull(),
  /** To be compared once more. null: the first look is still to come. */
  suspects: json<Suspect[]>('suspects'),
  finishedAt: instant('finished_at'),
});

export type Audit = typeof audits.$inferSelect;
