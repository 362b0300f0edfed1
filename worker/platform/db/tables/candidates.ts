import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, PaymentId } from '#core/ids.ts';
import { flag, instant } from './columns.ts';

/**
 * Signatures to look for, not claims: what the service `sent`, what it `found` on chain by its reference key, what a caller `named`.
 * `judged` is what was found and got its verdict, kept for a while because the list it was found in is read more than once. The payment
 * id of such a row is `''`: it belongs to no payment, so that none is slowed down by how many there are.
 */
export const paymentCandidates = sqliteTable(
  'payment_candidates',
  {
    paymentId: text('payment_id').$type<PaymentId>().notNull(),
    txSignature: text('tx_signature').notNull(),
    origin: text('origin').$type<'sent' | 'found' | 'named' | 'judged'>().notNull(),
    attempt: integer('attempt').notNull(),
    /** Of `judged`: when it may be forgotten. */
    nextCheckAt: instant('next_check_at').notNull(),
    createdAt: instant('created_at').notNull(),
    /** When the service broadcast it, whatever it is looked for as by now: until its blockhash is dead, no other is sent. */
    sentAt: instant('sent_at'),
    /** Of its payment: which chain it is looked for on. */
    livemode: flag('livemode').notNull().default(true),
    /** Seller of its payment, among whom the looks of a sweep are shared; '' of `judged`, and where the payment is not in the database. */
    merchantId: text('merchant_id').$type<AccountId | ''>().notNull().default(''),
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

/** How far a reader of the chain has come; a page and the step past it are stored together. */
export const cursors = sqliteTable('cursors', {
  name: text('name').primaryKey(),
  /** Newest signature of the last finished walk: the next one ends there. */
  until: text('until'),
  /** Of a walk under way: the signature the next walk will end at, and the oldest one read so far. */
  walkTop: text('walk_top'),
  walkBefore: text('walk_before'),
  /** How far the node had come when the walk began, by the chain's clock and no later than ours. */
  walkStartedAt: instant('walk_started_at'),
  /** Every payment on chain up to this moment has been seen. */
  passedAt: instant('passed_at').notNull(),
  version: integer('version').notNull(),
});

export type Candidate = typeof paymentCandidates.$inferSelect;

export type Cursor = typeof cursors.$inferSelect;
