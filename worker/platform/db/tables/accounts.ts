import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import type { HeldPlan, PlanName } from '#rules/plans.ts';
import { ACCOUNT, type AccountStatus } from '#rules/states.ts';
import { flag, instant, json, oneOf, uuidBytes } from './columns.ts';

export type MerchantSettings = Partial<
  Record<
    | 'checkout_brand_name'
    | 'checkout_logo_url'
    | 'checkout_hero_image_url'
    | 'checkout_success_button_label'
    | 'checkout_accent_hex'
    | 'default_redirect_url'
    | 'default_support_url',
    string
  >
>;

/** Resources that ended, with counts, when the owner of the email address claimed the account. `at` in epoch ms. */
export interface ClaimedAccount {
  at: number;
  keys: number;
  endpoints: number;
  providers: number;
  wallets: number;
}

/** Verified former address of the account. `until` in epoch ms. */
export interface FormerEmail {
  email: string;
  until: number;
}

export const accounts = sqliteTable(
  'accounts',
  {
    id: uuidBytes('id').$type<AccountId>().primaryKey(),
    /** Name of the admission object, derived from the id. Unique, so that no two accounts share one. */
    admissionId: text('admission_id').notNull().unique(),
    email: text('email'),
    /** Keyed hash of the normalized email: unique lock for registration, retained when the email is erased. */
    emailKey: text('email_key').unique(),
    walletAddress: text('wallet_address'),
    /** Keyed hash of the sign-in wallet: the same lock for wallets. */
    walletKey: text('wallet_key').unique(),
    passwordHash: text('password_hash'),
    displayName: text('display_name').notNull(),
    plan: text('plan').$type<PlanName>().notNull(),
    planThrough: instant('plan_through'),
    processorPlans: json<HeldPlan[]>('processor_plans').notNull().default([]),
    status: text('status').$type<AccountStatus>().notNull(),
    isStaff: flag('is_staff').notNull(),
    /** Tokens carry this version. A token of an older version is refused. */
    tokenVersion: integer('token_version').notNull(),
    emailVerified: flag('email_verified').notNull(),
    formerEmails: json<FormerEmail[]>('former_emails').notNull().default([]),
    timezone: text('timezone').notNull(),
    locale: text('locale').$type<Locale>().notNull().default('en'),
    notificationPrefs: json<Record<string, boolean>>('notification_prefs').notNull(),
    merchantSettings: json<MerchantSettings>('merchant_settings').notNull(),
    /** null: on sale. */
    salesPausedAt: instant('sales_paused_at'),
    createdAt: instant('created_at').notNull(),
    /** null: still owned by the agent that created the account. */
    claimed: json<ClaimedAccount>('claimed'),
    deletedAt: instant('deleted_at'),
    /** Completion of a deleted account's erasure, null: pending for the sweep. */
    erasedAt: instant('erased_at'),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('accounts_status', 'status', ACCOUNT.states),
    index('accounts_erasing').on(table.deletedAt).where(sql`status = 'deleted' AND erased_at IS NULL`),
    // Must equal the expression in features/key-rotation/store.ts.
    index('accounts_sealed').on(sql`substr(password_hash, 1, 8)`).where(sql`password_hash IS NOT NULL`),
    index('accounts_staff').on(table.id).where(sql`is_staff = 1`),
    index('accounts_ending').on(table.planThrough).where(sql`plan_through IS NOT NULL`),
  ],
);

/**
 * All live payout wallets of a merchant. A row is inserted when a wallet is first named, which after the first wallet requires a fresh
 * sign-in. Deleted with the account. Read by key only.
 */
export const payoutWallets = sqliteTable(
  'payout_wallets',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    wallet: text('wallet').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.wallet] })],
);

export const loginNonces = sqliteTable(
  'login_nonces',
  {
    nonce: text('nonce').primaryKey(),
    walletAddress: text('wallet_address').notNull(),
    message: text('message').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('login_nonces_expiring').on(table.expiresAt)],
);

export type Account = typeof accounts.$inferSelect;

export type LoginNonce = typeof loginNonces.$inferSelect;
