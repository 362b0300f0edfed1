import { and, desc, eq, inArray, isNull, lte, ne, or, sql } from 'drizzle-orm';
import type { AuthorizationId, PaymentId, ProductId } from '#core/ids.ts';
import { clockFilter, rowsOnChainOf } from '#platform/chain/clock-filter.store.ts';
import type { Db, Scope, Shard, Tenant } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { type Listed, listPage, newestFirst, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { isAmongRows, listDueInTurns } from '#platform/db/sweeps.ts';
import { payments } from '#platform/db/tables/payments.ts';
import {
  type AuthorizationRow,
  type CollectionRow,
  subscriptionAuthorizations,
  subscriptionCollections,
} from '#platform/db/tables/subscriptions/authorizations.ts';
import { casUpdate, updateUnversioned } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';
import type { AuthorizationStatus } from '#rules/subscriptions/authorization.ts';

const { id, paymentId, subscriptionAddress, livemode, version, createdAt, customerRef, subscriberWallet } = subscriptionAuthorizations;

export const findAuthorization = async (db: Db, authorizationId: AuthorizationId): Promise<AuthorizationRow | null> =>
  (await db.select().from(subscriptionAuthorizations).where(eq(id, authorizationId)).get()) ?? null;

/** Finds the authorization of a checkout. */
export const findAuthorizationFor = async (db: Db, checkout: PaymentId): Promise<AuthorizationRow | null> =>
  (await db.select().from(subscriptionAuthorizations).where(eq(paymentId, checkout)).get()) ?? null;

/** Condition of the unique index, verbatim. */
const IS_CURRENT = sql`status IN ('active', 'past_due', 'cancel_requested', 'requires_reapproval')`;

/** Finds the authorization that collects from a subscription's address. A unique index allows one. */
export const findCurrent = async (db: Db, address: string, tenant: Tenant): Promise<AuthorizationRow | null> =>
  (await db
    .select()
    .from(subscriptionAuthorizations)
    .where(and(eq(subscriptionAddress, address), rowsOnChainOf(tenant, subscriptionAuthorizations), IS_CURRENT))
    .get()) ?? null;

type Addressed = Pick<AuthorizationRow, 'id' | 'merchantId' | 'livemode' | 'subscriptionAddress'>;

/** Matches other open checkouts of the same wallet for the same plan. */
const isOther = (row: Addressed) =>
  and(
    eq(subscriptionAddress, row.subscriptionAddress),
    rowsOnChainOf(row, subscriptionAuthorizations),
    ne(id, row.id),
    isNull(subscriptionAuthorizations.endedAt),
  );

/** True if another checkout of the wallet for the plan is open, signed or not. */
export const hasOther = async (db: Db, row: Addressed): Promise<boolean> =>
  (await db.select({ id }).from(subscriptionAuthorizations).where(isOther(row)).limit(1).get()) !== undefined;

/** True if the wallet has signed in another open checkout for the plan. */
export const hasSignedOther = async (db: Db, row: Addressed): Promise<boolean> =>
  (await db
    .select({ id })
    .from(subscriptionAuthorizations)
    .innerJoin(payments, eq(payments.id, paymentId))
    .where(and(isOther(row), eq(payments.status, 'PENDING_CONFIRMATION')))
    .limit(1)
    .get()) !== undefined;

/** Finds a customer's newest authorization for a product of which a period was collected. */
export const findAuthorizationBy = async (
  db: Db,
  { merchantId, livemode: isLive, productId }: Pick<AuthorizationRow, 'merchantId' | 'livemode' | 'productId'>,
  customer: Customer,
): Promise<AuthorizationRow | null> =>
  (await db
    .select()
    .from(subscriptionAuthorizations)
    .where(
      and(
        eq(subscriptionAuthorizations.merchantId, merchantId),
        eq(livemode, isLive),
        'customerRef' in customer
          ? eq(customerRef, customer.customerRef)
          : and(eq(subscriberWallet, customer.walletAddress), sql`customer_ref IS NULL`),
        eq(subscriptionAuthorizations.productId, productId),
        sql`started_at IS NOT NULL`,
      ),
    )
    .orderBy(desc(createdAt))
    .limit(1)
    .get()) ?? null;

export const insertAuthorization = (db: Db, row: AuthorizationRow): Write =>
  db.insert(subscriptionAuthorizations).values({ ...row, collectAt: row.nextAttemptAt });

/** The batch fails if the row is not at the version it was read at. */
export const updateAuthorization = (ctx: Shard, before: AuthorizationRow, after: AuthorizationRow): Write[] =>
  casUpdate(ctx, subscriptionAuthorizations, before, { ...after, collectAt: after.nextAttemptAt });

/** Schedules the next collection and read without a new version. */
export const scheduleAuthorization = (
  db: Db,
  row: AuthorizationRow,
  schedule: Pick<AuthorizationRow, 'nextAttemptAt' | 'nextCheckAt'>,
): Write =>
  updateUnversioned(
    db,
    subscriptionAuthorizations,
    { ...schedule, collectAt: schedule.nextAttemptAt },
    and(eq(id, row.id), eq(version, row.version)),
  );

/** Makes the sandbox authorizations of a wallet due for a chain read: that wallet has just signed a transaction on the simulated chain. */
export const scheduleSigner = ({ db, merchantId, now }: Scope, wallet: string): Write =>
  updateUnversioned(
    db,
    subscriptionAuthorizations,
    { nextCheckAt: now },
    sql`merchant_id = ${boundId(merchantId)} AND livemode = 0 AND subscriber_wallet = ${wallet} AND ended_at IS NULL AND next_check_at > ${now}`,
  );

interface AuthorizationFilter {
  status?: AuthorizationStatus | undefined;
  productId?: ProductId | undefined;
  customer?: Customer | undefined;
  /** Wallet that subscribed, for any customer. */
  wallet?: string | undefined;
}

/** Lists the merchant's authorizations in one mode, newest first. */
export const listOwnAuthorizations = (
  scope: Scope,
  { status, productId, customer, wallet }: AuthorizationFilter,
  page: PageRequest,
): Promise<Listed<AuthorizationRow>> => {
  const narrowed = rowsOf(subscriptionAuthorizations, scope, [
    [subscriptionAuthorizations.status, status],
    [subscriptionAuthorizations.productId, productId],
    [subscriptionAuthorizations.subscriberWallet, wallet],
  ]);
  const isTheirs =
    customer &&
    ('customerRef' in customer
      ? eq(customerRef, customer.customerRef)
      : and(eq(subscriberWallet, customer.walletAddress), isNull(customerRef)));
  return listPage(scope.db, subscriptionAuthorizations, and(narrowed, isTheirs)!, newestFirst(createdAt), page);
};

export const listAuthorizations = (db: Db, ids: AuthorizationId[]): Promise<AuthorizationRow[]> =>
  db.select().from(subscriptionAuthorizations).where(inArray(id, ids)).all();

/** Finds the claim of a period. */
export const findCollectionRow = async (db: Db, authorizationId: AuthorizationId, periodStartsAt: number): Promise<CollectionRow | null> =>
  (await db.select().from(subscriptionCollections).where(ofPeriod(authorizationId, periodStartsAt)).get()) ?? null;

const ofPeriod = (authorizationId: AuthorizationId, periodStartsAt: number) =>
  and(eq(subscriptionCollections.authorizationId, authorizationId), eq(subscriptionCollections.periodStartsAt, periodStartsAt));

/** Claims a period for a payment. Aborts if a payment other than `before` has it, or it is collected. */
export const claimPeriod = (ctx: Shard, row: CollectionRow, before: PaymentId | null): Write[] => [
  ctx.db
    .insert(subscriptionCollections)
    .values(row)
    .onConflictDoUpdate({
      target: [subscriptionCollections.authorizationId, subscriptionCollections.periodStartsAt],
      set: { paymentId: row.paymentId, createdAt: row.createdAt },
      setWhere: sql`payment_id = ${boundId(before)} AND collected_at IS NULL`,
    }),
  abortUnlessChanged(ctx),
];

/** Marks a period as collected by a payment. Aborts if it was collected before. */
export const noteCollected = (ctx: Shard, row: CollectionRow & { collectedAt: number }): Write[] => [
  ctx.db
    .insert(subscriptionCollections)
    .values(row)
    .onConflictDoUpdate({
      target: [subscriptionCollections.authorizationId, subscriptionCollections.periodStartsAt],
      set: { paymentId: row.paymentId, collectedAt: row.collectedAt, periodEndsAt: row.periodEndsAt },
      setWhere: sql`collected_at IS NULL`,
    }),
  abortUnlessChanged(ctx),
];

/** Lists the claimed and collected periods of an authorization. */
export const listCollected = (db: Db, authorizationId: AuthorizationId): Promise<CollectionRow[]> =>
  db.select().from(subscriptionCollections).where(eq(subscriptionCollections.authorizationId, authorizationId)).all();

/** Finds the authorization of a payment for a period. */
export const findCollectedBy = async (db: Db, by: PaymentId): Promise<AuthorizationId | null> =>
  (
    await db
      .select({ id: subscriptionCollections.authorizationId })
      .from(subscriptionCollections)
      .where(eq(subscriptionCollections.paymentId, by))
      .get()
  )?.id ?? null;

/** Frees a period after the chain dropped its transaction. */
export const dropCollected = (db: Db, by: PaymentId): Write =>
  db.update(subscriptionCollections).set({ collectedAt: null }).where(eq(subscriptionCollections.paymentId, by));

/** Marks a freed period as collected again by a payment that was not dropped after all, unless another has collected it. */
export const takeCollectedBack = ({ db, now }: Shard, { authorizationId, periodStartsAt }: CollectionRow, by: PaymentId): Write =>
  db
    .update(subscriptionCollections)
    .set({ collectedAt: now, paymentId: by })
    .where(and(ofPeriod(authorizationId, periodStartsAt), isNull(subscriptionCollections.collectedAt)));

/** Classes of due authorizations, each with its own index and sweep, so that collections wait for nothing else. */
export type AuthorizationClass = 'collections' | 'checkouts' | 'looks';

const { askedReadAt, collectAt, nextCheckAt } = subscriptionAuthorizations;
/** Conditions of the indexes, verbatim. */
const CLASSES = {
  collections: { at: collectAt, is: sql`collect_at IS NOT NULL`, byMerchant: 'subscription_collections_by_merchant' },
  checkouts: {
    at: nextCheckAt,
    is: sql`next_check_at IS NOT NULL AND status = 'pending'`,
    byMerchant: 'subscription_checkouts_by_merchant',
  },
  looks: { at: nextCheckAt, is: sql`next_check_at IS NOT NULL AND status <> 'pending'`, byMerchant: 'subscription_checks_by_merchant' },
};

/**
 * Leases due authorizations until `leaseUntil`, round-robin by merchant. The update checks again that they are due, so that concurrent sweeps
 * take different ones.
 */
export async function takeDueAuthorizations(
  ctx: Shard,
  kind: AuthorizationClass,
  leaseUntil: number,
  max: number,
): Promise<AuthorizationRow[]> {
  const { at, is, byMerchant } = CLASSES[kind];
  const waiting = { table: subscriptionAuthorizations, at, isLive: sql`${is} AND livemode = 1`, byMerchant };
  const rowids = await listDueInTurns(ctx, waiting, { matchesClock: sql`${is} AND ${clockFilter(ctx)}`, dueBefore: ctx.now, limit: max });
  if (rowids.length === 0) return [];
  const lease = kind === 'collections' ? { collectAt: leaseUntil } : { nextCheckAt: leaseUntil };
  const isTaken = sql`${isAmongRows(rowids)} AND ${is} AND ${at} <= ${ctx.now}`;
  return updateUnversioned(ctx.db, subscriptionAuthorizations, lease, isTaken).returning();
}

/** Claims a chain read that a GET asked for. Returns null if another one was claimed within `everyMs`, or if no row has this id. */
export async function claimAskedRead({ db, wallNow }: Shard, authorizationId: AuthorizationId, everyMs: number) {
  const isDue = or(isNull(askedReadAt), lte(askedReadAt, wallNow - everyMs));
  const claimed = await updateUnversioned(
    db,
    subscriptionAuthorizations,
    { askedReadAt: wallNow },
    and(eq(subscriptionAuthorizations.id, authorizationId), isDue),
  ).returning();
  return claimed[0] ?? null;
}
