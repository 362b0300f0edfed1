import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import { ApiError } from '#core/errors.ts';
import type { HandoffId, IdentitySessionId, PaymentId, PaymentSessionId, ProductId } from '#core/ids.ts';
import { OPEN_SESSIONS_MAX } from '#core/limits.ts';
import type { Db, Shard } from '#platform/context.ts';
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

/** Of any merchant: the caller has shown a token that names it. */
export const findHandoff = (db: Db, handoffId: HandoffId) => db.select().from(handoffs).where(eq(handoffs.id, handoffId)).get();

export const insertHandoff = (db: Db, handoff: Handoff): Write => db.insert(handoffs).values(handoff);

/** The purchase of a hand-off goes on with the payment that takes the place of another. */
export const moveHandoff = (db: Db, handoffId: HandoffId, from: PaymentId, to: PaymentId): Write =>
  db
    .update(handoffs)
    .set({ paymentId: to })
    .where(and(eq(handoffs.id, handoffId), eq(handoffs.paymentId, from)));

/** The hand-off begins this payment; the second fails the batch where another was begun with it first. */
export const useHandoff = (ctx: Shard, { id }: Handoff, paymentId: PaymentId): Write[] => [
  ctx.db
    .update(handoffs)
    .set({ paymentId })
    .where(and(eq(handoffs.id, id), isNull(handoffs.paymentId))),
  abortUnlessChanged(ctx),
];

const isAtSessionLimit = (productId: ProductId) =>
  sql`EXISTS (SELECT 1 FROM open_sessions WHERE product_id = ${productId} AND count >= ${OPEN_SESSIONS_MAX})`;

/** Refuses one more session while so many of the product are open. */
export const abortIfAtSessionLimit = (ctx: Shard, productId: ProductId): Write => abortIf(ctx, isAtSessionLimit(productId));

/** Throws 429 plan_limit_reached if the product has as many open sessions as it may have. */
export async function requireSessionCapacity(db: Db, productId: ProductId): Promise<void> {
  const crowd = await db.get<{ isAtSessionLimit: number }>(sql`SELECT ${isAtSessionLimit(productId)} AS isAtSessionLimit`);
  if (crowd.isAtSessionLimit === 0) return;
  throw new ApiError('plan_limit_reached', {
    detail: 'Too many checkouts of this product are open. Retry when some have ended.',
    meta: { reason: 'open_sessions', limit: OPEN_SESSIONS_MAX, used: OPEN_SESSIONS_MAX },
  });
}

/** Of any merchant: the id itself is the capability. */
export const findIdentitySession = (db: Db, identitySessionId: IdentitySessionId) =>
  db.select().from(identitySessions).where(eq(identitySessions.id, identitySessionId)).get();

/** The newest session in which this person gave this merchant, in this mode, a grant that was not used. */
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

/** Every grant that this person gave this merchant in this mode until now: one was used, and the others would do the same. */
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

/** The second statement fails the batch where another person was named for it first. */
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
