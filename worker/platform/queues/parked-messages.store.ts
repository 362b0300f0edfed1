import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm';
import { DAY } from '#core/time.ts';
import type { Db, Job, Shard } from '#platform/context.ts';
import { amongIds, jsonRows } from '#platform/db/among.ts';
import { type ParkedMessage, parkedMessages } from '#platform/db/tables/operations.ts';

export const PARKED_RETENTION_MS = 90 * DAY;

/** Stores messages until a later release processes them or they expire. A duplicate delivery is stored once. */
export const parkMessages = (db: Db, messages: ParkedMessage[]): Promise<unknown> =>
  db
    .insert(parkedMessages)
    .select(
      sql`SELECT value ->> 'id', value ->> 'queue', value ->> 'kind', value ->> 'body', value ->> 'reason', value ->> 'parkedAt'
        FROM ${jsonRows(messages)} WHERE true`,
    )
    .onConflictDoNothing();

/** Parks a job that no retry can complete, once per `id`. Parked jobs raise an alarm. */
export const parkJob = (ctx: Shard, id: string, job: { kind: Job['kind'] }): Promise<unknown> =>
  parkMessages(ctx.databases[0].db, [
    {
      id,
      queue: ctx.sandbox === null ? 'svc-jobs-dead' : 'svc-sandbox-dead',
      kind: job.kind,
      body: { ...job },
      reason: 'failed',
      parkedAt: ctx.wallNow,
    },
  ]);

/** Lists parked jobs of these kinds, left by a release that did not know them, oldest first. */
export const listParked = (db: Db, kinds: string[], limit: number): Promise<ParkedMessage[]> =>
  db
    .select()
    .from(parkedMessages)
    .where(and(eq(parkedMessages.reason, 'unknown_kind'), inArray(parkedMessages.kind, kinds)))
    .orderBy(asc(parkedMessages.parkedAt))
    .limit(limit);

export const deleteParked = (db: Db, ids: string[]): Promise<unknown> => db.delete(parkedMessages).where(amongIds(parkedMessages.id, ids));

export async function endParked({ db, wallNow }: Shard, max: number): Promise<number> {
  const ended = db
    .select({ id: parkedMessages.id })
    .from(parkedMessages)
    .where(lte(parkedMessages.parkedAt, wallNow - PARKED_RETENTION_MS))
    .limit(max);
  return (await db.delete(parkedMessages).where(inArray(parkedMessages.id, ended))).meta.changes;
}
