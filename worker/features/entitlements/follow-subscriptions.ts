import { formatErrorChain } from '#core/errors.ts';
import { type AuthorizationId, customerIdOf } from '#core/ids.ts';
import { listAuthorizations } from '#features/authorizations/store.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { Customer } from '#rules/balance.ts';
import { callEntitlement, calledBy, entitlementKeyOf } from './entitlement.ts';
import { findSurvivor } from './store.ts';

/**
 * Handles events of native subscriptions: reports the current state to the buyer's object, so that the object decides the grace hour after
 * paid time without a database read. Returns the events with a failed report.
 */
export const followSubscriptions = (ctx: Shard, events: StoredEvent[]): Promise<StoredEvent[]> =>
  sendRenewals(ctx, events, ({ subjectId }) => subjectId);

/** Handles collections that the chain dropped or restored: the paid time of the authorization changes without an event of its own. */
export const handleCollectionOutcomes = (ctx: Shard, events: StoredEvent[]): Promise<StoredEvent[]> =>
  sendRenewals(
    ctx,
    events.filter(({ type, data }) => type === 'payment.orphaned' || 'orphaned_at' in (data.previous ?? {})),
    ({ data }) => (data.object as { authorization_id?: string }).authorization_id,
  );

async function sendRenewals(
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
      sendRenewal(ctx, row).catch((error: unknown) => {
        ctx.note(`subscription ${row.id}: ${formatErrorChain(error)}`);
        failed.add(row.id);
      }),
    ),
  );
  return events.filter((event) => failed.has(authorizationOf(event) ?? ''));
}

async function sendRenewal(shard: Shard, row: AuthorizationRow): Promise<void> {
  const ctx = await loadScope(shard, row);
  const customer: Customer = row.customerRef === null ? { walletAddress: row.subscriberWallet } : { customerRef: row.customerRef };
  const survivor = await findSurvivor(shard.db, customerIdOf(row.merchantId, row.livemode, customer));
  const identity = entitlementKeyOf(row, row.productId, survivor?.customer ?? customer);
  const through = row.status === 'active' ? row.paidThrough : null;
  const renewal = { identity, authorizationId: row.id, version: row.version, through, ...calledBy(ctx) };
  await callEntitlement(ctx, row, identity.entitlementId, (object) => object.noteRenewal(renewal));
}
