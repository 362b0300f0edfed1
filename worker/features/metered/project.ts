import type { MeteredSessionId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { commitProjection } from '#platform/db/commit.ts';
import { projectedOf } from '#rules/entitlement-rpc.ts';
import type { MeteredProjection } from '#rules/metered/rpc.ts';
import { toMeteredResource } from './resource.ts';
import { askSession, shownOf } from './session.ts';
import { updateSessionCopy } from './store.ts';

/** Writes down what a session's object said of itself, and tells it so. */
export async function projectMeteredSession(ctx: Shard, projection: MeteredProjection): Promise<void> {
  const { snapshot } = projection;
  await commitProjection(
    ctx,
    { kind: 'projectMeteredSession', projection },
    {
      copy: updateSessionCopy(ctx, snapshot),
      describe: (told) => ({
        subject: { type: 'metered_session', id: told.sessionId, version: told.version },
        object: toMeteredResource(ctx, shownOf(told)),
      }),
    },
  );
  await askSession<void>(ctx, snapshot.sessionId as MeteredSessionId, (object) =>
    object.published({ ...projectedOf(projection), requestId: ctx.cause }),
  );
}
