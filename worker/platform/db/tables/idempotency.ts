import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { instant, squeezed } from './columns.ts';

/**
 * Idempotency records: the finished answer, written in the batch of its effect, or a lease during an external call. WITHOUT ROWID, and
 * without an index of expiries: the sweep walks the table.
 */
export const idempotencyRecords = sqliteTable(
  'claims',
  {
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    status: integer('status'),
    /** Unique id of one lease acquisition. Only its holder may finish. */
    fence: integer('fence').notNull(),
    leaseUntil: instant('lease_until'),
    expiresAt: instant('expires_at').notNull(),
    /** Behind all other columns, because the sweep reads past a long one. */
    body: squeezed('body'),
    sealedBody: text('sealed_body'),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.key] }),
    // Must equal the expression in features/key-rotation/store.ts.
    index('claims_sealed').on(sql`substr(sealed_body, 1, 8)`).where(sql`sealed_body IS NOT NULL`),
  ],
);

/** Always empty. Inserting NULL aborts the batch, which is how a statement enforces a condition. */
export const guard = sqliteTable('guard', { veto: integer('veto').notNull() });
