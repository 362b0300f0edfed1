import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { MeteredSessionId } from '#core/ids.ts';
import { OPEN_SESSIONS_MAX } from '#core/limits.ts';
import { MINUTE } from '#core/time.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';
import { OPENING_DEAD_MS } from '../store.ts';

/** Sessions that were never opened: no object knows them, so their rows alone are ended, each by a condition that an opening breaks. */
const UNOPENED = "status = 'created' AND channel_id IS NULL";

const endedAs = (now: number, status: 'closed' | 'expired') => ({
  status,
  endedAt: now,
  nextLookAt: null,
  updatedAt: now,
  version: sql`version + 1`,
});

const ending = ({ db, now }: Shard, status: 'closed' | 'expired', condition: SQL) =>
  db.update(meteredSessions).set(endedAs(now, status)).where(condition);

/** Ends up to so many that were not opened in time. Answers how many. */
export async function expireUnopened(ctx: Shard, max: number): Promise<number> {
  // Else the planner takes the index of channels, where all of these have the same place.
  const due = sql`SELECT id FROM metered_sessions INDEXED BY metered_sessions_unopened WHERE ${sql.raw(UNOPENED)} AND next_look_at IS NOT NULL AND next_look_at <= ${ctx.now}
    AND ${inReach(ctx)} ORDER BY next_look_at LIMIT ${max}`;
  const { meta } = await ending(ctx, 'expired', sql`id IN (${due})`).run();
  return meta.changes;
}

/** A statement, not an effect: the oldest unopened session of a product gives way to one more than it may have. */
export const giveWay = (ctx: Shard, { productId }: Pick<MeteredSessionRow, 'productId'>): Write => {
  const beyond = sql`SELECT id FROM metered_sessions INDEXED BY metered_sessions_unopened_by_product WHERE product_id = ${productId} AND ${sql.raw(UNOPENED)}
    ORDER BY created_at DESC LIMIT 10 OFFSET ${OPEN_SESSIONS_MAX}`;
  return ending(ctx, 'closed', sql`id IN (${beyond})`);
};

/** The watch has looked for an opening by then, long after its blockhash ended. */
const OPENING_LOST_MS = OPENING_DEAD_MS + 2 * MINUTE;

/** Closes a session that no channel was opened for. null where one is on its way, or it is over. */
export async function closeUnopened(ctx: Shard, sessionId: string): Promise<MeteredSessionRow | null> {
  const isFree = sql`status = 'created' AND (channel_id IS NULL OR updated_at <= ${ctx.now - OPENING_LOST_MS})`;
  const [row = null] = await ending(ctx, 'closed', sql`id = ${sessionId} AND ${isFree}`).returning();
  return row;
}

/** Ends a session that was never opened, unless another was noted since the row was read. */
export async function expireOpening(ctx: Shard, { id, channelId, updatedAt }: MeteredSessionRow): Promise<boolean> {
  const isSame = sql`status = 'created' AND channel_id IS ${channelId} AND updated_at = ${updatedAt}`;
  const { meta } = await ending(ctx, 'expired', and(eq(meteredSessions.id, id as MeteredSessionId), isSame)!).run();
  return meta.changes === 1;
}
