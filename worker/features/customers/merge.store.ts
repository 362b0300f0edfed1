import { and, eq, gt, inArray, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { CustomerId, MembershipId } from '#core/ids.ts';
import type { Db, Scope } from '#platform/context.ts';
import { amongIds, boundId } from '#platform/db/among.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { keyTextOf } from '#platform/db/search/customer.ts';
import { archivedSales, archivedSubjects } from '#platform/db/tables/archives.ts';
import { type CustomerRow, customers, entitlements } from '#platform/db/tables/entitlements.ts';
import { type Membership, memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { meteredSessions } from '#platform/db/tables/settlements.ts';
import { subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { casUpdate, stepRows } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';
import { READ_MAX } from './state.store.ts';

/** Memberships of one customer that a merge changes. */
export const MEMBERSHIPS_MAX = 25;
/** Entitlements of one customer that a merge moves. */
export const ENTITLEMENTS_MAX = READ_MAX;

const RUNNING = {
  subscription: ['active', 'past_due', 'cancel_requested', 'requires_reapproval'],
  metered_session: ['open', 'closing'],
} as const;

/** Conditions of what runs for a customer and prevents a merge. `isOpenToo`: also of a subscription that its buyer may be signing. */
function running(scope: Scope, key: Customer, isOpenToo = true) {
  const states = [...(isOpenToo ? (['pending'] as const) : []), ...RUNNING.subscription];
  const ofKey = (ref: SQL, wallet: SQL): SQL => ('customerRef' in key ? ref : sql`(${wallet} AND customer_ref IS NULL)`);
  const [ref, wallet] = 'customerRef' in key ? [key.customerRef, ''] : ['', key.walletAddress];
  const [authorizations, sessions] = [subscriptionAuthorizations, meteredSessions];
  return {
    subscription: {
      table: authorizations,
      where: and(
        rowsOf(authorizations, scope),
        ofKey(eq(authorizations.customerRef, ref), eq(authorizations.subscriberWallet, wallet)),
        sql`+${inArray(authorizations.status, states)}`,
      ),
    },
    metered_session: {
      table: sessions,
      where: and(
        rowsOf(sessions, scope),
        ofKey(eq(sessions.customerRef, ref), sql`coalesce(customer_wallet, payer_wallet) = ${wallet}`),
        inArray(sessions.status, [...RUNNING.metered_session]),
      ),
    },
  };
}

/** Condition of subscriptions that run for the survivor: their next collection would use up the time that `from` has for the product. */
function consuming(scope: Scope, from: Customer, into: Customer) {
  const { table, where } = running(scope, into).subscription;
  const isLeft = (of: typeof memberships | typeof entitlements) =>
    sql`${gt(of.paidThrough, scope.now)} AND ${inArray(of.status, ['active', 'grace'])}`;
  const selected = sql`SELECT ${memberships.productId} FROM ${memberships}
    WHERE ${rowsOf(memberships, scope, [[memberships.customerKey, keyTextOf(from)]])} AND ${isLeft(memberships)}
    UNION SELECT ${entitlements.productId} FROM ${entitlements} WHERE ${entitledTo(scope, from)} AND ${isLeft(entitlements)}`;
  return { table, where: and(where, sql`+${table.productId} IN (${selected})`) };
}

const entitledTo = (scope: Scope, key: Customer): SQL =>
  'customerRef' in key
    ? rowsOf(entitlements, scope, [[entitlements.customerRef, key.customerRef]])
    : rowsOf(entitlements, scope, [[entitlements.walletAddress, key.walletAddress]]);

/** Finds out whether a running subscription of the survivor would use up time that moves to it. */
export async function isConsuming(scope: Scope, from: Customer, into: Customer): Promise<boolean> {
  const { table, where } = consuming(scope, from, into);
  return (await scope.db.select({ one: sql`1` }).from(table).where(where).limit(1)).length > 0;
}

export const abortIfConsuming = (scope: Scope, from: Customer, into: Customer): Write => {
  const { table, where } = consuming(scope, from, into);
  return abortIfExists(scope, table, where);
};

/** Counts the entitlements of a customer, up to one more than a merge moves. */
export async function countEntitlements(scope: Scope, key: Customer): Promise<number> {
  const counted = sql`SELECT 1 FROM ${entitlements} WHERE ${entitledTo(scope, key)} LIMIT ${ENTITLEMENTS_MAX + 1}`;
  const [row] = await scope.db.all<{ total: number }>(sql`SELECT count(*) AS total FROM (${counted})`);
  return row!.total;
}

export async function findRunning(scope: Scope, key: Customer, isOpenToo?: boolean): Promise<'subscription' | 'metered_session' | null> {
  const { subscription, metered_session } = running(scope, key, isOpenToo);
  const [authorizations, sessions] = await scope.db.batch([
    scope.db.select({ one: sql`1` }).from(subscription.table).where(subscription.where).limit(1),
    scope.db.select({ one: sql`1` }).from(metered_session.table).where(metered_session.where).limit(1),
  ]);
  if (authorizations.length > 0) return 'subscription';
  return sessions.length > 0 ? 'metered_session' : null;
}

export const abortIfRunning = (scope: Scope, key: Customer, isOpenToo?: boolean): Write[] =>
  Object.values(running(scope, key, isOpenToo)).map(({ table, where }) => abortIfExists(scope, table, where));

/** Lists the memberships of both customers: of `from` at most one more than a merge changes. */
export async function listBothMemberships(scope: Scope, from: Customer, into: Customer): Promise<[Membership[], Membership[]]> {
  const of = (key: Customer) =>
    scope.db
      .select()
      .from(memberships)
      .where(rowsOf(memberships, scope, [[memberships.customerKey, keyTextOf(key)]]));
  const products = scope.db
    .select({ id: memberships.productId })
    .from(memberships)
    .where(rowsOf(memberships, scope, [[memberships.customerKey, keyTextOf(from)]]));
  const ofProducts = and(
    rowsOf(memberships, scope, [[memberships.customerKey, keyTextOf(into)]]),
    inArray(memberships.productId, products),
  );
  return scope.db.batch([of(from).limit(MEMBERSHIPS_MAX + 1), scope.db.select().from(memberships).where(ofProducts)]);
}

/** Lists the memberships that run under a key. */
export async function listRunningIds(scope: Scope, key: Customer): Promise<MembershipId[]> {
  const isRunning = inArray(memberships.status, ['active', 'grace']);
  const rows = await scope.db
    .select({ id: memberships.id })
    .from(memberships)
    .where(and(rowsOf(memberships, scope, [[memberships.customerKey, keyTextOf(key)]]), isRunning))
    .limit(MEMBERSHIPS_MAX);
  return rows.map(({ id }) => id);
}

/** Finds the membership of a customer for the product of another one. */
export const findPeer = async (scope: Scope, { productId }: Membership, key: Customer): Promise<Membership | undefined> =>
  scope.db
    .select()
    .from(memberships)
    .where(
      rowsOf(memberships, scope, [
        [memberships.customerKey, keyTextOf(key)],
        [memberships.productId, productId],
      ]),
    )
    .get();

/** Selects the customers that were merged away. */
export async function listMergedIds(db: Db, ids: CustomerId[]): Promise<Set<CustomerId>> {
  if (ids.length === 0) return new Set();
  const isMerged = and(amongIds(customers.id, ids), isNotNull(customers.mergedInto));
  const rows = await db.select({ id: customers.id }).from(customers).where(isMerged);
  return new Set(rows.map(({ id }) => id));
}

export const abortIfMerged = (scope: Scope, id: CustomerId): Write =>
  abortIfExists(scope, customers, and(eq(customers.id, id), isNotNull(customers.mergedInto)));

/** Moves a membership with its delivery to another customer. */
export const rekeyMembership = (scope: Scope, membership: Membership, key: Customer): Write[] =>
  casUpdate(scope, memberships, membership, {
    customerKey: keyTextOf(key),
    customerRef: 'customerRef' in key ? key.customerRef : null,
    walletAddress: 'walletAddress' in key ? key.walletAddress : membership.walletAddress,
    updatedAt: scope.now,
  });

/**
 * Gives the payments of a merged membership to the survivor's, by which a refund, and a payment that the chain drops, are taken from what
 * the survivor has.
 */
export const movePayments = ({ db }: Scope, from: Membership, into: Membership): Write[] => [
  stepRows(db, payments, { membershipId: into.id }, eq(payments.membershipId, from.id)),
  // Objects with events of the merged membership, which its payments named until now.
  db
    .insert(archivedSubjects)
    .select(
      sql`SELECT DISTINCT membership_id, archive_id FROM archived_sales WHERE membership_id = ${boundId(from.id)} AND archive_id IS NOT NULL`,
    )
    .onConflictDoNothing(),
  db.update(archivedSales).set({ membershipId: into.id }).where(eq(archivedSales.membershipId, from.id)),
];

/** Points `from`, and all that were merged into it, to the survivor. Aborts the batch if either changed. */
export const mergeRows = (scope: Scope, from: CustomerRow, into: CustomerRow): Write[] => [
  ...casUpdate(scope, customers, into, { updatedAt: scope.now }),
  ...casUpdate(scope, customers, from, { mergedInto: into.id, updatedAt: scope.now }),
  stepRows(scope.db, customers, { mergedInto: into.id }, and(eq(customers.mergedInto, from.id), isInTenant(scope, scope.livemode))),
];

export const isOfOtherMode = async (scope: Scope, id: CustomerId): Promise<boolean> => {
  const isIt = and(eq(customers.id, id), isInTenant(scope, !scope.livemode));
  return (await scope.db.select({ one: sql`1` }).from(customers).where(isIt)).length > 0;
};

/** The plus signs force the index of the id. */
const isInTenant = ({ merchantId }: Scope, livemode: boolean): SQL =>
  sql`+${eq(customers.merchantId, merchantId)} AND +${eq(customers.livemode, livemode)}`;
