import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { flag, instant, outcomeColumns, uuidBytes } from './columns.ts';

/** Kinds of subjects that a transaction pays. `OUTCOME_HANDLERS` in finality/watch.ts maps each to its handler. */
export type ClaimKind = 'checkout' | 'x402' | 'activation' | 'facilitator' | 'refund' | 'metered' | 'subscription';

/**
 * A transaction pays one subject per mode, permanently: claims are never deleted. A claim also holds the transaction's outcome on the
 * chain. WITHOUT ROWID. The first column leads the key, because the planner would read the key for any statement of one mode otherwise.
 */
export const txClaims = sqliteTable(
  'tx_claims',
  {
    /** Ends and hash of the signature: `claimKeyOf`. */
    txKey: text('tx_key').notNull(),
    /** With the channel, if the claim is on its payout. Null once the payment was archived, with the signature. */
    txSignature: text('tx_signature'),
    livemode: flag('livemode').notNull().default(true),
    kind: text('kind').$type<ClaimKind>().notNull(),
    subjectId: uuidBytes('subject_id').notNull(),
    slot: integer('slot'),
    /** Time at which the confirmation first took effect. */
    confirmedAt: instant('confirmed_at'),
    ...outcomeColumns(),
    /** The only call that received the success. Any other call is answered as a repetition. */
    answeredBy: text('answered_by'),
    /** Name that the client gave its payment, with merchant and purpose: `identifierKey`. Null once the payment has failed. */
    identifier: text('identifier'),
  },
  (table) => [
    primaryKey({ columns: [table.txKey, table.livemode] }),
    uniqueIndex('tx_claims_by_identifier').on(table.identifier, table.livemode).where(sql`identifier IS NOT NULL`),
    index('tx_claims_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 1`),
    index('sandbox_tx_claims_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 0`),
  ],
);
