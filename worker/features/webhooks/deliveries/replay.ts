import { ApiError, raise } from '#core/errors.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Delivery } from '#platform/db/tables/webhooks.ts';
import { getDelivery, getEndpoint } from '../store.ts';
import { sendAttempts } from './fan-out.ts';
import { findWaitingReplay, insertReplay, newestReplayId } from './store.ts';

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
      const replay = newReplay(ctx, original);
      const stored = storeAnswer(replay, { delivery_id: newestReplayId(original) });
      return withAnswer<Delivery | null>({ events: [], writes: insertReplay(ctx, original, replay), result: null }, stored);
    },
  );
  const replay = planned ?? (await findWaitingReplay(ctx.db, original)) ?? raise('temporarily_unavailable', { retryAfterSeconds: 1 });
  await sendAttempts(ctx, [{ id: replay.id, failureStreak: endpoint.failureStreak }]);
  return replay;
}

const newReplay = (ctx: Ctx, original: Delivery): Delivery => ({
  ...original,
  // Placeholder: the database assigns the id.
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
