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
export const followSubscriptions = (ctx: Shard, events: StoredEvent[]): Promise<StoredEvent[]> =>
  tellRenewals(ctx, events, ({ subjectId }) => subjectId);

/**
 * The same for a payment that the chain dropped, or has after all: where it collected a period, its authorization's paid time is another now,
 * which no event of its own says.
 */
export const followCollectionFates = (ctx: Shard, events: StoredEvent[]): Promise<StoredEvent[]> =>
  tellRenewals(
    ctx,
    events.filter(({ type, data }) => type === 'payment.orphaned' || 'orphaned_at' in (data.previous ?? {})),
    ({ data }) => (data.object as { authorization_id?: string }).authorization_id,
  );

async function tellRenewals(
  ctx: Shard,
  events: StoredEvent[],
  authorizationOf: (event: StoredEvent) => string | null | undefined,
): Promise<StoredEvent[]> {
  const ids = new Set(events.flatMap((event) => (authorizationOf(event) ?? []) as AuthorizationId | []));
  if (ids.size === 0) return [];
  const rows = await listAuthorizations(ctx.db, [...ids]);
  const failed = new Set<string>();
  await Promise.all(
    rows.map((row) =>
      tellRenewal(ctx, row).catch((error: unknown) => {
        ctx.note(`subscription ${row.id}: ${storyOf(error)}`);
        failed.add(row.id);
      }),
    ),
  );
  return events.filter((event) => failed.has(authorizationOf(event) ?? ''));
}

async function tellRenewal(shard: Shard, row: AuthorizationRow): Promise<void> {
  const ctx = await scopeOf(shard, row);
  const customer = row.customerRef === null ? { walletAddress: row.subscriberWallet } : { customerRef: row.customerRef };
  const identity = entitlementKeyOf(row, row.productId, customer);
  const through = row.status === 'active' ? row.paidThrough : null;
  const told = { identity, authorizationId: row.id, version: row.version, through, ...calledBy(ctx) };
  await callEntitlement(ctx, row, identity.entitlementId, (object) => object.noteRenewal(told));
}
