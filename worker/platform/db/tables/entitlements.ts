import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, EntitlementId, ProductId } from '#core/ids.ts';
import type { EntitlementStatus } from '#rules/balance.ts';
import { addressBytes, flag, instant, oneOf, uuidBytes } from './columns.ts';

/** Copies of entitlement objects for lists. Only the projection writes them, and an older version never replaces a newer one. */
export const entitlements = sqliteTable(
  'entitlements',
  {
    id: uuidBytes('id').$type<EntitlementId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    walletAddress: addressBytes('wallet_address'),
    customerRef: text('customer_ref'),
    status: text('status').$type<EntitlementStatus>().notNull(),
    grantedUnits: integer('granted_units'),
    usedUnits: integer('used_units').notNull(),
    remaining: integer('remaining'),
    paidThrough: instant('paid_through'),
    unlimited: flag('unlimited').notNull(),
    version: integer('version').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    oneOf('entitlements_status', 'status', ['active', 'exhausted', 'expired', 'revoked'] satisfies EntitlementStatus[]),
    // Each index ends in the rowid, which is the list order.
    index('entitlements_by_merchant').on(table.merchantId, table.livemode),
    index('entitlements_by_product').on(table.merchantId, table.livemode, table.productId),
    index('entitlements_by_status').on(table.merchantId, table.livemode, table.status),
    index('entitlements_by_wallet').on(table.merchantId, table.livemode, table.walletAddress).where(sql`wallet_address IS NOT NULL`),
    index('entitlements_by_ref').on(table.merchantId, table.livemode, table.customerRef).where(sql`customer_ref IS NOT NULL`),
  ],
);
