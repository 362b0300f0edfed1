import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import type { HeldPlan, PlanName } from '#rules/plans.ts';
import { ACCOUNT, type AccountStatus } from '#rules/states.ts';
import { flag, instant, json, oneOf } from './columns.ts';

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

/** What ended, how much of each, when the reader of the address took an account over; `at` in epoch milliseconds. */
export interface ClaimedAccount {
  at: number;
  keys: number;
  endpoints: number;
  providers: number;
  wallets: number;
}

/** Verified address that the account had before; `until` in epoch milliseconds. */
export interface FormerEmail {
  email: string;
  until: number;
}

export const accounts = sqliteTable(
  'accounts',
  {
    id: text('id').$type<AccountId>().primaryKey(),
    /** Names the admission object; derived from the id, unique so that no two accounts ever share one. */
    admissionId: text('admission_id').notNull().unique(),
    email: text('email'),
    /** Keyed hash of the normalised e-mail: the lock against registering twice, kept when the e-mail itself is erased. */
    emailKey: text('email_key').unique(),
    walletAddress: text('wallet_address'),
    /** Keyed hash of the wallet that signs in: the same lock, for wallets. */
    walletKey: text('wallet_key').unique(),
    passwordHash: text('password_hash'),
    displayName: text('display_name').notNull(),
    plan: text('plan').$type<PlanName>().notNull(),
    /** When a plan that was paid for ends; null: it does not. */
    planThrough: instant('plan_through'),
    /** What its subscriptions at the payment processor give, and until when. */
    processorPlans: json<HeldPlan[]>('processor_plans').notNull().default([]),
    status: text('status').$type<AccountStatus>().notNull(),
    isStaff: flag('is_staff').notNull(),
    /** Tokens carry it; a token of an older version is refused on its next request. */
    tokenVersion: integer('token_version').notNull(),
    emailVerified: flag('email_verified').notNull(),
    /** Addresses that still hear of a new payout wallet. Changed with the address, erased with the account. */
    formerEmails: json<FormerEmail[]>('former_emails').notNull().default([]),
    timezone: text('timezone').notNull(),
    /** What language e-mails to it are in. */
    locale: text('locale').$type<Locale>().notNull().default('en'),
    notificationPrefs: json<Record<string, boolean>>('notification_prefs').notNull(),
    merchantSettings: json<MerchantSettings>('merchant_settings').notNull(),
    createdAt: instant('created_at').notNull(),
    /** null: it is still that of its maker. */
    claimed: json<ClaimedAccount>('claimed'),
    deletedAt: instant('deleted_at'),
    /** When nothing was left of a deleted account that names a person; null: a sweep is to look. */
    erasedAt: instant('erased_at'),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('accounts_status', 'status', ACCOUNT.states),
    index('accounts_erasing').on(table.deletedAt).where(sql`status = 'deleted' AND erased_at IS NULL`),
    // Begins as features/seals/store.ts says.
    index('accounts_sealed').on(sql`substr(password_hash, 1, 8)`).where(sql`password_hash IS NOT NULL`),
    index('accounts_staff').on(table.id).where(sql`is_staff = 1`),
    index('accounts_ending').on(table.planThrough).where(sql`plan_through IS NOT NULL`),
  ],
);

/**
 * Every wallet a merchant was ever set to be paid on in live mode. Written where one is named for the first time, which after the
 * first takes a person who just signed in; deleted with the account. Read by its key alone.
 */
export const payoutWallets = sqliteTable(
  'payout_wallets',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    wallet: text('wallet').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.wallet] })],
);

/** Texts we asked wallets to sign, until they are used or expire. Only the wallet a text names may use it. */
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
