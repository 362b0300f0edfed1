import { and, asc, eq, inArray, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { EntitlementSnapshot } from '../balance.ts';
import type { Ctx, Db } from '../context.ts';
import type { AccountId, EntitlementId, PaymentId, ProductId } from '../core/ids.ts';
import { entitlements } from '../db/access.ts';
import { payments } from '../db/commerce.ts';
import type { EventRow, Write } from '../db/commit.ts';
import { events } from '../db/messaging.ts';
import { countTo, type PageRequest } from '../db/page.ts';

/** What a confirmed payment bought, and for whom. */
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
    })
    .from(payments)
    .where(inArray(payments.id, paymentIds));

export type Paid = Omit<Awaited<ReturnType<typeof listPaid>>[number], 'orphanedAt'>;

/** Statements, not effects. An older copy never overwrites a newer one. */
export function projectionWrites({ db }: Ctx, snapshot: EntitlementSnapshot, rows: EventRow[]): Write[] {
  const { customer } = snapshot;
  const row = {
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
    version: snapshot.version,
    updatedAt: snapshot.updatedAt,
  };
  return [
    // The same event may come twice: UNIQUE(subject, version) keeps the first.
    ...rows.map((event) => db.insert(events).values(event).onConflictDoNothing()),
    db
      .insert(entitlements)
      .values(row)
      .onConflictDoUpdate({ target: entitlements.id, set: row, setWhere: sql`${entitlements.version} < excluded.version` }),
  ];
}

export interface EntitlementFilter {
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

/** The merchant's entitlements as last told, by id: an order that no use of them changes. */
export async function listEntitlements(db: Db, merchantId: AccountId, livemode: boolean, filter: EntitlementFilter, page: PageRequest) {
  const equal = <T>(column: SQLiteColumn, value: T | undefined) => (value === undefined ? undefined : eq(column, value));
  const mine = and(
    eq(entitlements.merchantId, merchantId),
    eq(entitlements.livemode, livemode),
    equal(entitlements.productId, filter.productId),
    equal(entitlements.walletAddress, filter.walletAddress),
    equal(entitlements.customerRef, filter.customerRef),
    equal(entitlements.status, filter.status),
  );
  const rows = db.select().from(entitlements).where(mine).orderBy(asc(entitlements.id)).limit(page.perPage).offset(page.offset);
  const [items, [count]] = await db.batch([rows, countTo(db, entitlements, mine)]);
  return { items: items.map(toSnapshot), total: count?.total ?? 0 };
}
