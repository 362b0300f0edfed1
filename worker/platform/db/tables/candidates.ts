import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, PaymentId } from '#core/ids.ts';
import { flag, instant, uuidBytes } from './columns.ts';

/**
 * Signatures to check, not claims: `sent` by the service, `found` on chain by reference key, `named` by a caller. `judged`: decided after
 * it was `found`, retained for minutes because the scan lists the signature again. `judged` rows have payment id `''`, because strangers
 * can cause any number of them.
 */
export const paymentCandidates = sqliteTable(
  'payment_candidates',
  {
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull(),
    txSignature: text('tx_signature').notNull(),
    origin: text('origin').$type<'sent' | 'found' | 'named' | 'judged'>().notNull(),
    attempt: integer('attempt').notNull(),
    nextCheckAt: instant('next_check_at').notNull(),
    createdAt: instant('created_at').notNull(),
    /** Time of the broadcast by the service, whatever the `origin`. Until the blockhash expires, no other transaction is sent. */
    sentAt: instant('sent_at'),
    livemode: flag('livemode').notNull().default(true),
    /** Seller of the payment, so that sellers share the sweep's checks. '' if `judged`, or if the payment is not in the database. */
    merchantId: uuidBytes('merchant_id').$type<AccountId | ''>().notNull().default(''),
  },
  (table) => [
    uniqueIndex('payment_candidates_once').on(table.paymentId, table.txSignature),
    index('payment_candidates_due').on(table.origin, table.nextCheckAt).where(sql`livemode = 1`),
    index('payment_candidates_by_merchant')
      .on(table.origin, table.merchantId, table.nextCheckAt)
      .where(sql`livemode = 1 AND origin IN ('found', 'sent', 'named')`),
    index('sandbox_candidates_due').on(table.origin, table.nextCheckAt).where(sql`livemode = 0`),
  ],
);

/** Position of a chain scan, stored together with the rows of the page that was read. Two sweeps store their own positions here too. */
export const cursors = sqliteTable('cursors', {
  name: text('name').primaryKey(),
  /** Newest signature of the last finished walk, where the next one ends. */
  until: text('until'),
  /** Walk in progress: the newest signature, at which the next walk ends, and the oldest one read. */
  walkTop: text('walk_top'),
  walkBefore: text('walk_before'),
  /** Chain time of the node when the walk began, at most our own time. */
  walkStartedAt: instant('walk_started_at'),
  /** Every payment on chain up to this moment was seen. */
  passedAt: instant('passed_at').notNull(),
  version: integer('version').notNull(),
});

export type Candidate = typeof paymentCandidates.$inferSelect;

export type Cursor = typeof cursors.$inferSelect;
