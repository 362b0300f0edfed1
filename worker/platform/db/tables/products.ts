import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, AppId, ProductId, SandboxSessionId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import type { Discovery } from '#protocols/x402/discovery.ts';
import type { DeliveryTarget, IdentityProvider, RenewalMode } from '#rules/payment-terms.ts';
import { PRODUCT, type ProductStatus } from '#rules/states.ts';
import { amount, flag, instant, json, oneOf, uuidBytes } from './columns.ts';

export const products = sqliteTable(
  'products',
  {
    id: uuidBytes('id').$type<ProductId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    slug: text('slug').notNull().unique(),
    externalProductId: text('external_product_id'),
    accessAppId: uuidBytes('access_app_id').$type<AppId>(),
    name: text('name').notNull(),
    description: text('description'),
    productType: text('product_type').$type<'api' | 'link' | IdentityProvider>().notNull(),
    status: text('status').$type<ProductStatus>().notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    priceAmount: amount('price_amount').notNull(),
    /** null: only the asset of the price. */
    acceptedAssets: json<Asset[]>('accepted_assets'),
    billingModel: text('billing_model').$type<'one_off' | 'recurring'>().notNull(),
    renewalMode: text('renewal_mode').$type<RenewalMode>().notNull().default('ONE_OFF'),
    accessPeriodDays: integer('access_period_days'),
    usageUnits: integer('usage_units'),
    unitName: text('unit_name'),
    payoutWallet: text('payout_wallet'),
    /** null: every available rail. */
    allowedRails: json<string[]>('allowed_rails'),
    defaultRail: text('default_rail'),
    graceHours: integer('grace_hours').notNull(),
    sessionSeconds: integer('session_seconds'),
    successUrl: text('success_url'),
    cancelUrl: text('cancel_url'),
    requiresIdentity: text('requires_identity').$type<IdentityProvider>(),
    delivery: json<DeliveryTarget>('delivery'),
    /** Routes that agents are shown. null: none. */
    discovery: json<Discovery>('discovery'),
    metadata: json<Record<string, string>>('metadata').notNull(),
    liveModeConfirmed: flag('live_mode_confirmed').notNull(),
    trustedCustomerRef: flag('trusted_customer_ref').notNull().default(false),
    /** Base units of USDC that one payer may pay for the product in a UTC day, by x402 or a charge. null: no limit. */
    maxPerPayerPerDay: amount('max_per_payer_per_day'),
    /** Sandbox session that created the product for itself. It counts in no quota, and is deleted with the session. */
    sandboxSessionId: uuidBytes('sandbox_session_id').$type<SandboxSessionId>(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('products_status', 'status', PRODUCT.states),
    uniqueIndex('products_by_external_id').on(table.merchantId, table.livemode, table.externalProductId),
    index('products_by_status').on(table.merchantId, table.livemode, table.sandboxSessionId, table.status, table.createdAt),
    index('products_by_merchant').on(table.merchantId, table.livemode, table.sandboxSessionId, table.createdAt),
    index('products_of_session').on(table.sandboxSessionId).where(sql`sandbox_session_id IS NOT NULL`),
  ],
);

export const accessApps = sqliteTable(
  'access_apps',
  {
    id: uuidBytes('id').$type<AppId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    name: text('name').notNull(),
    homepageUrl: text('homepage_url'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('access_apps_by_merchant').on(table.merchantId, table.livemode, table.createdAt)],
);

export type Product = typeof products.$inferSelect;

export type AccessApp = typeof accessApps.$inferSelect;
