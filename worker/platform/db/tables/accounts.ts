import { getTableColumns, sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { hex } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import type { GivenRole } from '#rules/access/roles.ts';
import type { HeldPlan, PlanName } from '#rules/plans.ts';
import { ACCOUNT, type AccountStatus } from '#rules/states.ts';
import { decodeId, flag, instant, json, oneOf, uuidBytes } from './columns.ts';
import { members, type PersonRow, persons } from './office/people.ts';

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

/** Complaint about an email of a merchant. `key`: keyed hash of the address that complained. `at` in epoch ms. */
export interface EmailComplaint {
  key: string;
  at: number;
}

/** Transfer that a member may accept. `expiresAt` in epoch ms. */
export interface PendingTransfer {
  to: AccountId;
  expiresAt: number;
}

export const accounts = sqliteTable(
  'accounts',
  {
    id: uuidBytes('id').$type<AccountId>().primaryKey(),
    /** Name of the admission object, derived from the id. Unique, so that no two accounts share one. */
    admissionId: text('admission_id').notNull().unique(),
    /** Person who owns the account: the one of the same id, unless it was handed over. */
    ownerId: uuidBytes('owner_id').$type<AccountId>().notNull(),
    /** True if members without a second factor are refused. */
    requireFactor: flag('require_factor').notNull().default(false),
    /** Replaced by the next one, null once it is accepted or withdrawn, or its member leaves. */
    transfer: json<PendingTransfer>('transfer'),
    /** Wallet that is paid where neither product nor rail names one. */
    payoutWallet: text('payout_wallet'),
    displayName: text('display_name').notNull(),
    plan: text('plan').$type<PlanName>().notNull(),
    planThrough: instant('plan_through'),
    processorPlans: json<HeldPlan[]>('processor_plans').notNull().default([]),
    status: text('status').$type<AccountStatus>().notNull(),
    timezone: text('timezone').notNull(),
    notificationPrefs: json<Record<string, boolean>>('notification_prefs').notNull(),
    merchantSettings: json<MerchantSettings>('merchant_settings').notNull(),
    /** null: on sale. */
    salesPausedAt: instant('sales_paused_at'),
    /** Counted for a month, and forgotten when the operator resumes emails. */
    emailComplaints: json<EmailComplaint[]>('email_complaints').notNull().default([]),
    /** null: receipts and proofs are emailed. */
    emailsPausedAt: instant('emails_paused_at'),
    createdAt: instant('created_at').notNull(),
    /** null: still owned by the agent that created the account. */
    claimed: json<ClaimedAccount>('claimed'),
    deletedAt: instant('deleted_at'),
    /** Completion of a deleted account's erasure, null: pending for the sweep. */
    erasedAt: instant('erased_at'),
    version: integer('version').notNull(),
    /** Random number of the latest change, by which a call knows its own. null: never changed. */
    changedBy: integer('changed_by'),
  },
  (table) => [
    oneOf('accounts_status', 'status', ACCOUNT.states),
    index('accounts_erasing').on(table.deletedAt).where(sql`status = 'deleted' AND erased_at IS NULL`),
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
    /** Time at which a person declared it not theirs. It is unknown then, and only a recent sign-in makes it known again. */
    disownedAt: instant('disowned_at'),
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

export type AccountRow = typeof accounts.$inferSelect;

/** Roles of an account's members but its owner, by the ids of persons. */
export type MemberRoles = Readonly<Record<string, GivenRole>>;

/** Account with its members and the person of the same id. All change under the account's version. */
export type Account = AccountRow & Omit<PersonRow, 'id'> & { roles: MemberRoles };

/** Columns of an `Account`, of both tables. */
export const ACCOUNT_COLUMNS = {
  ...getTableColumns(persons),
  ...getTableColumns(accounts),
  roles: sql`(SELECT json_group_object(lower(hex(person_id)), role) FROM ${members} WHERE account_id = ${accounts.id})`
    .mapWith((text: string): MemberRoles => {
      const roles = Object.entries(JSON.parse(text) as MemberRoles);
      return Object.fromEntries(roles.map(([digits, role]) => [decodeId(hex.decode(digits)!), role]));
    })
    .as('roles'),
};

export type LoginNonce = typeof loginNonces.$inferSelect;
