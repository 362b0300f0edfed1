import { index, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, KeyId } from '#core/ids.ts';
import type { Permission } from '#rules/admission.ts';
import { flag, instant, json, uuidBytes } from './columns.ts';

export const apiKeys = sqliteTable(
  'api_keys',
  {
    id: uuidBytes('id').$type<KeyId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    name: text('name').notNull(),
    keyHash: text('key_hash').notNull().unique(),
    keyPrefix: text('key_prefix').notNull(),
    permissions: json<Permission[]>('permissions').notNull(),
    livemode: flag('livemode').notNull(),
    createdAt: instant('created_at').notNull(),
    revokedAt: instant('revoked_at'),
  },
  (table) => [index('api_keys_by_merchant').on(table.merchantId, table.livemode, table.revokedAt)],
);

export type ApiKey = typeof apiKeys.$inferSelect;
