import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import { ApiError } from '#core/errors.ts';
import type { HandoffId, IdentitySessionId, PaymentId, PaymentSessionId, ProductId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIf, abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import {
  type Handoff,
  handoffs,
  type IdentitySession,
  identitySessions,
  type PaymentSession,
  paymentSessions,
} from '#platform/db/tables/checkout.ts';
import { type Payment, payments } from '#platform/db/tables/payments.ts';
import { casUpdate, stepRows } from '#platform/db/versioned.ts';

/** Loads a session of any merchant with its last payment. The id itself is the capability. */
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

export const moveSession = (db: Db, { id, paymentSessionId }: Payment, to: PaymentId): Write[] =>
  paymentSessionId === null
    ? []
    : [stepRows(db, paymentSessions, { paymentId: to }, and(eq(paymentSessions.id, paymentSessionId), eq(paymentSessions.paymentId, id)))];

export const insertPaymentSession = (db: Db, session: PaymentSession): Write => db.insert(paymentSessions).values(session);

/** Points the session to a payment. Aborts the batch if another payment began in the session first. */
export const holdPayment = (ctx: Shard, session: PaymentSession, paymentId: PaymentId): Write[] =>
  casUpdate(ctx, paymentSessions, session, { paymentId });

export const findHandoff = (db: Db, handoffId: HandoffId) => db.select().from(handoffs).where(eq(handoffs.id, handoffId)).get();

export const insertHandoff = (db: Db, handoff: Handoff): Write => db.insert(handoffs).values(handoff);

export const moveHandoff = (db: Db, handoffId: HandoffId, from: PaymentId, to: PaymentId): Write =>
  db
    .update(handoffs)
    .set({ paymentId: to })
    .where(and(eq(handoffs.id, handoffId), eq(handoffs.paymentId, from)));

/** Uses a hand-off for a payment. The second write aborts the batch if the hand-off was used first for another payment. */
export const useHandoff = (ctx: Shard, { id }: Handoff, paymentId: PaymentId): Write[] => [
  ctx.db
    .update(handoffs)
    .set({ paymentId })
    .where(and(eq(handoffs.id, id), isNull(handoffs.paymentId))),
  abortUnlessChanged(ctx),
];

const isAtSessionLimit = (productId: ProductId, openMax: number) =>
  sql`EXISTS (SELECT 1 FROM payments WHERE product_id = ${boundId(productId)} AND status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION')
    LIMIT 1 OFFSET ${openMax - 1})`;

export const abortIfAtSessionLimit = (ctx: Shard, productId: ProductId, openMax: number): Write =>
  abortIf(ctx, isAtSessionLimit(productId, openMax));

export async function requireSessionCapacity(db: Db, productId: ProductId, openMax: number): Promise<void> {
  const row = await db.get<{ isAtSessionLimit: number }>(sql`SELECT ${isAtSessionLimit(productId, openMax)} AS isAtSessionLimit`);
  if (row.isAtSessionLimit === 0) return;
  throw new ApiError('plan_limit_reached', {
    detail: 'Too many checkouts of this product are open. Retry when some have ended.',
    meta: { reason: 'open_sessions', limit: openMax, used: openMax },
  });
}

/** Loads an identity session of any merchant. The id itself is the capability. */
export const findIdentitySession = (db: Db, identitySessionId: IdentitySessionId) =>
  db.select().from(identitySessions).where(eq(identitySessions.id, identitySessionId)).get();

export const findGranting = (
  db: Db,
  {
    merchantId,
    livemode,
    provider,
    providerUserId,
  }: Pick<IdentitySession, 'merchantId' | 'livemode' | 'provider'> & { providerUserId: string },
): Promise<IdentitySession | undefined> =>
  db
    .select()
    .from(identitySessions)
    .where(
      and(
        eq(identitySessions.merchantId, merchantId),
        eq(identitySessions.livemode, livemode),
        eq(identitySessions.provider, provider),
        eq(identitySessions.providerUserId, providerUserId),
        sql`grant_sealed IS NOT NULL`,
      ),
    )
    .orderBy(desc(identitySessions.createdAt))
    .limit(1)
    .get();

/** Erases all grants of this person for this merchant and mode: one was used, and the others have the same effect. */
export const eraseGrants = (db: Db, { merchantId, livemode, provider, providerUserId }: IdentitySession): Promise<unknown> =>
  db
    .update(identitySessions)
    .set({ grantSealed: null })
    .where(
      and(
        eq(identitySessions.merchantId, merchantId),
        eq(identitySessions.livemode, livemode),
        eq(identitySessions.provider, provider),
        eq(identitySessions.providerUserId, providerUserId!),
        sql`grant_sealed IS NOT NULL`,
      ),
    );

export const insertIdentitySession = (db: Db, session: IdentitySession): Write => db.insert(identitySessions).values(session);

/** Completes an identity session. The second write aborts the batch if another person was named first. */
export const completeIdentitySession = (
  ctx: Shard,
  { id, providerUserId, username, grantSealed, completedAt }: IdentitySession,
): Write[] => [
  ctx.db
    .update(identitySessions)
    .set({ providerUserId, username, grantSealed, completedAt })
    .where(and(eq(identitySessions.id, id), isNull(identitySessions.providerUserId))),
  abortUnlessChanged(ctx),
];
