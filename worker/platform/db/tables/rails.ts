import { integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import { flag, instant, json, uuidBytes } from './columns.ts';

export const railSettings = sqliteTable(
  'rail_settings',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    railId: text('rail_id').notNull(),
    enabled: flag('enabled').notNull(),
    payoutWallet: text('payout_wallet'),
    /** Origins of the merchant's shops. Only the x402 rail has any. */
    origins: json<string[]>('origins').notNull().default([]),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.railId] })],
);

export type Setting = typeof railSettings.$inferSelect;
