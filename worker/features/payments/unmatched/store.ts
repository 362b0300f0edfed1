import { and, eq, getTableColumns, isNull, sql } from 'drizzle-orm';
import type { PaymentId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoIf, vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { type Unmatched, unmatchedPayments } from '#platform/db/tables/payments.ts';
import { UNMATCHED } from '#rules/states.ts';

/** Refused where the transaction has paid for something since it was looked at, or little is left of its session. */
export const insertUnmatched = (ctx: Shard, unmatched: Unmatched): Write[] => [
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM tx_claims WHERE tx_signature = ${unmatched.txSignature} AND livemode = ${unmatched.livemode})`),
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM ended_sessions WHERE id = ${unmatched.paymentId})`),
  ctx.db.insert(unmatchedPayments).values(unmatched),
];

/** The second statement fails the batch where another acceptance was faster, or the money is gone. */
export const acceptUnmatchedRow = (ctx: Shard, unmatched: Unmatched, recoveredPaymentId: PaymentId): Write[] => [
  ctx.db
    .update(unmatchedPayments)
    .set({ status: UNMATCHED.next(unmatched.status, 'accept'), recoveredPaymentId, nextLookAt: null })
    .where(
      and(eq(unmatchedPayments.id, unmatched.id), eq(unmatchedPayments.status, unmatched.status), isNull(unmatchedPayments.droppedAt)),
    ),
  vetoUnlessChanged(ctx),
];

/** Closes the unmatched record of a transaction that now pays for something, if there is one. */
export const closeUnmatched = (db: Db, txSignature: string, { id: paymentId, livemode }: Pick<Payment, 'id' | 'livemode'>): Write =>
  db
    .update(unmatchedPayments)
    .set({ status: UNMATCHED.next('open', 'accept'), recoveredPaymentId: paymentId, doubtedAt: null, droppedAt: null, nextLookAt: null })
    .where(
      and(eq(unmatchedPayments.txSignature, txSignature), eq(unmatchedPayments.livemode, livemode), eq(unmatchedPayments.status, 'open')),
    );

/** What missed its session is taken without asking once, however many transactions arrive together. */
export const vetoRecovered = (ctx: Shard, { id }: Payment): Write =>
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM payments WHERE recovers_payment_id = ${id})`);

/** How many are shown with a payment, the largest first: dust that a stranger sends hides no whole payment. */
const SHOWN_MAX = 10;

/** What arrived and is still there, at most so much of each payment: money that the chain dropped is not shown. */
export const listUnmatchedOf = (db: Db, paymentIds: PaymentId[]) =>
  db
    .select(getTableColumns(unmatchedPayments))
    .from(sql`json_each(${JSON.stringify(paymentIds)}) j`)
    .innerJoin(
      unmatchedPayments,
      // Amounts are whole numbers without leading zeros: the longer is the larger.
      sql`unmatched_payments.rowid IN (
        SELECT u.rowid FROM unmatched_payments u WHERE u.payment_id = j.value AND u.dropped_at IS NULL
        ORDER BY length(u.amount) DESC, u.amount DESC LIMIT ${SHOWN_MAX})`,
    )
    .orderBy(unmatchedPayments.createdAt);
