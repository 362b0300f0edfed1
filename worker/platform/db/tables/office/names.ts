import { sql } from 'drizzle-orm';
import { index, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import { instant, uuidBytes } from '../columns.ts';

/** Names that belong to one account of all databases. */
export type NameKind = 'email' | 'wallet' | 'identity' | 'passkey' | 'slug' | 'customer';

/**
 * Names and the accounts that use them, in the directory. The account's database decides: a row is only where to ask, so a row that was left
 * behind costs one read. WITHOUT ROWID.
 */
export const names = sqliteTable(
  'names',
  {
    kind: text('kind').$type<NameKind>().notNull(),
    /** Keyed hash of an email, wallet or identity. Slugs and customers of the processor as they are. */
    key: text('key').notNull(),
    accountId: uuidBytes('account_id').$type<AccountId>().notNull(),
    /** End of a reservation. null: the account used the name. */
    reservedUntil: instant('reserved_until'),
  },
  (table) => [
    primaryKey({ columns: [table.kind, table.key] }),
    index('names_reserved').on(table.reservedUntil).where(sql`reserved_until IS NOT NULL`),
  ],
);
