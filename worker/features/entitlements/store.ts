import { and, eq, gt, inArray, lt, lte, sql } from 'drizzle-orm';
import type { AccountId, CustomerId, EntitlementId, PaymentId, ProductId } from '#core/ids.ts';
import { clockFilter, isOfNoSession } from '#platform/chain/clock-filter.store.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { type Listed, listPage, oldestFirst, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { currentId } from '#platform/db/search/customer-ids.ts';
import { customers, entitlements } from '#platform/db/tables/entitlements.ts';
import { payments } from '#platform/db/tables/payments.ts';
import type { Customer, EntitlementSnapshot } from '#rules/balance.ts';

export const listPaid = (db: Db, paymentIds: PaymentId[]) =>
  db
    .select({
      id: payments.id,
      merchantId: payments.merchantId,
      livemode: payments.livemode,
      productId: payments.productId,
      customerRef: payments.customerRef,
      customerWallet: payments.customerWallet,
      payerWallet: payments.payerWallet,
      terms: payments.terms,
      orphanedAt: payments.orphanedAt,
      accessRevokedAt: payments.accessRevokedAt,
      version: payments.version,
    })
    .from(payments)
    .where(inArray(payments.id, paymentIds));

export type Paid = Omit<Awaited<ReturnType<typeof listPaid>>[number], 'orphanedAt' | 'accessRevokedAt' | 'version'>;

/**
 * Upserts a copy. An older one never overwrites a newer one. The first statement leaves out the status if it is the same, because an index
 * entry counts as written if a statement names its column.
 */
export function upsertCopy({ db }: Shard, snapshot: EntitlementSnapshot): Write[] {
  const row = toCopy(snapshot);
  const { status, grantedUnits, usedUnits, remaining, paidThrough, unlimited, version, updatedAt } = row;
  const figures = { grantedUnits, usedUnits, remaining, paidThrough, unlimited, version, updatedAt };
  const isSame = sql`${entitlements.version} < excluded.version AND ${entitlements.status} = excluded.status`;
  const isOlder = and(eq(entitlements.id, row.id), lt(entitlements.version, version));
  return [
    db.insert(entitlements).values(row).onConflictDoUpdate({ target: entitlements.id, set: figures, setWhere: isSame }),
    db
      .update(entitlements)
      .set({ ...figures, status })
      .where(isOlder),
  ];
}

/** Overwrites the copy that was read, even a newer one, unless another write came in between. */
export const overwriteCopy = ({ db }: Shard, snapshot: EntitlementSnapshot, readVersion: number): Write =>
  db
    .update(entitlements)
    .set(toCopy(snapshot))
    .where(and(eq(entitlements.id, snapshot.entitlementId as EntitlementId), eq(entitlements.version, readVersion)));

/** Plans the deletion of a copy up to a version. A later one is the next customer's. */
export const deleteCopy = ({ db }: Shard, id: string, version: number): Write =>
  db.delete(entitlements).where(and(eq(entitlements.id, id as EntitlementId), lte(entitlements.version, version)));

function toCopy(snapshot: EntitlementSnapshot): typeof entitlements.$inferInsert {
  const { customer } = snapshot;
  return {
    id: snapshot.entitlementId as EntitlementId,
    merchantId: snapshot.merchantId as AccountId,
    livemode: snapshot.livemode,
    productId: snapshot.productId as ProductId,
    walletAddress: 'walletAddress' in customer ? customer.walletAddress : null,
    customerRef: 'customerRef' in customer ? customer.customerRef : null,
    status: snapshot.status,
    grantedUnits: snapshot.grantedUnits,
    usedUnits: snapshot.usedUnits,
    remaining: snapshot.remaining,
    paidThrough: snapshot.paidThrough,
    unlimited: snapshot.unlimited,
    version: snapshot.version,
    updatedAt: snapshot.updatedAt,
  };
}

export type EndedCopy = Pick<typeof entitlements.$inferSelect, 'id' | 'merchantId' | 'livemode'>;

/**
 * Lists active copies past their end, of one sandbox session or of all on ordinary business time. `after`: the last row of the previous
 * page.
 */
export const listPastEnd = (ctx: Shard, after: EndedCopy | null, limit: number): Promise<EndedCopy[]> =>
  ctx.db
    .select({ id: entitlements.id, merchantId: entitlements.merchantId, livemode: entitlements.livemode })
    .from(entitlements)
    .where(
      and(
        ctx.sandbox === null ? isOfNoSession() : clockFilter(ctx),
        eq(entitlements.status, 'active'),
        lte(entitlements.paidThrough, ctx.now),
        after === null ? undefined : gt(entitlements.id, after.id),
      ),
    )
    .orderBy(entitlements.id)
    .limit(limit);

interface EntitlementFilter {
  productId?: string;
  walletAddress?: string;
  customerRef?: string;
  status?: EntitlementSnapshot['status'];
}

export const toSnapshot = ({ id, walletAddress, customerRef, ...row }: typeof entitlements.$inferSelect): EntitlementSnapshot => ({
  ...row,
  entitlementId: id,
  customer: walletAddress === null ? { customerRef: customerRef ?? '' } : { walletAddress },
});

export async function listEntitlements(scope: Scope, filter: EntitlementFilter, page: PageRequest): Promise<Listed<EntitlementSnapshot>> {
  const mine = rowsOf(entitlements, scope, [
    [entitlements.productId, filter.productId],
    [entitlements.walletAddress, filter.walletAddress],
    [entitlements.customerRef, filter.customerRef],
    [entitlements.status, filter.status],
  ]);
  const { items, total } = await listPage(scope.db, entitlements, mine, oldestFirst, page);
  return { items: items.map(toSnapshot), total };
}

/** Finds the customer that the one with a derived id was merged into. */
export async function findSurvivor(db: Db, id: CustomerId): Promise<{ id: CustomerId; customer: Customer } | null> {
  const [row] = await db
    .select({ id: customers.id, ref: customers.customerRef, wallet: customers.walletAddress })
    .from(customers)
    .where(sql`${customers.id} = (SELECT merged_into FROM customers WHERE id = ${currentId(id)})`);
  return row ? { id: row.id, customer: row.ref === null ? { walletAddress: row.wallet! } : { customerRef: row.ref } } : null;
}

/** Finds out whether an erasure has parted a customer from the one that it had been merged into. */
export async function isParted(db: Db, id: CustomerId): Promise<boolean> {
  const isMerged = sql`EXISTS (SELECT 1 FROM customers WHERE id = ${currentId(id)} AND merged_into IS NOT NULL)`;
  const parted = sql`${eq(customers.id, id)} AND erased_at IS NOT NULL AND NOT ${isMerged}`;
  return (await db.select({ one: sql`1` }).from(customers).where(parted)).length > 0;
}
