import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { AuthorizationId, ProductId } from '#core/ids.ts';
import type { Scope } from '#platform/context.ts';
import { amongIds } from '#platform/db/among.ts';
import { rowsOf } from '#platform/db/page.ts';
import { keyTextOf } from '#platform/db/search/customer.ts';
import { entitlements } from '#platform/db/tables/entitlements.ts';
import { type Membership, memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { type Product, products } from '#platform/db/tables/products.ts';
import { type AuthorizationRow, subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { Customer } from '#rules/balance.ts';
import { paymentsFor } from './store.ts';

/** Entitlements, memberships and payments that are read of a customer. The copy of an entitlement may lag behind a payment by seconds. */
export const READ_MAX = 200;
const NEWEST_PAYMENTS = 50;

export interface Holdings {
  /** Products by the id, true if the copy of the entitlement says that it is active. */
  products: Map<ProductId, boolean>;
  memberships: Map<ProductId, Membership>;
}

/** Reads which products a customer has, or had, something of. */
export async function loadHoldings(scope: Scope, key: Customer): Promise<Holdings> {
  const { db, now } = scope;
  const isIt = (ref: SQL, wallet: SQL): SQL => ('customerRef' in key ? ref : wallet);
  const ref = 'customerRef' in key ? key.customerRef : '';
  const wallet = 'walletAddress' in key ? key.walletAddress : '';
  const [held, members, ...bought] = await db.batch([
    db
      .select({ productId: entitlements.productId, status: entitlements.status, paidThrough: entitlements.paidThrough })
      .from(entitlements)
      .where(and(rowsOf(entitlements, scope), isIt(eq(entitlements.customerRef, ref), eq(entitlements.walletAddress, wallet))))
      .limit(READ_MAX),
    db
      .select()
      .from(memberships)
      .where(rowsOf(memberships, scope, [[memberships.customerKey, keyTextOf(key)]]))
      .limit(READ_MAX),
    ...paymentsFor(key).map((isTheirs) =>
      db
        .select({ productId: payments.productId })
        .from(payments)
        .where(and(rowsOf(payments, scope), isTheirs, sql`+status = 'CONFIRMED'`))
        .orderBy(sql`created_at DESC`)
        .limit(NEWEST_PAYMENTS),
    ),
  ]);
  const isActive = ({ status, paidThrough }: (typeof held)[number]): boolean =>
    status === 'active' && (paidThrough === null || paidThrough > now);
  return {
    products: new Map([
      ...[...members, ...bought.flat()].map(({ productId }) => [productId, true] as const),
      ...held.map((copy) => [copy.productId, isActive(copy)] as const),
    ]),
    memberships: new Map(members.map((membership) => [membership.productId, membership])),
  };
}

export async function listHeldProducts(scope: Scope, ids: ProductId[]): Promise<Map<ProductId, Product>> {
  const rows = await scope.db
    .select()
    .from(products)
    .where(and(rowsOf(products, scope), amongIds(products.id, ids)));
  return new Map(rows.map((product) => [product.id, product]));
}

export async function listHeldAuthorizations(scope: Scope, ids: AuthorizationId[]): Promise<Map<AuthorizationId, AuthorizationRow>> {
  if (ids.length === 0) return new Map();
  const rows = await scope.db
    .select()
    .from(subscriptionAuthorizations)
    .where(and(inArray(subscriptionAuthorizations.id, ids), rowsOf(subscriptionAuthorizations, scope)));
  return new Map(rows.map((row) => [row.id, row]));
}
