import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { flag, instant, outcomeColumns } from './columns.ts';

/** Kinds of subjects that a transaction pays. `OUTCOME_HANDLERS` in finality/watch.ts maps each to its handler. */
export type ClaimKind = 'checkout' | 'x402' | 'activation' | 'facilitator' | 'refund' | 'metered' | 'subscription';

/**
 * A transaction pays one subject per mode, permanently: claims are never deleted. A claim also holds the transaction's outcome on the
 * chain. WITHOUT ROWID.
 */
export const txClaims = sqliteTable(
  'tx_claims',
  {
    txSignature: text('tx_signature').notNull(),
    livemode: flag('livemode').notNull().default(true),
    /** Hash of the message of an x402 payment, which an agent may send again. null: the service signs the message alone. */
    messageHash: text('message_hash'),
    kind: text('kind').$type<ClaimKind>().notNull(),
    subjectId: text('subject_id').primaryKey(),
    slot: integer('slot'),
    /** Time at which the confirmation first took effect. */
    confirmedAt: instant('confirmed_at'),
    ...outcomeColumns(),
    /** The only call that received the success. Any other call is answered as a repetition. */
    answeredBy: text('answered_by'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('tx_claims_by_signature').on(table.livemode, table.txSignature).where(sql`tx_signature IS NOT NULL`),
    uniqueIndex('tx_claims_by_message').on(table.livemode, table.messageHash).where(sql`message_hash IS NOT NULL`),
    index('tx_claims_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 1`),
    index('sandbox_tx_claims_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 0`),
  ],
);
