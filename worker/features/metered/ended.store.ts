import { sql } from 'drizzle-orm';
import type { MeteredSessionId } from '#core/ids.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Db, Scope } from '#platform/context.ts';
import { type MeteredSessionRow, meteredSessions } from '#platform/db/tables/settlements.ts';

/** What it takes to forget a session. */
export type ErasedSession = Pick<MeteredSessionRow, 'id' | 'livemode' | 'channelId'>;
const ERASED = { id: meteredSessions.id, livemode: meteredSessions.livemode, channelId: meteredSessions.channelId };

/** All sessions that the clock of a scope reaches. */
export const listMeteredInReach = (scope: Scope): Promise<ErasedSession[]> =>
  scope.db.select(ERASED).from(meteredSessions).where(inReach(scope));

/** Sessions that had ended by then, the longest ended first. */
export const listEndedSessions = (db: Db, before: number, limit: number): Promise<ErasedSession[]> =>
  db
    .select(ERASED)
    .from(meteredSessions)
    .where(sql`ended_at IS NOT NULL AND ended_at <= ${before}`)
    .orderBy(meteredSessions.endedAt)
    .limit(limit);

export const deleteMeteredSessions = (db: Db, ids: MeteredSessionId[]) =>
  db.delete(meteredSessions).where(sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`);
