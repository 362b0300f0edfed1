import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, MailId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import type { EmailFacts, EmailTemplate } from '#rules/emails.ts';
import { MAIL, type MailStatus } from '#rules/states.ts';
import { instant, json, oneOf, uuidBytes } from './columns.ts';

/** Due time of the email sweep. The partial index contains this expression, so queries must use the same text. */
export const MAIL_DUE_AT = sql`CASE WHEN queued_until > next_attempt_at THEN queued_until ELSE next_attempt_at END`;

/**
 * Outbox of emails, written in the batch of their cause by merchants and, rate limited by address and caller, by password resets. An email
 * ends sent, failed or dropped, and is deleted 30 days later. An email to an address without an account is deleted when due. Deleting an
 * account ends its pending emails.
 */
export const mails = sqliteTable(
  'mails',
  {
    id: uuidBytes('id').$type<MailId>().primaryKey(),
    /** null: the account that has the address at send time. */
    accountId: uuidBytes('account_id').$type<AccountId>(),
    template: text('template').$type<EmailTemplate>().notNull(),
    facts: json<EmailFacts[EmailTemplate]>('facts').notNull(),
    /** null: locale of the account at send time. */
    locale: text('locale').$type<Locale>(),
    /** null: address of the account at send time. Erased when the email has ended. */
    address: text('address'),
    addressKey: text('address_key'),
    subjectId: uuidBytes('subject_id'),
    /** Cause of an email that may be written twice and must be sent once. */
    cause: text('cause'),
    status: text('status').$type<MailStatus>().notNull(),
    attempt: integer('attempt').notNull(),
    nextAttemptAt: instant('next_attempt_at'),
    queuedUntil: instant('queued_until').notNull().default(0),
    leaseUntil: instant('lease_until').notNull(),
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
    index('mails_by_address').on(table.addressKey, table.template, table.createdAt).where(sql`address_key IS NOT NULL`),
    index('mails_by_account').on(table.accountId, table.template, table.createdAt).where(sql`account_id IS NOT NULL`),
    index('mails_ended').on(table.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
);

/** Addresses that bounced or complained, to which no email is sent again. Inserted only by providers, never deleted. */
export const bouncedAddresses = sqliteTable('bounced_addresses', {
  addressKey: text('address_key').primaryKey(),
  reason: text('reason').$type<'bounced' | 'complained'>().notNull(),
  bouncedAt: instant('bounced_at').notNull(),
});

export type Mail = typeof mails.$inferSelect;
