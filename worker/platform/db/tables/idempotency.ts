import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { instant } from './columns.ts';

/** Idempotency records: the finished answer, written in the batch of its effect, or a lease while an external call runs. */
export const idempotencyRecords = sqliteTable(
  'claims',
  {
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    status: integer('status'),
    body: text('body'),
    /** Where the answer holds a secret: it stands here, sealed, instead of in `body`. */
    sealedBody: text('sealed_body'),
    /** Names one taking of a lease and never another; only its holder may finish. */
    fence: integer('fence').notNull(),
    leaseUntil: instant('lease_until'),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.key] }),
    index('claims_expiring').on(table.expiresAt),
    // Begins as features/seals/store.ts says.
    index('claims_sealed').on(sql`substr(sealed_body, 1, 8)`).where(sql`sealed_body IS NOT NULL`),
  ],
);

/** Never holds a row: inserting NULL fails the batch, which is how a statement aborts its batch. */
export const guard = sqliteTable('guard', { veto: integer('veto').notNull() });
