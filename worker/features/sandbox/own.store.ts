import { type SQL, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import { DAY, MINUTE } from '#core/time.ts';
import { OF_NO_SESSION } from '#platform/chain/reach.store.ts';
import type { Db } from '#platform/context.ts';
import { eventDueAt } from '#platform/db/vital-signs.ts';

/** What was not done within this time never is: sessions leave such rows behind, to which no clock will come again. */
const LATE_MS = DAY;
/** What a queue brings at once is left to it so long. */
const PATIENCE_MS = MINUTE / 2;

/** Merchants of whose sandbox something has fallen due lately, by the clock outside of sessions. Reads the ends of indexes that hold sandbox rows alone. */
export async function listDueMerchants(db: Db, now: number, limit: number): Promise<AccountId[]> {
  const isDue = (column: SQL, before = now) => sql`livemode = 0 AND ${column} BETWEEN ${now - LATE_MS} AND ${before}`;
  const of = (name: string) => sql.raw(name);
  const ofMerchant = (table: string, condition: SQL) =>
    sql`SELECT DISTINCT merchant_id AS merchantId FROM ${of(table)} WHERE ${condition} LIMIT ${limit}`;
  const ofPayment = (table: string, column: string, condition: SQL) =>
    sql`SELECT DISTINCT p.merchant_id AS merchantId FROM (SELECT ${of(column)} AS id FROM ${of(table)} WHERE ${condition}) d
      CROSS JOIN payments p ON p.id = d.id LIMIT ${limit}`;
  const looks = sql`next_look_at IS NOT NULL AND ${isDue(of('next_look_at'))}`;
  const statements = [
    ofMerchant('payments', sql`status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND ${isDue(of('expires_at'), now - MINUTE)}`),
    ofMerchant('memberships', sql`status = 'active' AND ${isDue(of('paid_through'))}`),
    ofMerchant('memberships', sql`status = 'grace' AND ${isDue(of('grace_until'))}`),
    ofMerchant('settlements', sql`status <> 'settled' AND next_check_at IS NOT NULL AND ${isDue(of('next_check_at'))}`),
    ofMerchant('metered_sessions', looks),
    ofMerchant('subscription_authorizations', looks),
    ofMerchant('events', sql`fanned_out_at IS NULL AND ${isDue(eventDueAt, now - PATIENCE_MS)} AND ${sql.raw(OF_NO_SESSION)}`),
    ofMerchant('placements', sql`next_attempt_at IS NOT NULL AND ${isDue(of('next_attempt_at'), now - PATIENCE_MS)}`),
    ofPayment('tx_claims', 'subject_id', looks),
    sql`SELECT DISTINCT f.merchant_id AS merchantId FROM (SELECT subject_id AS id FROM tx_claims WHERE ${looks}) d
      CROSS JOIN refunds f ON f.id = d.id LIMIT ${limit}`,
    ofPayment('unmatched_payments', 'payment_id', looks),
    ofPayment(
      'payment_candidates',
      'payment_id',
      sql`origin IN ('found', 'sent', 'named') AND ${isDue(of('next_check_at'), now - PATIENCE_MS)}`,
    ),
  ];
  const found: AccountId[] = [];
  for (const statement of statements)
    found.push(...(await db.all<{ merchantId: AccountId }>(statement)).map(({ merchantId }) => merchantId));
  return [...new Set(found)].slice(0, limit);
}
