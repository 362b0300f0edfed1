import { ApiError, raise } from '#core/errors.ts';
import type { Scope } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Delivery } from '#platform/db/tables/webhooks.ts';
import { getDelivery, getEndpoint } from '../store.ts';
import { sendAttempts } from './fan-out.ts';
import { findWaitingReplay, insertReplay, type NewDelivery, newestReplayId, storedAs } from './store.ts';

/**
 * Sends an event again as a separate delivery with one attempt, leaving the original schedule unchanged. While a replay waits, further
 * requests return it, so a retry after a lost answer gets the same replay.
 */
export async function replayDelivery(ctx: Scope, deliveryId: number, storeAnswer: StoreAnswer<Delivery>): Promise<Delivery> {
  const original = await getDelivery(ctx, deliveryId);
  const endpoint = await getEndpoint(ctx, original.endpointId);
  if (endpoint.status === 'disabled')
    throw new ApiError('state_conflict', { detail: 'The endpoint is disabled. Enable it first.', meta: { reason: 'endpoint_disabled' } });
  const planned = await transact(
    ctx,
    { reload: () => findWaitingReplay(ctx.db, original) },
    async (waiting): Promise<Change<Delivery | null>> => {
      if (waiting) return unchanged<Delivery | null>(waiting);
      const replay = newReplay(original);
      const stored = storeAnswer(storedAs(ctx, replay), { late: { delivery_id: newestReplayId(original) } });
      return withAnswer<Delivery | null>({ events: [], writes: insertReplay(ctx, original, replay), result: null }, stored);
    },
  );
  const replay = planned ?? (await findWaitingReplay(ctx.db, original)) ?? raise('temporarily_unavailable', { retryAfterSeconds: 1 });
  await sendAttempts(ctx, [{ ...replay, failureStreak: endpoint.failureStreak }]);
  return replay;
}

const newReplay = ({ id, merchantId, livemode, endpointId, eventId, eventType, testEvent }: Delivery): NewDelivery => ({
  merchantId,
  livemode,
  endpointId,
  eventId,
  eventType,
  maxAttempts: 1,
  replayOf: id,
  testEvent,
});
