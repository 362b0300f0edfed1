import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, KeyId } from '#core/ids.ts';
import type { KeyScope } from '#rules/access/scopes.ts';
import type { Permission } from '#rules/admission.ts';
import { flag, instant, json, uuidBytes } from './columns.ts';

/** Creator of a key: a person, or an agent's setup. */
export interface KeyMaker {
  kind: 'person' | 'setup';
  user_id?: AccountId;
}

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
    /** In the future: the end of a key that was rolled. Such a key is in no quota. */
    revokedAt: instant('revoked_at'),
    /** Restrictions. null: none. */
    scopes: json<KeyScope[]>('scopes'),
    expiresAt: instant('expires_at'),
    allowedIps: json<string[]>('allowed_ips'),
    /** Time of the last change that lifted a restriction of a live key. */
    widenedAt: instant('widened_at'),
    createdBy: json<KeyMaker>('created_by').notNull(),
    /** Key that this one replaces. */
    rolledFrom: uuidBytes('rolled_from').$type<KeyId>(),
    version: integer('version').notNull(),
  },
  (table) => [index('api_keys_by_merchant').on(table.merchantId, table.livemode, table.revokedAt)],
);

export type ApiKey = typeof apiKeys.$inferSelect;
