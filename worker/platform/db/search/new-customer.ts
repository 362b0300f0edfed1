import { type CustomerId, customerIdOf } from '#core/ids.ts';
import type { Scope, Shard } from '#platform/context.ts';
import type { Customer } from '#rules/balance.ts';
import type { Write } from '../commit.ts';
import { type CustomerRow, customers } from '../tables/entitlements.ts';
import { currentId } from './customer-ids.ts';

/** Columns of a customer that was neither merged nor erased. */
const UNMERGED = { mergedInto: null, status: 'active', nextId: null, erasedAt: null, erasure: null, eraseAt: null } as const;

/** Row of a customer without sightings. */
export function newCustomerRow(
  { merchantId, livemode, now }: Pick<Scope, 'merchantId' | 'livemode' | 'now'>,
  id: CustomerId,
  key: Customer,
): CustomerRow {
  const [customerRef, walletAddress] = 'customerRef' in key ? [key.customerRef, null] : [null, key.walletAddress];
  return {
    ...{ id, merchantId, livemode, customerRef, walletAddress, ...UNMERGED },
    ...{ email: null, name: null, company: null, metadata: {} },
    ...{ wallets: [], emails: [], totals: {} },
    ...{ firstSeenAt: now, lastSeenAt: now, createdAt: now, updatedAt: now, version: 1 },
  };
}

export const insertCustomerRow = ({ db }: Shard, row: CustomerRow): Write => db.insert(customers).values(row);

/** Plans the row of a customer, unless there is one. */
export const ensureCustomer = (ctx: Scope, { id, key }: { id: CustomerId; key: Customer }): Write =>
  ctx.db
    .insert(customers)
    .values(newCustomerRow(ctx, id, key))
    .onConflictDoNothing();

/** Plans the row of the customer that the merchant's server names before a sale, unless there is one. */
export function ensureNamedCustomer(ctx: Scope, key: Customer): Write {
  const derived = customerIdOf(ctx.merchantId, ctx.livemode, key);
  return ctx.db
    .insert(customers)
    .values({ ...newCustomerRow(ctx, derived, key), id: currentId(derived) })
    .onConflictDoNothing();
}
