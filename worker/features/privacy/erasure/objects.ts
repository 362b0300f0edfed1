import type { EntitlementId } from '#core/ids.ts';
import { callEntitlement, calledBy, entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { askSession } from '#features/metered/session.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import { deleteOldCopies, deleteOldCopy, listPossibleProducts } from './access.store.ts';
import { listNamedSessions, renameSession } from './rows.store.ts';
import { isLastPass, type Stepped, storeWrites } from './step.ts';

const PRODUCTS_MAX = 20;

/**
 * Has the objects of entitlements forget the customer, also those of the erased reference, which get no payment of before. Deletes their
 * copies, and in the last pass those that a late message brought back.
 */
export async function forgetEntitlements(erasing: Erasing): Promise<Stepped> {
  const { ctx, keys, progress, until } = erasing;
  if (isLastPass(erasing) && progress.after === null) await storeWrites(erasing, deleteOldCopies(erasing));
  const products = await listPossibleProducts(erasing, progress.after ?? '', PRODUCTS_MAX);
  for (const productId of products)
    for (const key of keys.flatMap(({ key, erased }) => ('customerRef' in key ? [key, erased] : [key]))) {
      const { entitlementId } = entitlementKeyOf(ctx, productId, key);
      const call = { ...calledBy(ctx), through: until };
      const isForgotten = await callEntitlement(ctx, ctx, entitlementId, (object) => object.forget(call));
      if (!isForgotten) return { after: progress.after, isWaiting: true };
      await storeWrites(erasing, [deleteOldCopy(erasing, entitlementId as EntitlementId)]);
    }
  return { after: products.length < PRODUCTS_MAX ? null : products.at(-1)! };
}

const SESSIONS_MAX = 20;

/** Replaces the reference in the objects of metered sessions, then in their rows. */
export async function renameMeteredSessions(erasing: Erasing): Promise<Stepped> {
  const { ctx, keys } = erasing;
  let hasMore = false;
  for (const { key, erased } of keys) {
    if (!('customerRef' in key && 'customerRef' in erased)) continue;
    const sessions = await listNamedSessions(erasing, key.customerRef, SESSIONS_MAX);
    for (const { id } of sessions) await askSession(ctx, id, (object, caller) => object.rename({ ...caller, customer: erased }));
    await storeWrites(
      erasing,
      sessions.map(({ id }) => renameSession(erasing, id, erased.customerRef)),
    );
    hasMore ||= sessions.length === SESSIONS_MAX;
  }
  return { after: hasMore ? '' : null };
}
