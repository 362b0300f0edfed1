import { getTableColumns, type SQL, sql } from 'drizzle-orm';
import type { CustomerId, PaymentId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { amongIds, digitsField, digitsOf, fieldAs, idField, jsonRows } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { type CustomerRow, customers } from '#platform/db/tables/entitlements.ts';
import { payments } from '#platform/db/tables/payments.ts';

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

/** Plans the rows of a fold. The merchant's own details are left alone, and a deleted account gets none. */
export function upsertFolded(db: Db, rows: readonly CustomerRow[]): Write {
  const { walletAddress } = customers;
  const shown = rows.map((row) => ({ ...row, walletAddress: row.walletAddress && digitsOf(walletAddress, row.walletAddress) }));
  const computed: Record<string, SQL> = { walletAddress: digitsField('walletAddress') };
  const values = Object.entries(getTableColumns(customers)).map(([name, column]) => computed[name] ?? fieldAs(column, name));
  return db.insert(customers).select(sql`SELECT ${sql.join(values, sql`, `)} FROM ${jsonRows(shown)}
    WHERE EXISTS (SELECT 1 FROM accounts a WHERE a.id = ${idField('merchantId')} AND a.status <> 'deleted')
    ON CONFLICT (id) DO UPDATE SET wallets = excluded.wallets, emails = excluded.emails, totals = excluded.totals,
      last_seen_at = max(last_seen_at, excluded.last_seen_at)`) as unknown as Write;
}
