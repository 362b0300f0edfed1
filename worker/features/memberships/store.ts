import { and, desc, eq, isNull, ne, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { MembershipId, PaymentId, ProductId } from '#core/ids.ts';
import type { Db, Scope } from '#platform/context.ts';
import { storyIdOf, uuidOf } from '#platform/db/archive.ts';
import type { Write } from '#platform/db/commit.ts';
import { listPage, newestFirst, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { type Membership, memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';

/** The merchant's memberships, newest first. */
export const listMemberships = (scope: Scope, page: PageRequest) =>
  listPage(scope.db, memberships, rowsOf(memberships, scope), newestFirst(memberships.createdAt), page);

export const findMembership = (db: Db, membershipId: MembershipId) =>
  db.select().from(memberships).where(eq(memberships.id, membershipId)).get();

/** The other payments a membership rests on, as they were confirmed: none of them dropped by the chain. */
export async function listCarrying(db: Db, membershipId: MembershipId, exceptPaymentId: PaymentId) {
  const { id, confirmedAt, accessPeriodDays } = archivedPayments;
  const [rows, archived] = await db.batch([
    db
      .select({ id: payments.id, confirmedAt: payments.confirmedAt, terms: payments.terms })
      .from(payments)
      .where(
        and(
          eq(payments.membershipId, membershipId),
          eq(payments.status, 'CONFIRMED'),
          isNull(payments.orphanedAt),
          ne(payments.id, exceptPaymentId),
        ),
      ),
    db.select({ id, confirmedAt, accessPeriodDays }).from(archivedPayments).where(eq(archivedPayments.membershipId, membershipId)),
  ]);
  const kept = rows.map(({ id, confirmedAt, terms }) => ({ id, confirmedAt: confirmedAt!, accessPeriodDays: terms.accessPeriodDays }));
  return [...archived, ...kept].sort((one, other) => one.confirmedAt - other.confirmedAt);
}

export interface MembershipLookup {
  walletAddress?: string;
  customerRef?: string;
  email?: string;
  paymentId?: PaymentId;
  productId?: ProductId;
}

/** The one that lasts longest; for ever (no paid-through date) lasts longest of all. */
export async function getMembershipBy(scope: Scope, by: MembershipLookup): Promise<Membership> {
  const ofPayment = by.paymentId
    ? eq(
        memberships.id,
        sql`coalesce((SELECT membership_id FROM payments WHERE id = ${by.paymentId} AND merchant_id = ${scope.merchantId}),
          (SELECT ${uuidOf(sql`membership_id`)} FROM archived_payments
            WHERE id = ${storyIdOf(by.paymentId)} AND merchant_id = ${storyIdOf(scope.merchantId)}))`,
      )
    : undefined;
  const membership = await scope.db
    .select()
    .from(memberships)
    .where(
      and(
        rowsOf(memberships, scope, [
          [memberships.walletAddress, by.walletAddress],
          [memberships.customerRef, by.customerRef],
          [memberships.email, by.email],
          [memberships.productId, by.productId],
        ]),
        ofPayment,
      ),
    )
    .orderBy(desc(isNull(memberships.paidThrough)), desc(memberships.paidThrough), desc(memberships.createdAt))
    .limit(1)
    .get();
  return membership ?? raise('not_found');
}

export const insertMembership = (db: Db, membership: Membership): Write => db.insert(memberships).values(membership);

/** Guarded by the event of the same version in the same batch. */
export const updateMembership = (db: Db, after: Membership): Write =>
  db
    .update(memberships)
    .set(after)
    .where(and(eq(memberships.id, after.id), eq(memberships.version, after.version - 1)));
