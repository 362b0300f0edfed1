import { and, asc, desc, eq, getTableColumns, isNull, lte, ne, or, type SQL, sql } from 'drizzle-orm';
import { raise } from '#core/errors.ts';
import type { AuthorizationId, MembershipId, PaymentId, ProductId } from '#core/ids.ts';
import { clockFilter } from '#platform/chain/clock-filter.store.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { boundId, idOfText, jsonRows } from '#platform/db/among.ts';

import type { Write } from '#platform/db/commit.ts';
import { countedRows, type Listed, listCounted, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { listNamedMemberships, productsNamed, SEARCHED_MAX } from '#platform/db/search/named.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { type Membership, memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { casUpdate, commitMany, type RowStep, updateUnversioned } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';
import { purchasedDeliveryOf } from '#rules/members/placement.ts';
import { MEMBERSHIP, type MembershipStatus } from '#rules/states.ts';
import type { AuthorizationStatus } from '#rules/subscriptions/authorization.ts';
import { SERVED_AFTER_MS } from '#rules/subscriptions/schedule.ts';

interface MembershipFilter {
  status?: MembershipStatus | undefined;
  productId?: ProductId | undefined;
  walletAddress?: string | undefined;
  customer?: Customer | undefined;
  /** Prefix of an id or reference of a membership or its payment. Without a match, a search text. */
  q?: string | undefined;
}

export async function listMemberships(scope: Scope, { q, ...filter }: MembershipFilter, page: PageRequest) {
  const selected = selectNewest(scope, filter);
  if (q === undefined) return readPage(scope.db, selected, page);
  const ids = await listNamedMemberships(scope, q);
  const named = await readPage(
    scope.db,
    sql`SELECT m.id, m.created_at FROM ${jsonRows(ids)} CROSS JOIN memberships m ON m.id = ${idOfText(sql`j.value`)}
      WHERE ${and(...conditionsOf(scope, filter), filter.walletAddress === undefined ? undefined : or(...ofWallet(filter.walletAddress)))}`,
    page,
  );
  if (named.total > 0) return named;
  const isSaid = sql`instr(lower(coalesce(m.customer_ref, '')), lower(${q})) > 0 OR m.product_id IN (${productsNamed(scope, q)})`;
  const newest = sql`SELECT id FROM (${selected} ${NEWEST_FIRST} LIMIT ${page.searchedMax ?? SEARCHED_MAX})`;
  return readPage(scope.db, sql`SELECT m.id, m.created_at FROM memberships m WHERE m.id IN (${newest}) AND (${isSaid})`, page);
}

/** By the positions of time and id, because the rows of a list of ids have an `id` too. */
const NEWEST_FIRST = sql.raw('ORDER BY 2 DESC, 1 DESC');

type Narrowed = Omit<MembershipFilter, 'q'>;

/** The plus signs force the index of the wallet or customer. */
const conditionsOf = ({ merchantId, livemode }: Scope, { status, productId, walletAddress, customer }: Narrowed): (SQL | undefined)[] => [
  sql`m.merchant_id = ${boundId(merchantId)} AND m.livemode = ${livemode ? 1 : 0}`,
  productId && sql`${sql.raw((walletAddress ?? customer) === undefined ? '' : '+')}m.product_id = ${boundId(productId)}`,
  customer && walletAddress !== undefined ? or(...ofWallet(walletAddress)) : undefined,
  customer && sql`m.customer_key = ${'customerRef' in customer ? `ref:${customer.customerRef}` : `wallet:${customer.walletAddress}`}`,
  status && sql`${sql.raw((walletAddress ?? customer) === undefined ? '' : '+')}m.status = ${status}`,
];

/** SQL conditions of a wallet's memberships, each with an index: those of the wallet itself, and those of its references. */
const ofWallet = (wallet: string): SQL[] => [
  sql`m.customer_key = ${`wallet:${wallet}`}`,
  sql`(m.wallet_address = ${wallet} AND m.customer_ref IS NOT NULL)`,
];

/** SELECT of ids and times. Each branch has an index in the order of time, so that SQLite merges the branches and reads one page. */
function selectNewest(scope: Scope, filter: Narrowed): SQL {
  const { status, productId, walletAddress, customer } = filter;
  const branches =
    walletAddress !== undefined && customer === undefined
      ? ofWallet(walletAddress)
      : status === undefined && productId === undefined && customer === undefined
        ? MEMBERSHIP.states.map((state) => sql`m.status = ${state}`)
        : [undefined];
  const selections = branches.map(
    (branch) => sql`SELECT m.id, m.created_at FROM memberships m WHERE ${and(...conditionsOf(scope, filter), branch)}`,
  );
  return sql.join(selections, sql` UNION ALL `);
}

async function readPage(db: Db, selected: SQL, page: PageRequest): Promise<Listed<Membership>> {
  const slice = sql`${selected} ${NEWEST_FIRST} LIMIT ${page.perPage} OFFSET ${page.offset}`;
  const rows = db
    .select(getTableColumns(memberships))
    .from(sql`(${slice}) page`)
    .innerJoin(memberships, sql`${memberships.id} = page.id`)
    .orderBy(sql`page.created_at DESC, page.id DESC`);
  return listCounted(db, rows, db.select({ total: sql<number>`count(*)` }).from(sql`(${selected} LIMIT ${countedRows(page)})`), page);
}

export const findMembership = (db: Db, membershipId: MembershipId) =>
  db.select().from(memberships).where(eq(memberships.id, membershipId)).get();

/**
 * Lists the other payments of a membership in order of confirmation, without those the chain dropped or of before an erasure. The delivery
 * target of archived payments is unknown.
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
          sql`terms ->> '$.isErased' IS NULL`,
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
        sql`coalesce((SELECT membership_id FROM payments WHERE id = ${boundId(by.paymentId)} AND merchant_id = ${boundId(scope.merchantId)}),
          (SELECT membership_id FROM archived_payments WHERE id = ${boundId(by.paymentId)} AND merchant_id = ${boundId(scope.merchantId)}))`,
      )
    : undefined;
  const membership = await scope.db
    .select()
    .from(memberships)
    .where(
      and(
        // The ids of a wallet, which are few, are read through their own index.
        by.walletAddress === undefined
          ? rowsOf(memberships, scope)
          : sql`${memberships.id} IN (SELECT id FROM (${selectNewest(scope, { walletAddress: by.walletAddress })}))`,
        by.customerRef === undefined ? undefined : eq(memberships.customerRef, by.customerRef),
        by.email === undefined ? undefined : eq(memberships.email, by.email),
        by.productId === undefined ? undefined : eq(memberships.productId, by.productId),
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

const ENDS = { active: memberships.paidThrough, grace: memberships.graceUntil };

/** Lists active memberships past their end, or those with grace over, longest due first, after `last`. The bounds limit the rows read. */
export function listExpiringMemberships(
  ctx: Shard,
  status: keyof typeof ENDS,
  now: number,
  last: { id: MembershipId; paidThrough: number | null; graceUntil: number | null } | null,
  limit: number,
) {
  const endsAt = ENDS[status];
  const lastEnd = last && (status === 'active' ? last.paidThrough : last.graceUntil);
  return (
    ctx.db
      .select()
      .from(memberships)
      // Must match each index expression exactly. A bound status would not use the index.
      .where(
        and(
          status === 'active' ? sql`${memberships.status} = 'active'` : sql`${memberships.status} = 'grace'`,
          clockFilter(ctx, 'memberships.customer_ref', 'memberships'),
          last ? sql`(${endsAt}, ${memberships.id}) > (${lastEnd}, ${boundId(last.id)})` : undefined,
          lte(endsAt, now),
          // An active subscription gets an hour for the next collection.
          status === 'active' ? sql`(subscription_status IS NOT 'active' OR ${lte(endsAt, now - SERVED_AFTER_MS)})` : undefined,
        ),
      )
      .orderBy(asc(endsAt), asc(memberships.id))
      .limit(limit)
  );
}

export const expireMembershipsTogether = (
  ctx: Shard,
  steps: RowStep<{ status: string; graceUntil: number | null; cancelledAt: number | null; updatedAt: number }>[],
): Promise<void> => commitMany(ctx, memberships, steps);
