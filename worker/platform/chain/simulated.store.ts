import { and, desc, eq, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { amongIds, boundId } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { type SandboxOutcome, type SandboxTransaction, sandboxTransactions } from '#platform/db/tables/sandbox.ts';

/** Key of a simulated chain. Each session has its own chain, and the sandbox without sessions another. */
export interface SandboxKey {
  merchantId: AccountId;
  sessionId: string | null;
}

const isAt = ({ merchantId, sessionId }: SandboxKey) =>
  and(eq(sandboxTransactions.merchantId, merchantId), eq(sandboxTransactions.sessionId, sessionId ?? ''));

export const findTransactions = (db: Db, sandbox: SandboxKey, signatures: readonly string[]): Promise<SandboxTransaction[]> =>
  db
    .select()
    .from(sandboxTransactions)
    .where(and(isAt(sandbox), amongIds(sandboxTransactions.txSignature, signatures)));

export const insertTransaction = (
  db: Db,
  { merchantId, sessionId }: SandboxKey,
  row: Pick<SandboxTransaction, 'messageHash' | 'outcome' | 'createdAt'>,
): Write =>
  db
    .insert(sandboxTransactions)
    .values({ ...row, merchantId, sessionId: sessionId ?? '', txSignature: null, wire: null, sentAt: null, inner: null, about: null })
    .onConflictDoNothing();

/** Stores the first broadcast and ignores repetitions. An outcome that was decided before takes precedence. */
export const markSent = (db: Db, { merchantId, sessionId }: SandboxKey, { messageHash, outcome, ...sent }: Sent): Write =>
  db
    .insert(sandboxTransactions)
    .values({ merchantId, sessionId: sessionId ?? '', messageHash, outcome, ...sent, createdAt: sent.sentAt })
    .onConflictDoUpdate({
      target: [sandboxTransactions.merchantId, sandboxTransactions.messageHash],
      set: sent,
      setWhere: sql`${sandboxTransactions.sentAt} IS NULL`,
    });

interface Sent extends Pick<SandboxTransaction, 'inner' | 'about'> {
  messageHash: string;
  outcome: SandboxOutcome;
  txSignature: string;
  wire: string;
  sentAt: number;
}

export const isSent = async (db: Db, { merchantId }: SandboxKey, messageHash: string): Promise<boolean> =>
  (await db.$count(
    sandboxTransactions,
    and(eq(sandboxTransactions.merchantId, merchantId), eq(sandboxTransactions.messageHash, messageHash), sql`sent_at IS NOT NULL`),
  )) > 0;

export async function listAbout(
  db: Db,
  sandbox: SandboxKey,
  about: string,
  { before, until, limit }: { before: string | null; until: string | null; limit: number },
): Promise<SandboxTransaction[]> {
  const order = sql.raw('(sandbox_transactions.sent_at, sandbox_transactions.rowid)');
  const { merchantId } = sandbox;
  const positionOf = (signature: string) =>
    sql`(SELECT b.sent_at, b.rowid FROM sandbox_transactions b WHERE b.merchant_id = ${boundId(merchantId)} AND b.tx_signature = ${signature})`;
  return db
    .select()
    .from(sandboxTransactions)
    .where(
      and(
        isAt(sandbox),
        eq(sandboxTransactions.about, about),
        before === null ? undefined : sql`${order} < ${positionOf(before)}`,
        until === null ? undefined : sql`${order} > ${positionOf(until)}`,
      ),
    )
    .orderBy(desc(sandboxTransactions.sentAt), sql`sandbox_transactions.rowid DESC`)
    .limit(limit);
}
