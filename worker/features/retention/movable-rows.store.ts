import { type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { receipts } from '#platform/db/tables/receipts.ts';
import { settlements } from '#platform/db/tables/settlements.ts';

/** Whose events: of a merchant, in one mode. */
export interface Owner {
  merchantId: AccountId;
  livemode: boolean;
}

/** The values as a set, in one parameter however many they are. */
export const among = (values: readonly (string | number)[]): SQL => sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;

/**
 * Of these receipts and payments of a merchant, those that can go. Receipts: in a chain, and not its end, whose hash the next link is
 * made of; that one stays for good, which is one receipt for each time that its chain got none for as long as receipts are kept.
 * The one stored last of all stays too, so that its number is not given again. Payments: final, the way they were paid, with nothing
 * still to look at or to tell.
 */
export async function listMovable(db: Db, { merchantId, livemode }: Owner, { receiptIds, paymentIds }: Named) {
  const chainEnd = (isPaidByOwner: 0 | 1) => sql`(SELECT max(r.link_seq) FROM receipts r WHERE r.merchant_id = ${merchantId}
    AND r.livemode = ${livemode ? 1 : 0} AND r.is_paid_by_owner = ${isPaidByOwner})`;
  const [issued, paid, brought] = await db.batch([
    db
      .select()
      .from(receipts)
      .where(
        sql`id IN ${among(receiptIds)} AND link_seq < CASE is_paid_by_owner WHEN 1 THEN ${chainEnd(1)} ELSE ${chainEnd(0)} END
          AND rowid < (SELECT max(rowid) FROM receipts)`,
      ),
    db
      .select()
      .from(payments)
      .where(sql`id IN ${among(paymentIds)} AND ${IS_OVER}`),
    db
      .select()
      .from(settlements)
      .where(sql`payment_id IN ${among(paymentIds)}`),
  ]);
  const settlementOf = new Map(brought.map((settlement) => [settlement.paymentId, settlement]));
  return {
    issued,
    paid: paid.map((payment) => ({ ...payment, settlement: settlementOf.get(payment.id) })),
  };
}

export interface Named {
  receiptIds: string[];
  paymentIds: string[];
}

/** SQL of the row `payments`: final, paid, and with nothing left to read or to send. */
export const IS_OVER = sql`status = 'CONFIRMED' AND finalized_at IS NOT NULL AND orphaned_at IS NULL AND recovers_payment_id IS NULL
  AND access_revoked_at IS NULL AND NOT EXISTS (SELECT 1 FROM refunds f WHERE f.payment_id = payments.id AND f.seen_at IS NULL)
  AND EXISTS (SELECT 1 FROM tx_claims c WHERE c.subject_id = payments.id AND c.final_at IS NOT NULL AND c.dropped_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM settlements s WHERE s.payment_id = payments.id AND s.status <> 'settled')
  AND NOT EXISTS (SELECT 1 FROM payment_candidates c WHERE c.payment_id = payments.id)
  AND NOT EXISTS (SELECT 1 FROM events e WHERE e.payment_id = payments.id AND e.fanned_out_at IS NULL)`;
