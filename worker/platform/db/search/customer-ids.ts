import { and, inArray, isNotNull, type SQL, sql } from 'drizzle-orm';
import { type CustomerId, customerIdOf } from '#core/ids.ts';
import type { Db, Tenant } from '#platform/context.ts';
import { isErasedRef } from '#rules/access/erased-customer.ts';
import type { Customer } from '#rules/balance.ts';
import { amongIds, boundId } from '../among.ts';
import { rowsOf } from '../page.ts';
import { customers, HAS_FOUND_REF } from '../tables/entitlements.ts';

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

/** Loads the customers with references that an erasure wrote, from which no id follows. */
async function loadErasedIds(db: Db, tenant: Tenant, refs: readonly string[]): Promise<Map<string, CustomerId>> {
  if (refs.length === 0) return new Map();
  const rows = await db
    .select({ id: customers.id, ref: customers.customerRef })
    .from(customers)
    .where(
      sql`${rowsOf(customers, tenant)} AND ${inArray(customers.customerRef, [...refs])} AND ${HAS_FOUND_REF} AND erased_at IS NOT NULL`,
    );
  return new Map(rows.map(({ id, ref }) => [ref!, id]));
}

/** Loads the ids of the customers that these keys name now, in order. */
export async function loadCustomerIds(db: Db, { merchantId, livemode }: Tenant, keys: readonly Customer[]): Promise<CustomerId[]> {
  const derived = keys.map((key) => customerIdOf(merchantId, livemode, key));
  const next = await loadNextIds(db, derived);
  const refs = keys.flatMap((key) => ('customerRef' in key && isErasedRef(key.customerRef) ? [key.customerRef] : []));
  const erased = await loadErasedIds(db, { merchantId, livemode }, refs);
  return derived.map((id, at) => erased.get((keys[at] as { customerRef?: string }).customerRef ?? '') ?? next.get(id) ?? id);
}
