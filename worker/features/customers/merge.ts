import { ApiError, formatErrorChain, raise } from '#core/errors.ts';
import type { CustomerId } from '#core/ids.ts';
import { entitlementKeyOf, moveEntitlement } from '#features/entitlements/entitlement.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { type Change, transact } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import { customerKeyOf } from '#platform/db/search/customer.ts';
import type { CustomerRow } from '#platform/db/tables/entitlements.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { readCustomer, requireUnerased } from './customer.ts';
import {
  abortIfConsuming,
  abortIfRunning,
  countEntitlements,
  ENTITLEMENTS_MAX,
  findRunning,
  isConsuming,
  isOfOtherMode,
  listBothMemberships,
  MEMBERSHIPS_MAX,
  mergeRows,
  rekeyMembership,
} from './merge.store.ts';
import { moveMemberships, planMembershipMerge } from './merged-memberships.ts';
import { type CustomerResource, type ShownCustomer, toCustomerResource } from './resource.ts';
import { loadHoldings } from './state.store.ts';
import { findOwnRow } from './store.ts';

export { abortIfRunning, findRunning };

/** Customers that one may absorb. */
const MERGED_MAX = 20;

interface Pair {
  into: ShownCustomer;
  from: ShownCustomer;
  isMerged: boolean;
}

/**
 * Merges `from` into a customer, with `customer.merged`. What entitlements have left moves after the commit: here, or else with the event.
 * Throws 404, 409 state_conflict for what runs, 422 for the customer itself and another mode.
 */
export async function mergeCustomer(
  ctx: Scope,
  intoId: CustomerId,
  fromId: CustomerId,
  storeAnswer: StoreAnswer<ShownCustomer>,
): Promise<ShownCustomer> {
  let moved: CustomerRow | null = null;
  const merged = await transact(ctx, { reload: () => loadPair(ctx, intoId, fromId) }, async ({ into, from, isMerged }) => {
    if (isMerged) return unchangedWithAnswer(into, storeAnswer);
    moved = from.row;
    const change = await planMerge(ctx, into, from);
    return withAnswer(change, storeAnswer(change.result, { before: into }));
  });
  if (moved)
    await moveHoldings(ctx, moved, merged.row).catch((error: unknown) =>
      ctx.note(`merge continues with its event: ${formatErrorChain(error)}`),
    );
  return merged;
}

async function loadPair(ctx: Scope, intoId: CustomerId, fromId: CustomerId): Promise<Pair> {
  const into = await readCustomer(ctx, intoId);
  if (into.row.status === 'erased') throw refused(['path', 'customer_id'], 'Expected a customer that is not erased');
  requireUnerased(into.row);
  const own = await findOwnRow(ctx, fromId);
  if (!own && (await isOfOtherMode(ctx, fromId))) throw refusedFrom('Expected a customer of the same mode');
  if (!own) return raise('not_found');
  if (own.mergedInto === into.row.id) return { into, from: into, isMerged: true };
  if (own.mergedInto !== null) throw conflict('merged', '`from` is merged into another customer. Name that one to merge it as well.');
  const from = await readCustomer(ctx, fromId);
  if (from.row.status === 'erased') throw refusedFrom('Expected a customer that is not erased');
  requireUnerased(from.row);
  if (from.row.id === into.row.id) throw refusedFrom('Expected another customer');
  return { into, from, isMerged: false };
}

const refused = (loc: string[], msg: string): ApiError =>
  new ApiError('validation_error', { problems: [{ loc, msg, type: 'invalid_reference' }] });
const refusedFrom = (msg: string): ApiError => refused(['body', 'from'], msg);

const conflict = (reason: string, detail: string): ApiError => new ApiError('state_conflict', { detail, meta: { reason } });

async function planMerge(ctx: Scope, into: ShownCustomer, from: ShownCustomer): Promise<Change<ShownCustomer>> {
  const [fromKey, intoKey] = [customerKeyOf(from.row), customerKeyOf(into.row)];
  const running = await findRunning(ctx, fromKey);
  if (running) throw conflict(running, 'End the native subscription or metered session of `from` first.');
  if (await isConsuming(ctx, fromKey, intoKey))
    throw conflict('subscription', 'A native subscription of the customer runs for a product in which `from` has time left. End it first.');
  const merged = [...into.merged, from.row, ...from.merged];
  if (merged.length > MERGED_MAX) throw conflict('too_many', `A customer absorbs at most ${MERGED_MAX} others.`);
  const [theirs, own] = await listBothMemberships(ctx, fromKey, intoKey);
  if (theirs.length > MEMBERSHIPS_MAX) throw conflict('too_many', `\`from\` has more than ${MEMBERSHIPS_MAX} memberships.`);
  if ((await countEntitlements(ctx, fromKey)) > ENTITLEMENTS_MAX)
    throw conflict('too_many', `\`from\` has more than ${ENTITLEMENTS_MAX} entitlements.`);
  const peers = new Map(own.map((membership) => [membership.productId, membership]));
  const changes = theirs.map((membership): Change<unknown> => {
    const peer = peers.get(membership.productId);
    return peer
      ? planMembershipMerge(ctx, membership, peer)
      : { events: [], writes: rekeyMembership(ctx, membership, intoKey), result: null };
  });
  const row: CustomerRow = { ...into.row, updatedAt: ctx.now, version: into.row.version + 1 };
  const after: ShownCustomer = { ...into, row, merged };
  const event = {
    ...{ merchantId: ctx.merchantId, livemode: ctx.livemode, type: 'customer.merged' as const },
    subject: { type: 'customer' as const, id: row.id, version: row.version },
    object: toCustomerResource(after),
    previous: { merged_from: into.merged.map(({ id }) => id) },
  };
  return {
    events: [event, ...changes.flatMap(({ events }) => events)],
    writes: [
      // First, because the batch itself ends the time of `from`.
      abortIfConsuming(ctx, fromKey, intoKey),
      ...mergeRows(ctx, from.row, into.row),
      ...changes.flatMap(({ writes }) => writes),
      ...abortIfRunning(ctx, fromKey),
    ],
    result: after,
  };
}

/** Moves what the entitlements of a merged customer have left, and memberships of purchases that the merge did not see. Idempotent. */
async function moveHoldings(ctx: Scope, from: CustomerRow, into: Pick<CustomerRow, 'id' | 'customerRef' | 'walletAddress'>): Promise<void> {
  const { products } = await loadHoldings(ctx, customerKeyOf(from));
  for (const productId of products.keys())
    await moveEntitlement(ctx, entitlementKeyOf(ctx, productId, customerKeyOf(from)), into.id, customerKeyOf(into));
  await moveMemberships(ctx, customerKeyOf(from));
}

/** Handles customer.merged: completes a merge that was cut off after its commit. Returns the events that failed. */
export async function followMerged(shard: Shard, events: StoredEvent[]): Promise<StoredEvent[]> {
  const failed: StoredEvent[] = [];
  for (const event of events) {
    const [object, previous] = [event.data.object as CustomerResource, event.data.previous as Pick<CustomerResource, 'merged_from'>];
    try {
      const ctx = await loadScope(shard, {
        merchantId: event.merchantId as Scope['merchantId'],
        livemode: event.livemode,
        customerRef: null,
      });
      const into = await findOwnRow(ctx, object.customer_id as CustomerId);
      for (const id of object.merged_from.filter((one) => !previous.merged_from.includes(one))) {
        const from = await findOwnRow(ctx, id as CustomerId);
        // An erasure may have parted them since.
        if (from && into && from.mergedInto === into.id) await moveHoldings(ctx, from, into);
      }
    } catch (error) {
      shard.note(`merge of ${object.customer_id}: ${formatErrorChain(error)}`);
      failed.push(event);
    }
  }
  return failed;
}
