import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, InvitationId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import type { CountedFactors } from '#rules/access/factors.ts';
import type { GivenRole } from '#rules/access/roles.ts';
import { INVITATION, type InvitationStatus } from '#rules/states.ts';
import { flag, instant, json, oneOf, uuidBytes } from '../columns.ts';

/** Verified former address of a person. `until` in epoch ms. */
export interface FormerEmail {
  email: string;
  until: number;
}

/**
 * Persons who sign in. Registration inserts a person and an account of one id. A person changes under the version of that account, which one
 * admission object holds for both. Never deleted: after the person's end only keyed hashes and the password remain. An account that a person
 * got after a transfer of the first one has a row without a way to sign in.
 */
export const persons = sqliteTable(
  'persons',
  {
    id: uuidBytes('id').$type<AccountId>().primaryKey(),
    name: text('name').notNull(),
    email: text('email'),
    /** Keyed hash of the normalized email: unique lock for registration, retained when the email is erased. */
    emailKey: text('email_key').unique(),
    walletAddress: text('wallet_address'),
    /** Keyed hash of the sign-in wallet: the same lock for wallets. */
    walletKey: text('wallet_key').unique(),
    passwordHash: text('password_hash'),
    isStaff: flag('is_staff').notNull(),
    /** Tokens carry this version. A token of an older version is refused. */
    tokenVersion: integer('token_version').notNull(),
    emailVerified: flag('email_verified').notNull(),
    /** Time at which a provider proved the address to a reader who was asked for the password. null: none, or the password was shown. */
    joinAskedAt: instant('join_asked_at'),
    formerEmails: json<FormerEmail[]>('former_emails').notNull().default([]),
    /** Changes in the batch of the rows that it counts. null: none. */
    factors: json<CountedFactors>('factors'),
    /** Time at which all factors are removed, because an operator began it. null: none is under way. */
    factorsEndAt: instant('factors_end_at'),
    locale: text('locale').$type<Locale>().notNull().default('en'),
    /** Keyed hashes of the addresses of a deleted person, until the invitations to them are erased. */
    endedEmailKeys: json<string[]>('ended_email_keys'),
    /** Account that the person acted on last. Null: the one of the same id. */
    lastAccountId: uuidBytes('last_account_id').$type<AccountId>(),
    /** End of a person who transferred the account of the same id. Other persons end with that account. */
    personEndedAt: instant('ended_at'),
  },
  (table) => [
    // Must equal the expression in features/key-rotation/store.ts.
    index('persons_sealed').on(sql`substr(password_hash, 1, 8)`).where(sql`password_hash IS NOT NULL`),
    index('persons_factors_end').on(table.factorsEndAt).where(sql`factors_end_at IS NOT NULL`),
    index('persons_staff').on(table.id).where(sql`is_staff = 1`),
  ],
);

export type PersonRow = typeof persons.$inferSelect;

/**
 * Members of an account but its owner, in the account's database. Inserted by an accepted invitation, at most as many as the plan has seats.
 * Deleted by removal and with the account.
 */
export const members = sqliteTable(
  'members',
  {
    accountId: uuidBytes('account_id').$type<AccountId>().notNull(),
    personId: uuidBytes('person_id').$type<AccountId>().notNull(),
    role: text('role').$type<GivenRole>().notNull(),
    joinedAt: instant('joined_at').notNull(),
    /** Time since which the member has the role. */
    roleAt: instant('role_at').notNull(),
    invitedBy: uuidBytes('invited_by').$type<AccountId>(),
  },
  (table) => [primaryKey({ columns: [table.accountId, table.personId] })],
);

/**
 * Invitations to become a member, in the account's database. Changed under the version of the account. The next invitation deletes those
 * that ended two years ago, and the account's end all of them. Deleted with the person of the address.
 */
export const invitations = sqliteTable(
  'invitations',
  {
    id: uuidBytes('id').$type<InvitationId>().primaryKey(),
    accountId: uuidBytes('account_id').$type<AccountId>().notNull(),
    /** Normalized. */
    email: text('email').notNull(),
    /** Keyed hash of the address, as in `persons`. */
    emailKey: text('email_key').notNull(),
    role: text('role').$type<GivenRole>().notNull(),
    status: text('status').$type<InvitationStatus>().notNull(),
    invitedBy: uuidBytes('invited_by').$type<AccountId>().notNull(),
    /** End of the newest link. A link names it, so that a new link ends the earlier one. */
    expiresAt: integer('expires_at').notNull(),
    createdAt: integer('created_at').notNull(),
  },
  (table) => [
    index('invitations_list').on(table.accountId, table.expiresAt),
    index('invitations_by_email').on(table.emailKey),
    oneOf('invitations_status', 'status', INVITATION.states),
  ],
);

export type Invitation = typeof invitations.$inferSelect;

/**
 * Accounts of other ids that a person may act on or could before, in the person's database. The account's own row alone decides. Deleted with
 * the person, once the person's name is erased there.
 */
export const joinedAccounts = sqliteTable(
  'joined_accounts',
  {
    personId: uuidBytes('person_id').$type<AccountId>().notNull(),
    accountId: uuidBytes('account_id').$type<AccountId>().notNull(),
    /** End of the membership. null: the person may act on the account. */
    leftAt: instant('left_at'),
  },
  (table) => [primaryKey({ columns: [table.personId, table.accountId] })],
);

export type Member = typeof members.$inferSelect;
