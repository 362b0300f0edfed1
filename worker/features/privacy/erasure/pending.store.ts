import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { PaymentId } from '#core/ids.ts';
import type { Scope } from '#platform/context.ts';
import { amongIds, setOf } from '#platform/db/among.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { paidFor } from '#platform/db/search/customer.ts';
import { handoffs, paymentSessions } from '#platform/db/tables/checkout.ts';
import type { ErasedKey } from '#platform/db/tables/entitlements.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { settlements } from '#platform/db/tables/settlements.ts';
import { stepRows } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';

/** Conditions of what a customer has signed and the chain has not decided yet. A signed payment by a wallet has no payer yet. */
function pending(scope: Scope, key: Customer): { table: typeof payments | typeof settlements; where: SQL }[] {
  const isOpen = sql`status = 'pending' AND next_check_at IS NOT NULL AND status <> 'settled' AND ${sql.raw(`livemode = ${scope.livemode ? 1 : 0}`)}`;
  if ('walletAddress' in key) {
    const { walletAddress: wallet } = key;
    const isPayer = sql`${eq(settlements.payerWallet, wallet)} AND coalesce(customer_wallet, ${wallet}) = ${wallet} AND status <> 'settled'`;
    const isNamed = sql`${isOpen} AND ${eq(settlements.merchantId, scope.merchantId)} AND ${eq(settlements.customerWallet, wallet)}`;
    return [
      { table: settlements, where: sql`${rowsOf(settlements, scope)} AND ${isPayer} AND customer_ref IS NULL AND status = 'pending'` },
      { table: settlements, where: sql`${isNamed} AND customer_ref IS NULL` },
    ];
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

/** Conditions of a customer's confirmed payments since a time, each with an index. */
const confirmedSince = (scope: Scope, keys: readonly Customer[], since: number): SQL[] => {
  const refs = keys.flatMap((key) => ('customerRef' in key ? [key.customerRef] : []));
  const wallets = keys.flatMap((key) => ('walletAddress' in key ? [key.walletAddress] : []));
  return [sql`${payments.customerRef} IN ${setOf(refs)}`, ...paidFor(payments, wallets)].map(
    (isTheirs) =>
      sql`${rowsOf(payments, scope)} AND ${isTheirs} AND +status = 'CONFIRMED' AND coalesce(confirmed_at, created_at) > ${since}`,
  );
};

/** Lists the payments of a customer that were confirmed since a time, up to `max`. */
export async function listDecided(scope: Scope, keys: readonly Customer[], since: number, max: number): Promise<PaymentId[]> {
  const ids: PaymentId[] = [];
  for (const where of confirmedSince(scope, keys, since))
    ids.push(...(await scope.db.select({ id: payments.id }).from(payments).where(where).limit(max)).map(({ id }) => id));
  return ids.slice(0, max);
}

/** Plans that a batch aborts if another payment was confirmed meanwhile. */
export const abortIfDecided = (scope: Scope, keys: readonly Customer[], since: number, known: readonly PaymentId[]): Write[] =>
  confirmedSince(scope, keys, since).map((where) => abortIfExists(scope, payments, and(where, sql`NOT ${amongIds(payments.id, known)}`)));

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

/**
 * Plans the end of unpaid checkouts of a reference, without the time for late payments: money that is sent later is unmatched. Payment
 * sessions get the erased reference, and hand-offs are deleted.
 */
export function planEndedCheckouts({ db, ...scope }: Scope, { key, erased }: ErasedKey): Write[] {
  if (!('customerRef' in key && 'customerRef' in erased)) return [];
  const isTheirs = (table: typeof payments | typeof paymentSessions | typeof handoffs): SQL =>
    rowsOf(table, scope, [[table.customerRef, key.customerRef]]);
  const expiresAt = sql`min(expires_at, ${scope.now})`;
  return [
    stepRows(db, payments, { expiresAt, lateGraceSeconds: 0 }, sql`${isTheirs(payments)} AND +status = 'PENDING_SIGNATURE'`),
    stepRows(db, paymentSessions, { customerRef: erased.customerRef, metadata: {}, expiresAt }, isTheirs(paymentSessions)),
    db.delete(handoffs).where(sql`${isTheirs(handoffs)} AND payment_id IS NULL`),
  ];
}
