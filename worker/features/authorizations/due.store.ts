import { and, inArray, lte, sql } from 'drizzle-orm';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Shard } from '#platform/context.ts';
import { type AuthorizationRow, subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { updateUnversioned } from '#platform/db/versioned.ts';

/** Work that authorizations wait for, each with an index and a sweep of its own: what loses money first waits for nothing else. */
export type AuthorizationClass = 'collections' | 'checkouts' | 'looks';

const { id, collectAt, nextLookAt } = subscriptionAuthorizations;
/** The same words as in the indexes. */
const CLASSES = {
  collections: { at: collectAt, is: sql`collect_at IS NOT NULL` },
  checkouts: { at: nextLookAt, is: sql`next_look_at IS NOT NULL AND status = 'pending'` },
  looks: { at: nextLookAt, is: sql`next_look_at IS NOT NULL AND status <> 'pending'` },
};

/**
 * Takes authorizations that are due, longest due first, and leaves them to the caller until `leaseUntil`, in one statement:
 * two sweeps at once take different ones, and what a crash left is due again.
 */
export const takeDueAuthorizations = (
  ctx: Shard,
  kind: AuthorizationClass,
  leaseUntil: number,
  max: number,
): Promise<AuthorizationRow[]> => {
  const { at, is } = CLASSES[kind];
  const due = ctx.db
    .select({ id })
    .from(subscriptionAuthorizations)
    .where(and(is, lte(at, ctx.now), inReach(ctx)))
    .orderBy(at)
    .limit(max);
  const lease = kind === 'collections' ? { collectAt: leaseUntil } : { nextLookAt: leaseUntil };
  return updateUnversioned(ctx.db, subscriptionAuthorizations, lease, inArray(id, due)).returning();
};
