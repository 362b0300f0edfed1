import { index, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { instant, uuidBytes } from '../columns.ts';

/**
 * Identity of a person at a provider and the account that the identity opens, at most one per provider. Deleted by unlinking. For a deleted
 * account a keyed hash replaces the subject, so that the same person cannot register another account.
 */
export const signInIdentities = sqliteTable(
  'sign_in_identities',
  {
    provider: text('provider').$type<SignInProvider>().notNull(),
    subject: text('subject').notNull(),
    accountId: uuidBytes('account_id').$type<AccountId>().notNull(),
    email: text('email'),
    linkedAt: instant('linked_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.provider, table.subject] }),
    uniqueIndex('sign_in_identities_of_account').on(table.accountId, table.provider),
  ],
);

/** Used states of provider sign-ins, used links and ended sessions of buyers, until their expiry. Only what we signed is inserted. */
export const usedSignInStates = sqliteTable(
  'used_sign_in_states',
  { id: text('id').primaryKey(), expiresAt: instant('expires_at').notNull() },
  (table) => [index('used_sign_in_states_expiring').on(table.expiresAt)],
);

export type SignInIdentity = typeof signInIdentities.$inferSelect;
