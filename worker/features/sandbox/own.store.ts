import { sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import { DAY, MINUTE } from '#core/time.ts';
import type { Db } from '#platform/context.ts';
import { eventDueAt } from '#platform/db/vital-signs.ts';

/** What was not done within this time never is: sessions leave such rows behind, which nobody's clock will come to again. */
const LATE_MS = DAY;
/** What a queue brings at once is left to it so long. */
const PATIENCE_MS = MINUTE / 2;

/** Merchants of whose sandbox something has fallen due lately, by everybody's clock. Reads the ends of indexes that hold sandbox rows alone. */
export async function listDueMerchants(db: Db, now: number, limit: number): Promise<AccountId[]> {
  const isDue = (column: string, before = now) => sql`livemode = 0 AND ${sql.raw(column)} BETWEEN ${now - LATE_MS} AND ${before}`;
  const ofPayment = (table: string, column: string, condition: ReturnType<typeof sql>) =>
    sql`SELECT p.merchant_id FROM ${sql.raw(table)} d CROSS JOIN payments p ON p.id = d.${sql.raw(column)} WHERE ${condition}`;
  const rows = await db.all<{ merchantId: AccountId }>(sql`SELECT DISTINCT merchant_id AS merchantId FROM (
    SELECT merchant_id FROM payments WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND ${isDue('expires_at', now - MINUTE)}
    UNION ALL SELECT merchant_id FROM memberships WHERE status = 'active' AND ${isDue('paid_through')}
    UNION ALL SELECT merchant_id FROM memberships WHERE status = 'grace' AND ${isDue('grace_until')}
    UNION ALL SELECT merchant_id FROM settlements WHERE status <> 'settled' AND next_check_at IS NOT NULL AND ${isDue('next_check_at')}
    UNION ALL SELECT merchant_id FROM events WHERE fanned_out_at IS NULL AND livemode = 0
      AND ${eventDueAt} BETWEEN ${now - LATE_MS} AND ${now - PATIENCE_MS} AND request_id NOT LIKE 'sandbox\\_%' ESCAPE '\\'
    UNION ALL ${ofPayment('tx_claims', 'subject_id', sql`d.next_look_at IS NOT NULL AND d.livemode = 0 AND d.next_look_at BETWEEN ${now - LATE_MS} AND ${now}`)}
    UNION ALL ${ofPayment('unmatched_payments', 'payment_id', sql`d.next_look_at IS NOT NULL AND d.livemode = 0 AND d.next_look_at BETWEEN ${now - LATE_MS} AND ${now}`)}
    UNION ALL ${ofPayment('payment_candidates', 'payment_id', sql`d.livemode = 0 AND d.origin IN ('found', 'sent', 'named') AND d.next_check_at BETWEEN ${now - LATE_MS} AND ${now - PATIENCE_MS}`)}
  ) LIMIT ${limit}`);
  return rows.map(({ merchantId }) => merchantId);
}
