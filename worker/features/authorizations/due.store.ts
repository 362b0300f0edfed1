import { and, eq, isNull, lte, or, sql } from 'drizzle-orm';
import type { AuthorizationId } from '#core/ids.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Shard } from '#platform/context.ts';
import { isAmongRows, listDueInTurns } from '#platform/db/sweep-pages.ts';
import { type AuthorizationRow, subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { updateUnversioned } from '#platform/db/versioned.ts';

/** Work that authorizations wait for, each with an index and a sweep of its own: what loses money first waits for nothing else. */
export type AuthorizationClass = 'collections' | 'checkouts' | 'looks';

const { askedReadAt, collectAt, nextLookAt } = subscriptionAuthorizations;
/** The same words as in the indexes. */
const CLASSES = {
  collections: { at: collectAt, is: sql`collect_at IS NOT NULL`, byMerchant: 'subscription_collections_by_merchant' },
  checkouts: { at: nextLookAt, is: sql`next_look_at IS NOT NULL AND status = 'pending'`, byMerchant: 'subscription_checkouts_by_merchant' },
  looks: { at: nextLookAt, is: sql`next_look_at IS NOT NULL AND status <> 'pending'`, byMerchant: 'subscription_looks_by_merchant' },
};

/**
 * Takes authorizations that are due, in turns of their merchants, and leaves them to the caller until `leaseUntil`. The statement that takes
 * them looks again whether they are due, so that two sweeps at once take different ones. What a crash left is due again.
 */
export async function takeDueAuthorizations(
  ctx: Shard,
  kind: AuthorizationClass,
  leaseUntil: number,
  max: number,
): Promise<AuthorizationRow[]> {
  const { at, is, byMerchant } = CLASSES[kind];
  const waiting = { table: subscriptionAuthorizations, at, isLive: sql`${is} AND livemode = 1`, byMerchant };
  const rowids = await listDueInTurns(ctx, waiting, { isInReach: sql`${is} AND ${inReach(ctx)}`, dueBefore: ctx.now, limit: max });
  if (rowids.length === 0) return [];
  const lease = kind === 'collections' ? { collectAt: leaseUntil } : { nextLookAt: leaseUntil };
  const isTaken = sql`${isAmongRows(rowids)} AND ${is} AND ${at} <= ${ctx.now}`;
  return updateUnversioned(ctx.db, subscriptionAuthorizations, lease, isTaken).returning();
}

/** Claims a chain read that a GET asked for. Returns null if another one was claimed within `everyMs`, or if no row has this id. */
export async function claimAskedRead({ db, wallNow }: Shard, authorizationId: AuthorizationId, everyMs: number) {
  const isDue = or(isNull(askedReadAt), lte(askedReadAt, wallNow - everyMs));
  const claimed = await updateUnversioned(
    db,
    subscriptionAuthorizations,
    { askedReadAt: wallNow },
    and(eq(subscriptionAuthorizations.id, authorizationId), isDue),
  ).returning();
  return claimed[0] ?? null;
}
