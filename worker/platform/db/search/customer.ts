import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { CustomerId } from '#core/ids.ts';
import type { Scope, Tenant } from '#platform/context.ts';
import type { Customer } from '#rules/balance.ts';
import { boundId } from '../among.ts';
import { rowNumberOf, rowsOf } from '../page.ts';
import type { archivedPayments } from '../tables/archives.ts';
import { type CustomerRow, customers } from '../tables/entitlements.ts';
import type { payments } from '../tables/payments.ts';

export const customerKeyOf = ({ customerRef, walletAddress }: Pick<CustomerRow, 'customerRef' | 'walletAddress'>): Customer =>
  customerRef === null ? { walletAddress: walletAddress! } : { customerRef };

/** Key as memberships have it. */
export const keyTextOf = (key: Customer): string => ('customerRef' in key ? `ref:${key.customerRef}` : `wallet:${key.walletAddress}`);

/** Key of a customer that a list is filtered by. */
interface NamedKey {
  customerRef?: string | undefined;
  walletAddress?: string | undefined;
}

/** Key that no row has: no reference is empty. */
const NOBODY = { customerRef: '' };

/**
 * Narrows the key of a filter to the customer with an id. A customer of another merchant or mode, and a key of another customer, select
 * nothing.
 */
export async function narrowToCustomer(
  scope: Pick<Scope, 'db' | 'merchantId' | 'livemode'>,
  id: CustomerId | undefined,
  named: NamedKey = {},
): Promise<Customer | undefined> {
  if (id === undefined) return undefined;
  const [row] = await listKeyRows(scope, id, false);
  return row ? narrowKey(row, named) : NOBODY;
}

/** Narrows the key of a filter to the customer with an id, and to those that were merged into it. */
export async function narrowToCustomers(
  scope: Pick<Scope, 'db' | 'merchantId' | 'livemode'>,
  id: CustomerId | undefined,
  named: NamedKey = {},
): Promise<Customer[] | undefined> {
  if (id === undefined) return undefined;
  const keys = (await listKeyRows(scope, id, true)).map((row) => narrowKey(row, named)).filter((key) => key !== NOBODY);
  return keys.length === 0 ? [NOBODY] : keys;
}

type KeyRow = { ref: string | null; wallet: string | null };

/** Reads the key of a customer, or of its survivor, which comes first. `withMerged`: also the keys that were merged into it. */
function listKeyRows(scope: Pick<Scope, 'db' | 'merchantId' | 'livemode'>, id: CustomerId, withMerged: boolean): Promise<KeyRow[]> {
  const survivor = sql`(SELECT coalesce(merged_into, id) FROM customers WHERE id = ${boundId(id)})`;
  return scope.db
    .select({ ref: customers.customerRef, wallet: customers.walletAddress })
    .from(customers)
    .where(
      and(
        sql`(${customers.id} = ${survivor}${withMerged ? sql` OR ${customers.mergedInto} = ${survivor}` : sql``})`,
        sql`+${eq(customers.merchantId, scope.merchantId)} AND +${eq(customers.livemode, scope.livemode)}`,
      ),
    );
}

function narrowKey({ ref, wallet }: KeyRow, { customerRef, walletAddress }: NamedKey): Customer {
  if (ref !== null) return (customerRef ?? ref) === ref ? { customerRef: ref } : NOBODY;
  return customerRef !== undefined || (walletAddress ?? wallet) !== wallet ? NOBODY : { walletAddress: wallet! };
}

/**
 * Conditions of the payments with these wallets as the customers, each with an index: those that they made for themselves, and those of
 * others that named them. A payment with a reference belongs to the reference, from any wallet.
 */
export const paidFor = (table: typeof payments | typeof archivedPayments, wallets: readonly string[]): SQL[] =>
  [
    sql`${inArray(table.payerWallet, [...wallets])} AND coalesce(customer_wallet, payer_wallet) = payer_wallet`,
    sql`${inArray(table.customerWallet, [...wallets])} AND customer_wallet <> payer_wallet`,
  ].map((isTheirs) => sql`${isTheirs} AND +customer_ref IS NULL`);

/** Conditions of the payments that this wallet made, for any customer, and of those of others that named it as the customer. */
export const boughtBy = (table: typeof payments | typeof archivedPayments, wallet: string): SQL[] => [
  eq(table.payerWallet, wallet),
  ...paidFor(table, [wallet]).slice(1),
];

/** Selects a column of the payments of one customer, by any of the keys, each by an index. */
export const rowsOfCustomer = (
  table: typeof payments | typeof archivedPayments,
  owner: Tenant,
  keys: readonly Customer[],
  column: 'rowid' | 'id' = 'rowid',
): SQL => {
  const refs = keys.flatMap((key) => ('customerRef' in key ? [key.customerRef] : []));
  const wallets = keys.flatMap((key) => ('walletAddress' in key ? [key.walletAddress] : []));
  const parts = [
    ...(refs.length === 0 ? [] : [inArray(table.customerRef, refs)]),
    ...(wallets.length === 0 ? [] : paidFor(table, wallets)),
  ];
  const selected = parts.map(
    (isTheirs) =>
      sql`SELECT ${column === 'id' ? table.id : rowNumberOf(table)} FROM ${table} WHERE ${rowsOf(table, owner)} AND ${isTheirs}`,
  );
  return sql.join(selected, sql` UNION ALL `);
};
