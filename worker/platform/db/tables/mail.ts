import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, MailId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import type { LetterFacts, LetterName } from '#rules/letters.ts';
import { MAIL, type MailStatus } from '#rules/states.ts';
import { instant, json, oneOf } from './columns.ts';

/** From when on the sweep brings a letter: the index of what is to be brought holds it, word for word. */
export const MAIL_DUE_AT = sql`CASE WHEN queued_until > next_attempt_at THEN queued_until ELSE next_attempt_at END`;

/**
 * Letters, written in the batch of what caused them: the outbox of mail. Made by merchants and, bounded by address and by caller, by
 * strangers who forgot a password; each ends sent, failed or dropped, and is deleted 30 days after. One to an address that no account has is
 * deleted when its turn comes. Deleting an account ends what waits.
 */
export const mails = sqliteTable(
  'mails',
  {
    id: text('id').$type<MailId>().primaryKey(),
    /** Whose letter it is; null: of the account that has the address when it is sent. */
    accountId: text('account_id').$type<AccountId>(),
    letter: text('letter').$type<LetterName>().notNull(),
    facts: json<LetterFacts[LetterName]>('facts').notNull(),
    /** null: that of the account when it is sent. */
    locale: text('locale').$type<Locale>(),
    /** null: that of the account when it is sent. Erased when the letter has ended. */
    address: text('address'),
    /** Keyed hash of the address, by which letters to it are counted. */
    addressKey: text('address_key'),
    /** What it is about, where letters about one thing are counted. */
    subjectId: text('subject_id'),
    /** What caused it, where it may be written twice and must be sent once. */
    cause: text('cause'),
    status: text('status').$type<MailStatus>().notNull(),
    /** Attempts made. */
    attempt: integer('attempt').notNull(),
    nextAttemptAt: instant('next_attempt_at'),
    /** Until then a message of the sweep for it is on its way. */
    queuedUntil: instant('queued_until').notNull().default(0),
    leaseUntil: instant('lease_until').notNull(),
    /** What the provider calls it. */
    providerId: text('provider_id'),
    error: text('error'),
    requestId: text('request_id').notNull(),
    createdAt: instant('created_at').notNull(),
    endedAt: instant('ended_at'),
  },
  (table) => [
    oneOf('mails_status', 'status', MAIL.states),
    uniqueIndex('mails_by_cause').on(table.cause).where(sql`cause IS NOT NULL`),
    index('mails_due').on(table.nextAttemptAt).where(sql`next_attempt_at IS NOT NULL`),
    index('mails_to_bring').on(MAIL_DUE_AT).where(sql`next_attempt_at IS NOT NULL`),
    index('mails_by_address').on(table.addressKey, table.letter, table.createdAt).where(sql`address_key IS NOT NULL`),
    index('mails_by_account').on(table.accountId, table.letter, table.createdAt).where(sql`account_id IS NOT NULL`),
    index('mails_ended').on(table.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
);

/** Addresses that a provider said cannot be reached, or that complained: nothing is sent there again. Made by providers alone, kept for ever. */
export const bouncedAddresses = sqliteTable('bounced_addresses', {
  addressKey: text('address_key').primaryKey(),
  reason: text('reason').$type<'bounced' | 'complained'>().notNull(),
  bouncedAt: instant('bounced_at').notNull(),
});

export type Mail = typeof mails.$inferSelect;
