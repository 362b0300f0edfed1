import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { CustomerId, PaymentId } from '#core/ids.ts';
import type { Db, Tenant } from '#platform/context.ts';
import { amongIds, digitsField, digitsOf, fieldAs, fieldOf, idField, jsonRows } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { type CustomerRow, customers, HAS_FOUND_REF } from '#platform/db/tables/entitlements.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { isErasedRef } from '#rules/access/erased-customer.ts';
import type { Customer } from '#rules/balance.ts';

/** Lists the wallets that were named as the customers of these payments. */
export async function listNamedWallets(db: Db, paymentIds: PaymentId[]): Promise<Map<string, string>> {
  if (paymentIds.length === 0) return new Map();
  const rows = await db
    .select({ id: payments.id, wallet: payments.customerWallet })
    .from(payments)
    .where(amongIds(payments.id, paymentIds));
  return new Map(rows.flatMap(({ id, wallet }) => (wallet === null ? [] : [[id, wallet]])));
}

export async function listFoldedCustomers(db: Db, ids: CustomerId[]): Promise<Map<CustomerId, CustomerRow>> {
  const rows = await db.select().from(customers).where(amongIds(customers.id, ids));
  return new Map(rows.map((row) => [row.id, row]));
}

interface Sighted extends Tenant {
  id: CustomerId;
  customer: Customer;
}

/** Lists the customers with a reference that an erasure wrote, by the id that follows from it. */
export async function listErasedIds(db: Db, found: readonly Sighted[]): Promise<Map<CustomerId, CustomerId>> {
  const named = found.filter(({ customer }) => 'customerRef' in customer && isErasedRef(customer.customerRef));
  if (named.length === 0) return new Map();
  const rows = named.map(({ id, merchantId, livemode, customer }) => ({ id, merchantId, livemode, ...customer }));
  const erased = await db
    .select({ derived: sql<string>`j.value ->> 'id'`, id: customers.id })
    .from(jsonRows(rows))
    .innerJoin(
      customers,
      sql`${customers.merchantId} = ${idField('merchantId')} AND ${customers.livemode} = ${fieldOf('livemode')}
        AND ${customers.customerRef} = ${fieldOf('customerRef')} AND ${HAS_FOUND_REF} AND erased_at IS NOT NULL`,
    );
  return new Map(erased.map(({ derived, id }) => [derived as CustomerId, id]));
}

/** Plans the rows of a fold. The merchant's own details are left alone, and a deleted account gets none. */
export function upsertFolded(db: Db, rows: readonly CustomerRow[]): Write {
  const { walletAddress } = customers;
  const shown = rows.map((row) => ({ ...row, walletAddress: row.walletAddress && digitsOf(walletAddress, row.walletAddress) }));
  const computed: Record<string, SQL> = { walletAddress: digitsField('walletAddress') };
  const values = Object.entries(getTableColumns(customers)).map(([name, column]) => computed[name] ?? fieldAs(column, name));
  return db.insert(customers).select(sql`SELECT ${sql.join(values, sql`, `)} FROM ${jsonRows(shown)}
    WHERE EXISTS (SELECT 1 FROM accounts a WHERE a.id = ${idField('merchantId')} AND a.status <> 'deleted')
    ON CONFLICT (id) DO UPDATE SET wallets = excluded.wallets, emails = iif(erased_at IS excluded.erased_at, excluded.emails, '[]'),
      status = iif(status = 'erased' AND erased_at = excluded.erased_at AND excluded.status = 'active', 'active', status), totals = excluded.totals,
      last_seen_at = max(last_seen_at, excluded.last_seen_at)`) as unknown as Write;
}
