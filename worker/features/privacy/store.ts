import { and, desc, eq, inArray, isNull, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Scope } from '#platform/context.ts';
import { rowsOf } from '#platform/db/page.ts';
import { SEARCHED_MAX } from '#platform/db/search/named.ts';
import { type Handoff, handoffs, type PaymentSession, paymentSessions } from '#platform/db/tables/checkout.ts';
import { type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';
import type { Customer } from '#rules/balance.ts';

type CustomerTable = SQLiteTable & { merchantId: SQLiteColumn; livemode: SQLiteColumn; customerRef: SQLiteColumn };

/** Condition of rows that name one of the customers. `wallet`: column of a customer that has no reference. */
function namesAny(keys: readonly Customer[], ref: SQLiteColumn, wallet?: SQLiteColumn): SQL {
  const refs = keys.flatMap((key) => ('customerRef' in key ? [key.customerRef] : []));
  const wallets = keys.flatMap((key) => ('walletAddress' in key ? [key.walletAddress] : []));
  const parts = [
    ...(refs.length > 0 ? [inArray(ref, refs)] : []),
    ...(wallet && wallets.length > 0 ? [and(isNull(ref), inArray(wallet, wallets))!] : []),
  ];
  return or(...parts) ?? sql`0`;
}

interface Named<Row> {
  rows: Row[];
  /** True if older rows of the merchant were not searched, or more rows name the customer. */
  isCut: boolean;
}

/** Searches the merchant's newest rows by `by`, because no index of the table names customers. */
async function listNamed<T extends CustomerTable>(
  scope: Scope,
  table: T,
  { by, isTheirs, max }: { by: SQLiteColumn; isTheirs: SQL; max: number },
): Promise<Named<T['$inferSelect']>> {
  const newest = sql`SELECT rowid FROM ${table} WHERE ${rowsOf(table, scope)} ORDER BY ${by} DESC LIMIT ${SEARCHED_MAX}`;
  const [rows, beyond] = await scope.db.batch([
    scope.db
      .select()
      .from(table as SQLiteTable)
      .where(sql`${table}.rowid IN (${newest}) AND ${isTheirs}`)
      .orderBy(desc(by))
      .limit(max + 1),
    scope.db
      .select({ one: sql<number>`1` })
      .from(table as SQLiteTable)
      .where(rowsOf(table, scope))
      .orderBy(desc(by))
      .limit(1)
      .offset(SEARCHED_MAX),
  ]);
  return { rows: rows.slice(0, max) as T['$inferSelect'][], isCut: rows.length > max || beyond.length > 0 };
}

/** Lists the open hand-offs that name the customer. A used one is part of its payment. */
export const listOpenHandoffs = async (scope: Scope, keys: readonly Customer[], max: number): Promise<Named<Handoff>> => {
  const rows = await scope.db
    .select()
    .from(handoffs)
    .where(
      and(
        eq(handoffs.merchantId, scope.merchantId),
        isNull(handoffs.paymentId),
        eq(handoffs.livemode, scope.livemode),
        namesAny(keys, handoffs.customerRef, handoffs.walletAddress),
      ),
    )
    .limit(max + 1);
  return { rows: rows.slice(0, max), isCut: rows.length > max };
};

export const listNamedPaymentSessions = (scope: Scope, keys: readonly Customer[], max: number): Promise<Named<PaymentSession>> =>
  listNamed(scope, paymentSessions, { by: paymentSessions.expiresAt, isTheirs: namesAny(keys, paymentSessions.customerRef), max });

export const listNamedMeteredSessions = (scope: Scope, keys: readonly Customer[], max: number): Promise<Named<MeteredSessionRow>> =>
  listNamed(scope, meteredSessions, {
    by: meteredSessions.createdAt,
    isTheirs: namesAny(keys, meteredSessions.customerRef, meteredSessions.customerWallet),
    max,
  });
