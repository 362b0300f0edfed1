import { and, eq, gt, lte, ne, or, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import type { PaymentId } from '../core/ids.ts';
import { paymentCandidates } from '../db/commerce.ts';
import type { Write } from '../db/commit.ts';

export type Candidate = typeof paymentCandidates.$inferSelect;

const CANDIDATES_MAX = 5;

/**
 * Remembers a signature the chain does not show yet. At most five per payment; a newcomer replaces the oldest that was only
 * named, one to be sent also the oldest sent before `rivalsSince` (epoch ms), which can no longer land. `hasRival`: one that is to
 * be sent is not kept while another sent since then may still land, however close behind it this one comes.
 */
export async function keepCandidate(ctx: Ctx, candidate: Candidate, rivalsSince: number): Promise<{ isNew: boolean; hasRival: boolean }> {
  const ofPayment = sql`payment_id = ${candidate.paymentId}`;
  const isSent = candidate.origin === 'sent' ? sql`1` : sql`0`;
  const rival = sql`(${isSent} AND EXISTS (
    SELECT 1 FROM payment_candidates WHERE ${ofPayment} AND origin = 'sent'
      AND tx_signature <> ${candidate.txSignature} AND created_at > ${rivalsSince}))`;
  const [, inserted, rivals] = await ctx.db.batch([
    ctx.db.delete(paymentCandidates).where(sql`rowid = (
        SELECT rowid FROM payment_candidates WHERE ${ofPayment}
          AND (origin = 'named' OR (${isSent} AND origin = 'sent' AND created_at <= ${rivalsSince}))
          AND (SELECT count(*) FROM payment_candidates WHERE ${ofPayment}) >= ${CANDIDATES_MAX}
          AND NOT EXISTS (SELECT 1 FROM payment_candidates WHERE ${ofPayment} AND tx_signature = ${candidate.txSignature})
        ORDER BY origin = 'sent', created_at, rowid LIMIT 1)`),
    ctx.db
      .insert(paymentCandidates)
      .select(
        sql`SELECT ${candidate.paymentId}, ${candidate.txSignature}, ${candidate.origin}, ${candidate.attempt}, ${candidate.nextCheckAt}, ${candidate.createdAt}
          WHERE ((SELECT count(*) FROM payment_candidates WHERE ${ofPayment}) < ${CANDIDATES_MAX}
            OR EXISTS (SELECT 1 FROM payment_candidates WHERE ${ofPayment} AND tx_signature = ${candidate.txSignature})) AND NOT ${rival}`,
      )
      // Named before it was sent: from now on it is one of ours, and may land for as long as any.
      .onConflictDoUpdate({
        target: [paymentCandidates.paymentId, paymentCandidates.txSignature],
        set: { origin: 'sent', createdAt: candidate.createdAt },
        setWhere: sql`${isSent} AND payment_candidates.origin = 'named'`,
      })
      .returning({ createdAt: paymentCandidates.createdAt }),
    ctx.db.select({ paymentId: paymentCandidates.paymentId }).from(paymentCandidates).where(and(ofPayment, rival)).limit(1),
  ]);
  return { isNew: inserted.length > 0, hasRival: rivals.length > 0 };
}

/** Is one that we sent since then still to be looked for? */
export async function hasSent(db: Db, paymentId: PaymentId, since: number): Promise<boolean> {
  const found = await db
    .select({ paymentId: paymentCandidates.paymentId })
    .from(paymentCandidates)
    .where(and(eq(paymentCandidates.paymentId, paymentId), eq(paymentCandidates.origin, 'sent'), gt(paymentCandidates.createdAt, since)))
    .get();
  return found !== undefined;
}

/** Takes the next check of a candidate: false where another has it already, or the candidate is gone. */
export async function advanceCandidate(db: Db, { paymentId, txSignature, attempt }: Candidate, nextCheckAt: number): Promise<boolean> {
  const taken = await db
    .update(paymentCandidates)
    .set({ attempt: attempt + 1, nextCheckAt })
    .where(
      and(
        eq(paymentCandidates.paymentId, paymentId),
        eq(paymentCandidates.txSignature, txSignature),
        eq(paymentCandidates.attempt, attempt),
      ),
    )
    .returning({ attempt: paymentCandidates.attempt });
  return taken.length > 0;
}

export const findCandidate = (db: Db, paymentId: PaymentId, txSignature: string) =>
  db
    .select()
    .from(paymentCandidates)
    .where(and(eq(paymentCandidates.paymentId, paymentId), eq(paymentCandidates.txSignature, txSignature)))
    .get();

export const listDueCandidates = (db: Db, dueBefore: number, limit: number) =>
  db
    .select()
    .from(paymentCandidates)
    .where(lte(paymentCandidates.nextCheckAt, dueBefore))
    .orderBy(paymentCandidates.nextCheckAt)
    .limit(limit);

/** A statement, not an effect. */
export const dropCandidate = (db: Db, paymentId: PaymentId, txSignature: string): Write =>
  db.delete(paymentCandidates).where(and(eq(paymentCandidates.paymentId, paymentId), eq(paymentCandidates.txSignature, txSignature)));

/** A statement, not an effect: once one is confirmed nobody looks for the others, but what the chain showed us stays to be judged. */
export const dropRivals = (db: Db, paymentId: PaymentId, txSignature: string): Write =>
  db
    .delete(paymentCandidates)
    .where(
      and(
        eq(paymentCandidates.paymentId, paymentId),
        or(eq(paymentCandidates.txSignature, txSignature), ne(paymentCandidates.origin, 'found')),
      ),
    );
