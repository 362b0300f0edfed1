import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Scope } from '#platform/context.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { stepRows } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';

/** Conditions of what a customer has signed and the chain has not decided yet. A signed payment by a wallet has no payer yet. */
function pending(scope: Scope, key: Customer): { table: typeof payments | typeof settlements; where: SQL }[] {
  const isOpen = sql`status = 'pending' AND next_check_at IS NOT NULL AND status <> 'settled' AND ${sql.raw(`livemode = ${scope.livemode ? 1 : 0}`)}`;
  if ('walletAddress' in key) {
    const isTheirs = sql`${eq(settlements.payerWallet, key.walletAddress)} AND customer_ref IS NULL AND status <> 'settled'`;
    return [{ table: settlements, where: sql`${rowsOf(settlements, scope)} AND ${isTheirs} AND status = 'pending'` }];
  }
  return [
    {
      table: payments,
      where: sql`${rowsOf(payments, scope, [[payments.customerRef, key.customerRef]])} AND +${eq(payments.status, 'PENDING_CONFIRMATION')}`,
    },
    {
      table: settlements,
      where: sql`${isOpen} AND ${eq(settlements.merchantId, scope.merchantId)} AND ${eq(settlements.customerRef, key.customerRef)}`,
    },
  ];
}

/** Finds out whether money of the customer is under way. */
export async function findPending(scope: Scope, key: Customer): Promise<boolean> {
  for (const { table, where } of pending(scope, key)) {
    const found = await scope.db.select({ one: sql`1` }).from(table).where(where).limit(1);
    if (found.length > 0) return true;
  }
  return false;
}

export const abortIfPending = (scope: Scope, key: Customer): Write[] =>
  pending(scope, key).map(({ table, where }) => abortIfExists(scope, table, where));

/** Plans the end of unpaid checkouts of a reference: money that comes later is unmatched. */
export const planEndedCheckouts = (scope: Scope, key: Customer): Write[] =>
  'customerRef' in key
    ? [
        stepRows(
          scope.db,
          payments,
          { expiresAt: sql`min(expires_at, ${scope.now})` },
          and(rowsOf(payments, scope, [[payments.customerRef, key.customerRef]]), sql`+${inArray(payments.status, ['PENDING_SIGNATURE'])}`),
        ),
      ]
    : [];
