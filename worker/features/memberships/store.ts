import { and, asc, desc, eq, getTableColumns, isNull, lte, ne, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AuthorizationId, MembershipId, PaymentId, ProductId } from '#core/ids.ts';
import { clockFilter } from '#platform/chain/clock-filter.store.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { jsonRows } from '#platform/db/among.ts';
import { subjectIdOf, uuidOf } from '#platform/db/archive.ts';
import type { Write } from '#platform/db/commit.ts';
import { listPage, newestFirst, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { listNamedMemberships, productsNamed, SEARCHED_MAX } from '#platform/db/search/named.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { type Membership, memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { casUpdate, commitMany, type RowStep, updateUnversioned } from '#platform/db/versioned.ts';
import { purchasedDeliveryOf } from '#rules/members/placement.ts';
import type { MembershipStatus } from '#rules/states.ts';
import type { AuthorizationStatus } from '#rules/subscriptions/authorization.ts';
import { SERVED_AFTER_MS } from '#rules/subscriptions/schedule.ts';

interface MembershipFilter {
  status?: MembershipStatus | undefined;
  productId?: ProductId | undefined;
  walletAddress?: string | undefined;
  /** Prefix of an id or reference of a membership or its payment. Without a match, a search text. */
  q?: string | undefined;
}

export async function listMemberships(scope: Scope, { status, productId, walletAddress, q }: MembershipFilter, page: PageRequest) {
  const narrowed = rowsOf(memberships, scope, [
    [memberships.status, status],
    [memberships.productId, productId],
    [memberships.walletAddress, walletAddress],
  ]);
  const order = newestFirst(memberships.createdAt);
  if (q === undefined) return listPage(scope.db, memberships, narrowed, order, page);
  const within = (rowIds: SQL, and = sql``) =>
    listPage(scope.db, memberships, sql`${memberships}.rowid IN (${rowIds}) ${and}`, order, page);
  const ids = await listNamedMemberships(scope, q);
  const named = await within(
    sql`SELECT memberships.rowid FROM ${jsonRows(ids)} CROSS JOIN ${memberships} ON ${memberships.id} = j.value WHERE ${narrowed}`,
  );
  if (named.total > 0) return named;
  const newest = sql`SELECT rowid FROM ${memberships} WHERE ${narrowed} ORDER BY created_at DESC, rowid DESC LIMIT ${SEARCHED_MAX}`;
  const isSaid = sql`AND (instr(lower(coalesce(customer_ref, '')), lower(${q})) > 0 OR product_id IN (${productsNamed(scope, q)}))`;
  return within(newest, isSaid);
}

export const findMembership = (db: Db, membershipId: MembershipId) =>
  db.select().from(memberships).where(eq(memberships.id, membershipId)).get();

/**
 * Lists the other payments of a membership in order of confirmation, without those the chain dropped. The delivery target of archived
 * payments is unknown.
 */
export async function listCarrying(db: Db, membershipId: MembershipId, exceptPaymentId: PaymentId) {
  const { id, confirmedAt, accessPeriodDays, periodEndsAt } = archivedPayments;
  const [rows, archived] = await db.batch([
    db
      .select({ id: payments.id, confirmedAt: payments.confirmedAt, customerRef: payments.customerRef, terms: payments.terms })
      .from(payments)
      .where(
        and(
          eq(payments.membershipId, membershipId),
          eq(payments.status, 'CONFIRMED'),
          isNull(payments.orphanedAt),
          isNull(payments.accessRevokedAt),
          ne(payments.id, exceptPaymentId),
        ),
      ),
    db
      .select({ id, confirmedAt, accessPeriodDays, periodEndsAt })
      .from(archivedPayments)
      .where(eq(archivedPayments.membershipId, membershipId)),
  ]);
  const current = rows.map(({ id, confirmedAt, ...bought }) => ({
    id,
    confirmedAt: confirmedAt!,
    accessPeriodDays: bought.terms.accessPeriodDays,
    periodEndsAt: bought.terms.periodEndsAt,
    purchased: purchasedDeliveryOf(bought),
  }));
  return [...archived.map((payment) => ({ ...payment, purchased: null })), ...current].sort(
    (one, other) => one.confirmedAt - other.confirmedAt,
  );
}

export async function getRenewalCount(scope: Scope, from: number, to: number): Promise<number> {
  const isDue = sql`${memberships.status} = 'active' AND ${memberships.paidThrough} BETWEEN ${from} AND ${to}`;
  return scope.db.$count(memberships, and(rowsOf(memberships, scope), isDue));
}

interface MembershipLookup {
  walletAddress?: string;
  customerRef?: string;
  email?: string;
  paymentId?: PaymentId;
  productId?: ProductId;
}

/** Finds the membership that lasts longest. Unlimited ones win. Throws 404. */
export async function getMembershipBy(scope: Scope, by: MembershipLookup): Promise<Membership> {
  const ofPayment = by.paymentId
    ? eq(
        memberships.id,
        sql`coalesce((SELECT membership_id FROM payments WHERE id = ${by.paymentId} AND merchant_id = ${scope.merchantId}),
          (SELECT ${uuidOf(sql`membership_id`)} FROM archived_payments
            WHERE id = ${subjectIdOf(by.paymentId)} AND merchant_id = ${subjectIdOf(scope.merchantId)}))`,
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

/** Updates a membership except the columns written by membership delivery and authorization. */
export const updateMembership = (
  ctx: Shard,
  before: Membership,
  { delivery: _, authorizationId: __, subscriptionStatus: ___, ...after }: Membership,
): Write[] => casUpdate(ctx, memberships, before, after);

/**
 * Stores the state of a membership's subscription, without a membership version because the authorization owns these columns. `isNew`: this
 * authorization replaces the previous one.
 */
export const noteSubscription = (
  db: Db,
  membershipId: MembershipId,
  { id: authorizationId, status: subscriptionStatus }: { id: AuthorizationId; status: AuthorizationStatus },
  isNew: boolean,
): Write =>
  updateUnversioned(
    db,
    memberships,
    { authorizationId, subscriptionStatus },
    and(eq(memberships.id, membershipId), isNew ? undefined : eq(memberships.authorizationId, authorizationId)),
  );

export type ExpiringMembership = Awaited<ReturnType<typeof listExpiringMemberships>>[number];

const ENDS = { active: memberships.paidThrough, grace: memberships.graceUntil };

/** Lists active memberships past their end, or those with grace over, longest due first, after `last`. The bounds limit the rows read. */
export function listExpiringMemberships(
  ctx: Shard,
  status: keyof typeof ENDS,
  now: number,
  last: { paidThrough: number | null; graceUntil: number | null; rowNumber: number } | null,
  limit: number,
) {
  const endsAt = ENDS[status];
  const lastEnd = last && (status === 'active' ? last.paidThrough : last.graceUntil);
  return (
    ctx.db
      .select({
        ...getTableColumns(memberships),
        /** Must match the index, in the order of the list. */
        rowNumber: sql<number>`memberships.rowid`.as('rowNumber'),
      })
      .from(memberships)
      // Must match each index expression exactly. A bound status would not use the index.
      .where(
        and(
          status === 'active' ? sql`${memberships.status} = 'active'` : sql`${memberships.status} = 'grace'`,
          clockFilter(ctx, 'memberships.customer_ref', 'memberships'),
          last ? sql`(${endsAt}, memberships.rowid) > (${lastEnd}, ${last.rowNumber})` : undefined,
          lte(endsAt, now),
          // An active subscription gets an hour for the next collection.
          status === 'active' ? sql`(subscription_status IS NOT 'active' OR ${lte(endsAt, now - SERVED_AFTER_MS)})` : undefined,
        ),
      )
      .orderBy(asc(endsAt), sql`memberships.rowid`)
      .limit(limit)
  );
}

export const expireMembershipsTogether = (
  ctx: Shard,
  steps: RowStep<{ status: string; graceUntil: number | null; cancelledAt: number | null; updatedAt: number }>[],
): Promise<void> => commitMany(ctx, memberships, steps);
