import { and, type SQL, sql } from 'drizzle-orm';
import type { Db, Shard } from '#platform/context.ts';
import { vetoIf, type Write } from '#platform/db/commit.ts';
import type { Delivery } from '#platform/db/tables/webhooks.ts';
import { webhookDeliveries } from '#platform/db/tables/webhooks.ts';

/** Replays that were asked for, each of one attempt: what a recovery brings has a whole schedule. */
const replaysOf = ({ eventId, id }: { eventId: string; id: number }): SQL =>
  sql`event_id = ${eventId} AND replay_of = ${id} AND max_attempts = 1`;
const WAITS = sql`status IN ('pending', 'retrying')`;

/** A replay of this delivery whose one attempt was not made yet. */
export const findWaitingReplay = (db: Db, original: Delivery) =>
  db
    .select()
    .from(webhookDeliveries)
    .where(and(replaysOf(original), WAITS))
    .get();

export const newestReplayId = (original: Delivery): SQL => sql`(SELECT max(id) FROM webhook_deliveries WHERE ${replaysOf(original)})`;

/** The first fails the batch where another replay waits already. */
export const insertReplay = (ctx: Shard, original: Delivery, { id: _, ...replay }: Delivery): Write[] => [
  vetoIf(ctx, sql`EXISTS (SELECT 1 FROM webhook_deliveries WHERE ${replaysOf(original)} AND ${WAITS})`),
  ctx.db.insert(webhookDeliveries).values(replay),
];
