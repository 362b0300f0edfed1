import { ApiError, raise } from '#core/errors.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Delivery } from '#platform/db/tables/webhooks.ts';
import { getDelivery, getEndpoint } from '../store.ts';
import { sendAttempts } from './fan-out.ts';
import { findWaitingReplay, insertReplay, newestReplayId } from './store.ts';

/**
 * Sends an event once more, as a delivery of its own: one attempt, and its schedule is not touched. While a replay still waits for its
 * attempt it is the answer to every further request: a caller whose answer was lost gets that one.
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
      const replay = newReplay(ctx, original);
      const kept = storeAnswer(replay, { delivery_id: newestReplayId(original) });
      return withAnswer<Delivery | null>({ events: [], writes: insertReplay(ctx, original, replay), result: null }, kept);
    },
  );
  const replay = planned ?? (await findWaitingReplay(ctx.db, original)) ?? raise('temporarily_unavailable', { retryAfterSeconds: 1 });
  await sendAttempts(ctx, [{ id: replay.id, failureStreak: endpoint.failureStreak }]);
  return replay;
}

const newReplay = (ctx: Ctx, original: Delivery): Delivery => ({
  ...original,
  // The database numbers deliveries.
  id: 0,
  status: 'pending',
  attempt: 0,
  maxAttempts: 1,
  nextAttemptAt: ctx.wallNow,
  leaseUntil: 0,
  responseStatus: null,
  responseMs: null,
  responseExcerpt: null,
  error: null,
  replayOf: original.id,
  createdAt: ctx.wallNow,
  completedAt: null,
});
