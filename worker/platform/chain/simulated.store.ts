import { and, desc, eq, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { amongIds } from '#platform/db/among.ts';
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
    .where(and(isAt(place), amongIds(sandboxTransactions.txSignature, signatures)));

/** What becomes of a message is decided once. */
export const insertTransaction = (
  db: Db,
  { merchantId, sessionId }: SandboxPlace,
  row: Pick<SandboxTransaction, 'messageHash' | 'fate' | 'createdAt'>,
): Write =>
  db
    .insert(sandboxTransactions)
    .values({ ...row, merchantId, sessionId: sessionId ?? '', txSignature: null, wire: null, sentAt: null, inner: null, about: null })
    .onConflictDoNothing();

/**
 * The first broadcast counts; the same bytes again change nothing. `fate`: of a message of which nothing was
 * decided before.
 */
export const markSent = (db: Db, { merchantId, sessionId }: SandboxPlace, { messageHash, fate, ...sent }: Sent): Write =>
  db
    .insert(sandboxTransactions)
    .values({ merchantId, sessionId: sessionId ?? '', messageHash, fate, ...sent, createdAt: sent.sentAt })
    .onConflictDoUpdate({
      target: [sandboxTransactions.merchantId, sandboxTransactions.messageHash],
      set: sent,
      setWhere: sql`${sandboxTransactions.sentAt} IS NULL`,
    });

/** A signed message that was broadcast. */
interface Sent extends Pick<SandboxTransaction, 'inner' | 'about'> {
  messageHash: string;
  fate: SandboxFate;
  txSignature: string;
  wire: string;
  sentAt: number;
}

/** True where this message was broadcast before. */
export const isSent = async (db: Db, { merchantId }: SandboxPlace, messageHash: string): Promise<boolean> =>
  (await db.$count(
    sandboxTransactions,
    and(eq(sandboxTransactions.merchantId, merchantId), eq(sandboxTransactions.messageHash, messageHash), sql`sent_at IS NOT NULL`),
  )) > 0;

/** The transactions about an address, newest first, between two of them. */
export async function listAbout(
  db: Db,
  place: SandboxPlace,
  about: string,
  { before, until, limit }: { before: string | null; until: string | null; limit: number },
): Promise<SandboxTransaction[]> {
  const order = sql.raw('(sandbox_transactions.sent_at, sandbox_transactions.rowid)');
  const { merchantId } = place;
  const placeOf = (signature: string) =>
    sql`(SELECT b.sent_at, b.rowid FROM sandbox_transactions b WHERE b.merchant_id = ${merchantId} AND b.tx_signature = ${signature})`;
  return db
    .select()
    .from(sandboxTransactions)
    .where(
      and(
        isAt(place),
        eq(sandboxTransactions.about, about),
        before === null ? undefined : sql`${order} < ${placeOf(before)}`,
        until === null ? undefined : sql`${order} > ${placeOf(until)}`,
      ),
    )
    .orderBy(desc(sandboxTransactions.sentAt), sql`sandbox_transactions.rowid DESC`)
    .limit(limit);
}
