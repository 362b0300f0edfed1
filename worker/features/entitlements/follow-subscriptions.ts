import { storyOf } from '#core/errors.ts';
import type { AuthorizationId } from '#core/ids.ts';
import { listAuthorizations } from '#features/authorizations/store.ts';
import { scopeOf } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { callEntitlement, calledBy, entitlementKeyOf } from './entitlement.ts';

/**
 * Follows every event of a native subscription: tells the object of its buyer how it stands by now, so that the hour after paid time is
 * decided there, without a look at the database. Answers the events whose object could not be told.
 */
export async function followSubscriptions(ctx: Shard, events: StoredEvent[]): Promise<StoredEvent[]> {
  const rows = await listAuthorizations(ctx.db, [...new Set(events.map(({ subjectId }) => subjectId as AuthorizationId))]);
  const failed = new Set<string>();
  await Promise.all(
    rows.map((row) =>
      tellRenewal(ctx, row).catch((error: unknown) => {
        ctx.note(`subscription ${row.id}: ${storyOf(error)}`);
        failed.add(row.id);
      }),
    ),
  );
  return events.filter(({ subjectId }) => failed.has(subjectId));
}

async function tellRenewal(shard: Shard, row: AuthorizationRow): Promise<void> {
  const ctx = await scopeOf(shard, row);
  const customer = row.customerRef === null ? { walletAddress: row.subscriberWallet } : { customerRef: row.customerRef };
  const identity = entitlementKeyOf(row, row.productId, customer);
  const through = row.status === 'active' ? row.paidThrough : null;
  const told = { identity, authorizationId: row.id, version: row.version, through, ...calledBy(ctx) };
  await callEntitlement(ctx, row, identity.entitlementId, (object) => object.noteRenewal(told));
}
