import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import { fateColumns, flag, instant } from './columns.ts';

/** What a transaction can pay. Each kind has one row in finality/kinds.ts, which tells what follows its fate. */
export type ClaimKind = 'checkout' | 'x402' | 'activation' | 'facilitator' | 'refund' | 'metered' | 'subscription';

/**
 * One transaction pays one thing in a mode, for ever: these rows are never deleted. Each also tells what became of its transaction
 * on the chain, whatever it paid.
 */
export const txClaims = sqliteTable(
  'tx_claims',
  {
    txSignature: text('tx_signature').notNull(),
    livemode: flag('livemode').notNull().default(true),
    /** Where it was claimed before there was a signature of ours to be seen: the hash of the message itself. */
    messageHash: text('message_hash'),
    kind: text('kind').$type<ClaimKind>().notNull(),
    subjectId: text('subject_id').primaryKey(),
    /** Where it was last seen on the chain; null: not seen yet, or not known. */
    slot: integer('slot'),
    /** When it was first acted upon as confirmed. */
    confirmedAt: instant('confirmed_at'),
    ...fateColumns(),
    /** The one call that was told of the success of what it paid; any other call is answered that it is a repetition. */
    answeredBy: text('answered_by'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    uniqueIndex('tx_claims_by_signature').on(table.livemode, table.txSignature).where(sql`tx_signature IS NOT NULL`),
    uniqueIndex('tx_claims_by_message').on(table.livemode, table.messageHash).where(sql`message_hash IS NOT NULL`),
    index('tx_claims_due').on(table.nextLookAt).where(sql`next_look_at IS NOT NULL AND livemode = 1`),
    index('sandbox_tx_claims_due').on(table.nextLookAt).where(sql`next_look_at IS NOT NULL AND livemode = 0`),
  ],
);
