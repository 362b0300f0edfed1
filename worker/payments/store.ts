import { and, eq, inArray, isNull, lte, or, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import { raise } from '../core/errors.ts';
import type { AccountId, PaymentId } from '../core/ids.ts';
import { memberships, paymentCandidates, payments, txClaims } from '../db/commerce.ts';
import type { Write } from '../db/commit.ts';
import { accounts } from '../db/identity.ts';

export type Payment = typeof payments.$inferSelect;
export type Candidate = typeof paymentCandidates.$inferSelect;

/** Of any merchant: the id itself is the capability. (contract D7) */
export const findPayment = (db: Db, paymentId: PaymentId) => db.select().from(payments).where(eq(payments.id, paymentId)).get();

export async function getPayment(db: Db, paymentId: PaymentId): Promise<Payment> {
  return (await findPayment(db, paymentId)) ?? raise('not_found');
}

/** An unfinished payment of this merchant by the nonce of its memo. */
export const findPaymentByNonce = (db: Db, merchantId: AccountId, livemode: boolean, nonce: string) =>
  db
    .select()
    .from(payments)
    .where(and(eq(payments.merchantId, merchantId), eq(payments.livemode, livemode), eq(payments.nonce, nonce)))
    .get();

/**
 * All a confirmation has to know, in one round trip: the payment with its seller, who already claimed the transaction, and
 * the memberships its possible payers hold for this product.
 */
export async function loadConfirmation(db: Db, paymentId: PaymentId, txSignature: string, payers: string[]) {
  const samePlace = and(
    eq(memberships.merchantId, payments.merchantId),
    eq(memberships.livemode, payments.livemode),
    eq(memberships.productId, payments.productId),
    or(
      eq(memberships.customerKey, sql`'ref:' || ${payments.customerRef}`),
      and(
        isNull(payments.customerRef),
        inArray(memberships.customerKey, payers.length > 0 ? payers.map((payer) => `wallet:${payer}`) : ['']),
      ),
    ),
  );
  const [[found], [claim], held] = await db.batch([
    db
      .select({ payment: payments, merchantName: accounts.displayName })
      .from(payments)
      .innerJoin(accounts, eq(accounts.id, payments.merchantId))
      .where(eq(payments.id, paymentId)),
    db.select().from(txClaims).where(eq(txClaims.txSignature, txSignature)),
    db.select({ membership: memberships }).from(payments).innerJoin(memberships, samePlace).where(eq(payments.id, paymentId)),
  ]);
  if (!found) return null;
  return { ...found, claim: claim ?? null, memberships: held.map(({ membership }) => membership) };
}

export const insertPayment = (db: Db, payment: Payment): Write => db.insert(payments).values(payment);

/** A statement, not an effect: guarded by the event of the same version in the same batch. */
export const updatePayment = (db: Db, before: Payment, after: Payment): Write =>
  db
    .update(payments)
    .set(after)
    .where(and(eq(payments.id, before.id), eq(payments.version, before.version)));

export const insertClaim = (db: Db, payment: Payment, txSignature: string, now: number): Write =>
  db.insert(txClaims).values({ txSignature, kind: 'payment', subjectId: payment.id, createdAt: now });

const CANDIDATES_MAX = 5;

/**
 * Remembers a signature the chain does not show yet. At most five per payment; a newcomer replaces the oldest that was only
 * named, never one we broadcast ourselves. True where it was not known before.
 */
export async function keepCandidate(ctx: Ctx, candidate: Candidate): Promise<boolean> {
  const ofPayment = sql`payment_id = ${candidate.paymentId}`;
  const [, inserted] = await ctx.db.batch([
    ctx.db.delete(paymentCandidates).where(sql`rowid = (
        SELECT rowid FROM payment_candidates WHERE ${ofPayment} AND origin = 'named'
          AND (SELECT count(*) FROM payment_candidates WHERE ${ofPayment}) >= ${CANDIDATES_MAX}
          AND NOT EXISTS (SELECT 1 FROM payment_candidates WHERE ${ofPayment} AND tx_signature = ${candidate.txSignature})
        ORDER BY created_at, rowid LIMIT 1)`),
    ctx.db
      .insert(paymentCandidates)
      .select(
        sql`SELECT ${candidate.paymentId}, ${candidate.txSignature}, ${candidate.origin}, ${candidate.attempt}, ${candidate.nextCheckAt}, ${candidate.createdAt}
          WHERE (SELECT count(*) FROM payment_candidates WHERE ${ofPayment}) < ${CANDIDATES_MAX}`,
      )
      .onConflictDoNothing()
      .returning({ paymentId: paymentCandidates.paymentId }),
  ]);
  return inserted.length > 0;
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
export const dropCandidates = (db: Db, paymentId: PaymentId, txSignature?: string): Write =>
  db
    .delete(paymentCandidates)
    .where(
      and(
        eq(paymentCandidates.paymentId, paymentId),
        txSignature === undefined ? undefined : eq(paymentCandidates.txSignature, txSignature),
      ),
    );
