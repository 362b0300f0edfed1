import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { instant, json } from './columns.ts';

export interface Suspect {
  merchantId: string;
  livemode: boolean;
  entitlementId: string;
  /** 0: the object was empty. */
  version: number;
}

/** Daily audits, one row each. Inserted by the audit, deleted 400 days later. Read by key only. */
export const audits = sqliteTable('audits', {
  /** `YYYY-MM-DD`, UTC. */
  day: text('day').primaryKey(),
  /** Earliest next check, or the lease end of a running one. null: finished. */
  dueAt: instant('due_at'),
  checked: integer('checked').notNull(),
  differing: integer('differing').notNull(),
  unknown: integer('unknown').notNull(),
  /** Entitlements to compare once more. null: the first check is pending. */
  suspects: json<Suspect[]>('suspects'),
  finishedAt: instant('finished_at'),
});

export type Audit = typeof audits.$inferSelect;
