import { and, eq } from 'drizzle-orm';
import type { PaymentId, PaymentSessionId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { type PaymentSession, paymentSessions } from '#platform/db/tables/checkout.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { casUpdate, stepRows } from '#platform/db/versioned.ts';

/** Of any merchant: the id itself is the capability. With the last payment begun in it. */
export async function findPaymentSession(
  db: Db,
  paymentSessionId: PaymentSessionId,
): Promise<{ session: PaymentSession; payment: Payment | null } | null> {
  const found = await db
    .select({ session: paymentSessions, payment: payments })
    .from(paymentSessions)
    .leftJoin(payments, eq(payments.id, paymentSessions.paymentId))
    .where(eq(paymentSessions.id, paymentSessionId))
    .get();
  return found ?? null;
}

/** The session holds the payment that takes the place of the one it held. */
export const moveSession = (db: Db, { id, paymentSessionId }: Payment, to: PaymentId): Write[] =>
  paymentSessionId === null
    ? []
    : [stepRows(db, paymentSessions, { paymentId: to }, and(eq(paymentSessions.id, paymentSessionId), eq(paymentSessions.paymentId, id)))];

export const insertPaymentSession = (db: Db, session: PaymentSession): Write => db.insert(paymentSessions).values(session);

/** Fails the batch if another payment was begun in the session first. */
export const holdPayment = (ctx: Shard, session: PaymentSession, paymentId: PaymentId): Write[] =>
  casUpdate(ctx, paymentSessions, session, { paymentId });
