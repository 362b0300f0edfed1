import { and, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import { vetoIf, type Write } from '../db/commit.ts';
import { webhookDeliveries } from '../db/messaging.ts';
import type { Delivery } from './store.ts';

const replaysOf = ({ eventId, id }: Delivery) => and(eq(webhookDeliveries.eventId, eventId), eq(webhookDeliveries.replayOf, id));

/** A replay of this delivery whose one attempt was not made yet. */
export const findWaitingReplay = (db: Db, original: Delivery) =>
  db
    .select()
    .from(webhookDeliveries)
    .where(and(replaysOf(original), inArray(webhookDeliveries.status, ['pending', 'retrying'])))
    .get();

export const newestReplayId = ({ eventId, id }: Delivery): SQL =>
  sql`(SELECT max(id) FROM webhook_deliveries WHERE event_id = ${eventId} AND replay_of = ${id})`;

/** The first fails the batch where another replay waits already. */
export const insertReplay = (ctx: Ctx, { id: _, ...replay }: Delivery): Write[] => [
  vetoIf(
    ctx,
    sql`EXISTS (SELECT 1 FROM webhook_deliveries WHERE event_id = ${replay.eventId} AND replay_of = ${replay.replayOf}
      AND status IN ('pending', 'retrying'))`,
  ),
  ctx.db.insert(webhookDeliveries).values(replay),
];
