import { and, eq, lte, type SQL, sql } from 'drizzle-orm';
import type { PaymentId } from '#core/ids.ts';
import { rowsOnChain } from '#platform/chain/clock-filter.store.ts';
import type { Db, Shard } from '#platform/context.ts';
import { actsOfPayments } from '#platform/db/acts/find.ts';
import { amongIds, setOfIds } from '#platform/db/among.ts';
import { endedSessions } from '#platform/db/tables/checkout.ts';
import { acts } from '#platform/db/tables/events.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { products } from '#platform/db/tables/products.ts';
import { webhookDeliveries } from '#platform/db/tables/webhooks.ts';
import { updateUnversioned } from '#platform/db/versioned.ts';
import { BLANK } from '../new-payment.store.ts';

type Payment = typeof payments.$inferSelect;

export type SessionKey = { paymentId: PaymentId } | { paymentIds: PaymentId[] } | { nonces: string[] };

const matchesKey = (ctx: Shard, which: SessionKey): SQL =>
  'paymentId' in which
    ? eq(endedSessions.id, which.paymentId)
    : 'nonces' in which
      ? and(rowsOnChain(ctx, endedSessions), amongIds(endedSessions.nonce, which.nonces))!
      : amongIds(endedSessions.id, which.paymentIds);

const PRODUCT_TERMS = {
  slug: products.slug,
  name: products.name,
  accessPeriodDays: products.accessPeriodDays,
  usageUnits: products.usageUnits,
  successUrl: products.successUrl,
};

/** Lists ended sessions as failed payments. Terms come from the current product, and the payee is left out. */
export async function listEnded(ctx: Shard, which: SessionKey): Promise<Payment[]> {
  const found = await ctx.db
    .select({ ended: endedSessions, product: PRODUCT_TERMS })
    .from(endedSessions)
    .innerJoin(products, eq(products.id, endedSessions.productId))
    .where(matchesKey(ctx, which));
  return found.map(({ ended: { referenceKey, ...ended }, product: { slug, name: productName, ...terms } }) => ({
    ...BLANK,
    ...ended,
    slug,
    status: 'FAILED',
    failureCode: ended.failureCode ?? 'session_expired',
    mint: '',
    recipientAta: '',
    terms: { productName, ...terms, ...(referenceKey === null ? {} : { referenceKey }) },
  }));
}

export const findEnded = async (ctx: Shard, paymentId: PaymentId): Promise<Payment | undefined> => (await listEnded(ctx, { paymentId }))[0];

/** Restores ended sessions as payments, each in one batch with the deletion of its stub. Idempotent. */
export async function restoreRow({ db }: Shard, payment: Payment): Promise<void> {
  await db.batch([
    db.insert(payments).values(payment).onConflictDoNothing(),
    db.delete(endedSessions).where(eq(endedSessions.id, payment.id)),
  ]);
}

/** Failed long ago without a candidate or unmatched money. Must match the partial index exactly. */
const isReducible = (before: number): SQL => sql`status = 'FAILED' AND is_retained = 0 AND ${lte(payments.expiresAt, before)}
  AND NOT EXISTS (SELECT 1 FROM payment_candidates c WHERE c.payment_id = payments.id)
  AND NOT EXISTS (SELECT 1 FROM setup_intents i WHERE i.account_id = payments.merchant_id AND i.status = 'expired' AND i.is_retained = 0)`;

/** Sessions with money are retained in full. */
const HAS_MONEY = sql`(failure_code NOT IN ('session_expired', 'replaced') OR reference = '' OR recovers_payment_id IS NOT NULL OR tx_signature IS NOT NULL
  OR EXISTS (SELECT 1 FROM unmatched_payments u WHERE u.payment_id = payments.id)
  OR EXISTS (SELECT 1 FROM payments r WHERE r.recovers_payment_id = payments.id))`;

export const listReducible = (db: Db, before: number, limit: number) =>
  db
    .select({ id: payments.id, version: payments.version })
    .from(payments)
    .where(isReducible(before))
    .orderBy(payments.expiresAt)
    .limit(limit);

/**
 * Retains payments with money and reduces the others to ended sessions: deletes their events, deliveries and rows in one batch. Includes
 * money seen since the list was read.
 */
export async function endSessions(db: Db, over: { id: PaymentId; version: number }[], before: number): Promise<void> {
  const listed = setOfIds(over.map(({ id }) => id));
  const ended = sql`(SELECT id FROM ended_sessions WHERE id IN ${listed})`;
  const theirs = sql`SELECT seq FROM (${actsOfPayments(over)}) WHERE about IN ${ended}`;
  await db.batch([
    updateUnversioned(db, payments, { isRetained: true }, sql`id IN ${listed} AND ${isReducible(before)} AND ${HAS_MONEY}`),
    db.insert(endedSessions).select(
      sql`SELECT id, merchant_id, livemode, product_id, nullif(failure_code, 'session_expired'), nonce, reference, asset, price_amount, recipient_wallet, customer_ref,
          expires_at, late_grace_seconds, created_at, updated_at, version, terms ->> 'referenceKey'
        FROM payments WHERE id IN ${listed} AND ${isReducible(before)}`,
    ),
    db.delete(webhookDeliveries).where(sql`event_id IN (SELECT id FROM events WHERE act_seq IN (${theirs}))`),
    db.delete(acts).where(sql`seq IN (${theirs})`),
    db.delete(payments).where(sql`id IN ${ended}`),
  ]);
}
