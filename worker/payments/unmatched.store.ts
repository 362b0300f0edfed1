import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import type { AccountId, PaymentId } from '../core/ids.ts';
import { unmatchedPayments } from '../db/commerce.ts';
import { vetoIf, vetoUnlessChanged, type Write } from '../db/commit.ts';
import { UNMATCHED } from '../states.ts';
import type { Payment } from './store.ts';

export type Unmatched = typeof unmatchedPayments.$inferSelect;

/** Statements, not effects: refused where the transaction has paid for something since it was looked at, or little is left of its session. */
export const insertUnmatched = (ctx: Ctx, unmatched: Unmatched): Write[] => [
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM tx_claims WHERE tx_signature = ${unmatched.txSignature} AND livemode = ${unmatched.livemode})`),
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM ended_sessions WHERE id = ${unmatched.paymentId})`),
  ctx.db.insert(unmatchedPayments).values(unmatched),
];

/** Statements, not effects: the second fails the batch where another acceptance was faster, or the money is gone. */
export const acceptUnmatchedRow = (ctx: Ctx, unmatched: Unmatched, recoveredPaymentId: PaymentId): Write[] => [
  ctx.db
    .update(unmatchedPayments)
    .set({ status: UNMATCHED.next(unmatched.status, 'accept'), recoveredPaymentId, nextLookAt: null })
    .where(
      and(eq(unmatchedPayments.id, unmatched.id), eq(unmatchedPayments.status, unmatched.status), isNull(unmatchedPayments.droppedAt)),
    ),
  vetoUnlessChanged(ctx),
];

/** A statement, not an effect: money that pays for something is on the chain, and no open question any more, if it ever was one. */
export const closeUnmatched = (db: Db, txSignature: string, paymentId: PaymentId): Write =>
  db
    .update(unmatchedPayments)
    .set({ status: UNMATCHED.next('open', 'accept'), recoveredPaymentId: paymentId, doubtedAt: null, droppedAt: null, nextLookAt: null })
    .where(and(eq(unmatchedPayments.txSignature, txSignature), eq(unmatchedPayments.status, 'open')));

/** A statement, not an effect: what missed its session is taken without asking once, however many transactions arrive together. */
export const vetoRecovered = (ctx: Ctx, { id }: Payment): Write =>
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM payments WHERE recovers_payment_id = ${id})`);

/** What arrived and is still there: money that the chain dropped is not shown. */
export const listUnmatchedOf = async (db: Db, merchantId: AccountId, paymentIds: PaymentId[]): Promise<Unmatched[]> =>
  db
    .select()
    .from(unmatchedPayments)
    .where(
      and(
        eq(unmatchedPayments.merchantId, merchantId),
        isNull(unmatchedPayments.droppedAt),
        sql`${unmatchedPayments.paymentId} IN (SELECT value FROM json_each(${JSON.stringify(paymentIds)}))`,
      ),
    )
    .orderBy(unmatchedPayments.createdAt);
