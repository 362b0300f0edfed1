import { and, isNotNull, type SQL, sql } from 'drizzle-orm';
import { type CustomerId, customerIdOf } from '#core/ids.ts';
import type { Db, Tenant } from '#platform/context.ts';
import type { Customer } from '#rules/balance.ts';
import { amongIds, boundId } from '../among.ts';
import { customers } from '../tables/entitlements.ts';

/** SQL of the customer that a key names now. Since an erasure, a reference names another one than its derived id. */
export const currentId = (derived: CustomerId): SQL =>
  sql`coalesce((SELECT next_id FROM customers WHERE id = ${boundId(derived)}), ${boundId(derived)})`;

/** Loads the customers that keys name now, of those that no longer name the one with the derived id. */
export async function loadNextIds(db: Db, derived: readonly CustomerId[]): Promise<Map<CustomerId, CustomerId>> {
  if (derived.length === 0) return new Map();
  const moved = await db
    .select({ id: customers.id, nextId: customers.nextId })
    .from(customers)
    .where(and(amongIds(customers.id, derived), isNotNull(customers.nextId)));
  return new Map(moved.map(({ id, nextId }) => [id, nextId!]));
}

/** Loads the ids of the customers that these keys name now, in order. */
export async function loadCustomerIds(db: Db, { merchantId, livemode }: Tenant, keys: readonly Customer[]): Promise<CustomerId[]> {
  const derived = keys.map((key) => customerIdOf(merchantId, livemode, key));
  const next = await loadNextIds(db, derived);
  return derived.map((id) => next.get(id) ?? id);
}
