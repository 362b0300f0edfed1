import { and, asc, eq, gt, sql } from 'drizzle-orm';
import type { AccountId, EntitlementId, MeteredSessionId, PaymentId } from '#core/ids.ts';
import { liveRows } from '#platform/chain/clock-filter.store.ts';
import type { Db } from '#platform/context.ts';
import { digitsField } from '#platform/db/among.ts';
import { transactionRows } from '#platform/db/outcome.ts';
import { entitlements } from '#platform/db/tables/entitlements.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { meteredSessions } from '#platform/db/tables/settlements.ts';

export const listConfirmedAfter = (db: Db, after: PaymentId, limit: number) =>
  db
    .select({ id: payments.id })
    .from(payments)
    .where(and(gt(payments.id, after), eq(payments.livemode, true), eq(payments.status, 'CONFIRMED')))
    .orderBy(asc(payments.id))
    .limit(limit);

export const listCopiesAfter = (db: Db, after: EntitlementId, limit: number) =>
  db
    .select()
    .from(entitlements)
    .where(and(gt(entitlements.id, after), eq(entitlements.livemode, true)))
    .orderBy(asc(entitlements.id))
    .limit(limit);

/** Returns the known live transactions: those that paid, are watched, or name a stored payment by memo. */
export async function listKnown(db: Db, listed: { signature: string; nonce: string | null }[]): Promise<Set<string>> {
  const rows = await db.all<{
    signature: string;
  }>(sql`SELECT j.value ->> 'signature' AS signature FROM ${transactionRows(listed)}
    WHERE EXISTS (SELECT 1 FROM tx_claims c WHERE c.livemode = 1 AND c.tx_key = j.value ->> 'key')
      OR EXISTS (SELECT 1 FROM channel_payouts o WHERE o.livemode = 1 AND o.tx_signature = j.value ->> 'signature')
      OR EXISTS (SELECT 1 FROM unmatched_payments u WHERE u.livemode = 1 AND u.tx_signature = j.value ->> 'signature')
      OR EXISTS (SELECT 1 FROM payments p WHERE p.livemode = 1 AND p.nonce = j.value ->> 'nonce')
      OR EXISTS (SELECT 1 FROM ended_sessions e WHERE e.livemode = 1 AND e.nonce = j.value ->> 'nonce')
      OR EXISTS (SELECT 1 FROM archived_payments a WHERE a.livemode = 1 AND a.nonce = ${digitsField('memo')})
      OR EXISTS (SELECT 1 FROM refunds r WHERE r.livemode = 1 AND r.nonce = j.value ->> 'nonce')`);
  return new Set(rows.map(({ signature }) => signature));
}

export const findChannel = async (db: Db, channelId: string): Promise<MeteredSessionId | undefined> =>
  (
    await db
      .select({ id: meteredSessions.id })
      .from(meteredSessions)
      .where(and(liveRows(meteredSessions), eq(meteredSessions.channelId, channelId)))
      .get()
  )?.id;

export const findPaidAt = async (db: Db, wallet: string): Promise<AccountId | undefined> =>
  (
    await db
      .select({ merchantId: products.merchantId })
      .from(products)
      .where(and(liveRows(products), eq(products.payoutWallet, wallet)))
      .limit(1)
      .get()
  )?.merchantId;
