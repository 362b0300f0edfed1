import { and, eq, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { type SandboxFate, type SandboxTransaction, sandboxTransactions } from '#platform/db/tables/sandbox.ts';

/** Which simulated chain: each session of a merchant's sandbox has one, and what is of no session another. */
export interface SandboxPlace {
  merchantId: AccountId;
  sessionId: string | null;
}

const isAt = ({ merchantId, sessionId }: SandboxPlace) =>
  and(eq(sandboxTransactions.merchantId, merchantId), eq(sandboxTransactions.sessionId, sessionId ?? ''));

export const findTransactions = (db: Db, place: SandboxPlace, signatures: readonly string[]): Promise<SandboxTransaction[]> =>
  db
    .select()
    .from(sandboxTransactions)
    .where(and(isAt(place), sql`${sandboxTransactions.txSignature} IN (SELECT value FROM json_each(${JSON.stringify(signatures)}))`));

/** A statement, not an effect. What becomes of a message is decided once. */
export const insertTransaction = (
  db: Db,
  { merchantId, sessionId }: SandboxPlace,
  row: Pick<SandboxTransaction, 'messageHash' | 'fate' | 'createdAt'>,
): Write =>
  db
    .insert(sandboxTransactions)
    .values({ ...row, merchantId, sessionId: sessionId ?? '', txSignature: null, wire: null, sentAt: null })
    .onConflictDoNothing();

/**
 * A statement, not an effect. The first broadcast counts; the same bytes again change nothing. `fate`: of a message of which nothing was
 * decided before.
 */
export const markSent = (db: Db, { merchantId, sessionId }: SandboxPlace, { messageHash, fate, txSignature, wire, sentAt }: Sent): Write =>
  db
    .insert(sandboxTransactions)
    .values({ merchantId, sessionId: sessionId ?? '', messageHash, fate, txSignature, wire, sentAt, createdAt: sentAt })
    .onConflictDoUpdate({
      target: [sandboxTransactions.merchantId, sandboxTransactions.messageHash],
      set: { txSignature, wire, sentAt },
      setWhere: sql`${sandboxTransactions.sentAt} IS NULL`,
    });

/** A signed message that was broadcast. */
interface Sent {
  messageHash: string;
  fate: SandboxFate;
  txSignature: string;
  wire: string;
  sentAt: number;
}
