import { and, asc, desc, eq, getTableColumns, isNull, lte, ne, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AuthorizationId, MembershipId, PaymentId, ProductId } from '#core/ids.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { jsonRows } from '#platform/db/among.ts';
import { storyIdOf, uuidOf } from '#platform/db/archive.ts';
import type { Write } from '#platform/db/commit.ts';
import { listPage, newestFirst, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { listNamedMemberships, productsNamed, SEARCHED_MAX } from '#platform/db/search/named.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { type Membership, memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { casUpdate, commitMany, type RowStep, updateUnversioned } from '#platform/db/versioned.ts';
import { boughtPlaceOf } from '#rules/members/placement.ts';
import type { MembershipStatus } from '#rules/states.ts';
import type { AuthorizationStatus } from '#rules/subscriptions/authorization.ts';
import { SERVED_AFTER_MS } from '#rules/subscriptions/schedule.ts';

interface MembershipFilter {
  status?: MembershipStatus | undefined;
  productId?: ProductId | undefined;
  walletAddress?: string | undefined;
  /** The beginning of something that names a membership or its payment. If none begins with it, a text to look for. */
  q?: string | undefined;
}

/** The merchant's memberships, newest first. */
export async function listMemberships(scope: Scope, { status, productId, walletAddress, q }: MembershipFilter, page: PageRequest) {
  const narrowed = rowsOf(memberships, scope, [
    [memberships.status, status],
    [memberships.productId, productId],
    [memberships.walletAddress, walletAddress],
  ]);
  const order = newestFirst(memberships.createdAt);
  if (q === undefined) return listPage(scope.db, memberships, narrowed, order, page);
  const within = (places: SQL, and = sql``) =>
    listPage(scope.db, memberships, sql`${memberships}.rowid IN (${places}) ${and}`, order, page);
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

/** The other payments a membership rests on, as they were confirmed: none of them dropped by the chain. Of archived ones the place is not known. */
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
  const kept = rows.map(({ id, confirmedAt, ...bought }) => ({
    id,
    confirmedAt: confirmedAt!,
    accessPeriodDays: bought.terms.accessPeriodDays,
    periodEndsAt: bought.terms.periodEndsAt,
    place: boughtPlaceOf(bought),
  }));
  return [...archived.map((payment) => ({ ...payment, place: null })), ...kept].sort((one, other) => one.confirmedAt - other.confirmedAt);
}

/** Members whose time ends between two instants, unless they buy again. */
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

/** The membership of a lookup that lasts longest; one without a paid-through date lasts for ever. 404. */
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

/** Columns that the placement and the authorization write are left to them. */
export const updateMembership = (
  ctx: Shard,
  before: Membership,
  { delivery: _, authorizationId: __, subscriptionStatus: ___, ...after }: Membership,
): Write[] => casUpdate(ctx, memberships, before, after);

/**
 * How the native subscription stands that pays for a membership. Under no version of the membership, as it is
 * the authorization's. `isNew`: this authorization pays from now on, whichever did before.
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

/**
 * Active ones past their end, or ones whose grace is over, longest due first and after `last`. `active` bounds what is read by the end of what was paid, `grace` by the end of the grace.
 */
export function listExpiringMemberships(
  ctx: Shard,
  status: keyof typeof ENDS,
  now: number,
  last: { paidThrough: number | null; graceUntil: number | null; place: number } | null,
  limit: number,
) {
  const endsAt = ENDS[status];
  const lastEnd = last && (status === 'active' ? last.paidThrough : last.graceUntil);
  return (
    ctx.db
      .select({
        ...getTableColumns(memberships),
        /** As its index has it, in the order of the list. */
        place: sql<number>`memberships.rowid`.as('place'),
      })
      .from(memberships)
      // As the index of each has it, word for word: a bound status would not use it.
      .where(
        and(
          status === 'active' ? sql`${memberships.status} = 'active'` : sql`${memberships.status} = 'grace'`,
          inReach(ctx, 'memberships.customer_ref', 'memberships'),
          last ? sql`(${endsAt}, memberships.rowid) > (${lastEnd}, ${last.place})` : undefined,
          lte(endsAt, now),
          // While its subscription is active, the next collection has an hour's time.
          status === 'active' ? sql`(subscription_status IS NOT 'active' OR ${lte(endsAt, now - SERVED_AFTER_MS)})` : undefined,
        ),
      )
      .orderBy(asc(endsAt), sql`memberships.rowid`)
      .limit(limit)
  );
}

/** A row that was changed since it was read is left as it is. */
export const expireMembershipsTogether = (
  ctx: Shard,
  steps: RowStep<{ status: string; graceUntil: number | null; cancelledAt: number | null; updatedAt: number }>[],
): Promise<void> => commitMany(ctx, memberships, steps);
