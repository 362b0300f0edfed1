import { assert } from '#core/errors.ts';
import type { MeteredSessionId } from '#core/ids.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import { askSession, releaseChannel } from './session.ts';
import { deleteMeteredSessions, type ErasedSession, listEndedSessions } from './store.ts';

/**
 * Forgets what objects hold of a session: the claim of its channel, and then all that it counted. Of the sandbox, or of a live one that is
 * over, long after its channel could be opened again. Harmless twice; its row is deleted afterwards, by the caller.
 */
export async function eraseMeteredSession(ctx: Ctx, { id, livemode, channelId }: ErasedSession): Promise<void> {
  // One that was never opened is a row and nothing else.
  if (channelId === null) return;
  const session = await askSession<MeteredSnapshot>(ctx, id, (object) => object.read(calledBy(ctx)));
  // The object may know more than the row, of which the channel that was only noted is a part.
  for (const channel of new Set([session?.bound?.channelId ?? channelId, channelId]))
    await releaseChannel(ctx, { sessionId: id, livemode }, channel);
  assert(await askSession<boolean>(ctx, id, (object) => object.erase()), 'a session with an end in its row has ended');
}

/** Objects called at once. */
const LANES = 6;

/** Forgets up to so many sessions that had ended by then, with their objects. Answers how many it looked at, those that stay included. */
export async function forgetEndedSessions(ctx: Shard, before: number, limit: number): Promise<number> {
  const erased: MeteredSessionId[] = [];
  const forget = async (session: ErasedSession) => {
    await eraseMeteredSession(ctx, session);
    erased.push(session.id);
  };
  const seen = await forEach(ctx, await listEndedSessions(ctx.db, before, limit), forget, LANES);
  await deleteMeteredSessions(ctx.db, erased);
  return seen;
}
