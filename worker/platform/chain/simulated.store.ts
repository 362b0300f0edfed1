import { and, eq, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { type SandboxFate, type SandboxTransaction, sandboxTransactions } from '#platform/db/tables/sandbox.ts';

/** Which simulated chain: each session of a merchant's sandbox has one, and what is of no session another. */
export interface SandboxPlace {
  merchantId: AccountId;
  sessionId: string | null;
}

const AT_ONCE: SandboxFate = { landsAfterMs: 0 };

const isAt = ({ merchantId, sessionId }: SandboxPlace) =>
  and(eq(sandboxTransactions.merchantId, merchantId), eq(sandboxTransactions.sessionId, sessionId ?? ''));

export const findTransactions = (db: Db, place: SandboxPlace, signatures: readonly string[]): Promise<SandboxTransaction[]> =>
  db
    .select()
    .from(sandboxTransactions)
    .where(and(isAt(place), sql`${sandboxTransactions.txSignature} IN (SELECT value FROM json_each(${JSON.stringify(signatures)}))`));

/** What becomes of a message is decided once. */
export async function insertTransaction(
  db: Db,
  { merchantId, sessionId }: SandboxPlace,
  row: Pick<SandboxTransaction, 'messageHash' | 'fate' | 'createdAt'>,
): Promise<void> {
  const fresh = { ...row, merchantId, sessionId: sessionId ?? '', txSignature: null, wire: null, sentAt: null };
  await db.insert(sandboxTransactions).values(fresh).onConflictDoNothing();
}

/** The first broadcast counts; the same bytes again change nothing. */
export async function markSent(
  db: Db,
  { merchantId, sessionId }: SandboxPlace,
  { messageHash, txSignature, wire, sentAt }: { messageHash: string; txSignature: string; wire: string; sentAt: number },
): Promise<void> {
  await db
    .insert(sandboxTransactions)
    .values({ merchantId, sessionId: sessionId ?? '', messageHash, fate: AT_ONCE, txSignature, wire, sentAt, createdAt: sentAt })
    .onConflictDoUpdate({
      target: [sandboxTransactions.merchantId, sandboxTransactions.messageHash],
      set: { txSignature, wire, sentAt },
      setWhere: sql`${sandboxTransactions.sentAt} IS NULL`,
    });
}
