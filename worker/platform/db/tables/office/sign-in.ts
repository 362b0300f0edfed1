import { index, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { instant } from '../columns.ts';

/**
 * Who a person is at a provider, and whose account that opens: at most one of each provider. Ended by unlinking; of a deleted account a keyed hash stays in
 * place of the name, as of its e-mail, so that the same person makes no other.
 */
export const signInIdentities = sqliteTable(
  'sign_in_identities',
  {
    provider: text('provider').$type<SignInProvider>().notNull(),
    /** The provider's own name for the person, which never changes. */
    subject: text('subject').notNull(),
    accountId: text('account_id').$type<AccountId>().notNull(),
    /** As the provider told it last. */
    email: text('email'),
    linkedAt: instant('linked_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.provider, table.subject] }),
    uniqueIndex('sign_in_identities_of_account').on(table.accountId, table.provider),
  ],
);

/** States of sign-ins by a provider that came back, until they have expired: each counts once. Only a state that we signed makes a row. */
export const usedSignInStates = sqliteTable(
  'used_sign_in_states',
  { id: text('id').primaryKey(), expiresAt: instant('expires_at').notNull() },
  (table) => [index('used_sign_in_states_expiring').on(table.expiresAt)],
);

export type SignInIdentity = typeof signInIdentities.$inferSelect;
