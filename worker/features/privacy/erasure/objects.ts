import type { EntitlementId } from '#core/ids.ts';
import { callEntitlement, calledBy, deleteCopy, entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { askSession } from '#features/metered/session.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import { listPossibleProducts } from './access.store.ts';
import { listNamedSessions, listOwnPayments, renameSession } from './rows.store.ts';
import { type Stepped, storeWrites } from './step.ts';

/** Objects that a step asks at most, each twice. */
const OBJECTS_MAX = 60;

/** Has the objects of entitlements forget the customer, and deletes their copies. */
export async function forgetEntitlements(erasing: Erasing): Promise<Stepped> {
  const { ctx, keys, progress } = erasing;
  const max = Math.max(1, Math.floor(OBJECTS_MAX / keys.length));
  const products = await listPossibleProducts(erasing, progress.after ?? '', max);
  for (const productId of products)
    for (const { key } of keys) {
      const { entitlementId } = entitlementKeyOf(ctx, productId, key);
      if (!(await forgetEntitlement(erasing, entitlementId as EntitlementId))) return { after: progress.after, isWaiting: true };
    }
  return { after: products.length < max ? null : products.at(-1)! };
}

/** The database knows whether a payment of the minutes around the request is the next customer's. Returns false if an event is to be stored first. */
async function forgetEntitlement(erasing: Erasing, entitlementId: EntitlementId): Promise<boolean> {
  const { ctx, progress, until: through } = erasing;
  const since = { ...calledBy(ctx), since: progress.decidedSince };
  const { tick, paymentIds } = await callEntitlement(ctx, ctx, entitlementId, (object) => object.creditedSince(since));
  const own = await listOwnPayments(erasing, paymentIds);
  const spared = paymentIds.filter((id) => !own.has(id));
  const call = { ...calledBy(ctx), tick, spared, through };
  const version = await callEntitlement(ctx, ctx, entitlementId, (object) => object.forget(call));
  if (version === false) return false;
  // An object with payments of the next customer has published some of these events for that one.
  if (spared.length === 0) progress.forgotten[entitlementId] = version;
  await storeWrites(erasing, [deleteCopy(ctx, entitlementId, version)]);
  return true;
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
