import type { MeteredSessionId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { announceEvents, commit, eventRow } from '#platform/db/commit.ts';
import { type MeteredProjection, projectedSession } from '#rules/metered/rpc.ts';
import { toMeteredResource } from './resource.ts';
import { callSession, shownOf } from './session.ts';
import { sessionProjectionWrites } from './store.ts';

/**
 * Writes down what a session's object said of itself: its events once, its copy unless a newer one is there. Harmless doubled or late. The
 * object forgets what it told only when it hears that this is done.
 */
export async function projectMeteredSession(ctx: Shard, projection: MeteredProjection): Promise<void> {
  const { snapshot, events } = projection;
  const rows = events.map(({ type, snapshot: object, requestId = ctx.cause }) => ({
    ...eventRow(ctx, {
      merchantId: object.merchantId,
      livemode: object.livemode,
      type,
      subject: { type: 'metered_session', id: object.sessionId, version: object.version },
      object: toMeteredResource(ctx, shownOf(object)),
      productId: object.productId,
    }),
    requestId,
  }));
  await commit(ctx, { events: [], writes: sessionProjectionWrites(ctx, snapshot, rows), result: undefined });
  announceEvents(
    ctx,
    rows.map(({ id }) => id),
  );
  await callSession(ctx, snapshot.sessionId as MeteredSessionId, (object) =>
    object.published({ ...projectedSession(projection), requestId: ctx.cause }),
  );
}
