import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, PasskeyId } from '#core/ids.ts';
import { flag, instant, json, uuidBytes } from '../columns.ts';

/**
 * Passkeys of a person. Deleted by the person. Those of a deleted person remain without a name, so that only the owner learns of the
 * deletion.
 */
export const passkeys = sqliteTable(
  'passkeys',
  {
    id: uuidBytes('id').$type<PasskeyId>().primaryKey(),
    personId: uuidBytes('person_id').$type<AccountId>().notNull(),
    /** Base64url, as the authenticator made it. */
    credentialId: text('credential_id').notNull().unique(),
    /** COSE key in base64url. */
    publicKey: text('public_key').notNull(),
    /** Random handle of the person at the authenticator, the same for all passkeys of the person. */
    userHandle: text('user_handle').notNull(),
    counter: integer('counter').notNull(),
    transports: json<string[]>('transports').notNull(),
    isBackedUp: flag('is_backed_up').notNull(),
    name: text('name').notNull(),
    createdAt: instant('created_at').notNull(),
    lastUsedAt: instant('last_used_at'),
  },
  (table) => [index('passkeys_of_person').on(table.personId, table.id)],
);

/** Secret of a person's authenticator app: pending until a code confirms it. A pending one is replaced, or deleted when it expires. */
export const totpSecrets = sqliteTable(
  'totp_secrets',
  {
    personId: uuidBytes('person_id').$type<AccountId>().primaryKey(),
    /** Sealed by FACTOR_KEYS. */
    sealed: text('sealed').notNull(),
    /** Step of the last code that was accepted. No earlier one is. */
    lastStep: integer('last_step').notNull(),
    confirmedAt: instant('confirmed_at'),
    /** End of a pending secret. null: confirmed. */
    expiresAt: instant('expires_at'),
  },
  (table) => [
    // Must equal the expression in features/key-rotation/store.ts.
    index('totp_secrets_sealed').on(sql`substr(sealed, 1, 8)`),
    index('totp_secrets_expiring').on(table.expiresAt).where(sql`expires_at IS NOT NULL`),
  ],
);

/** Unused recovery codes of a person, as keyed hashes. Deleted by their use. */
export const recoveryCodes = sqliteTable(
  'recovery_codes',
  { personId: uuidBytes('person_id').$type<AccountId>().notNull(), hash: text('hash').notNull() },
  (table) => [primaryKey({ columns: [table.personId, table.hash] })],
);

export type Passkey = typeof passkeys.$inferSelect;
export type TotpSecret = typeof totpSecrets.$inferSelect;
