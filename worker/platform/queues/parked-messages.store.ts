import { and, asc, eq, inArray, lte, sql } from 'drizzle-orm';
import { DAY } from '#core/time.ts';
import { addressOf, type Db, type Job, type Shard } from '#platform/context.ts';
import { amongIds, jsonRows } from '#platform/db/among.ts';
import { type ParkedMessage, parkedMessages } from '#platform/db/tables/operations.ts';

/** For a person to look at, and for a release that knows what to do with it. */
const KEEP_MS = 90 * DAY;

/** Keeps messages until a later release serves them, or they expire. A message that is delivered twice is kept once. */
export const parkMessages = (db: Db, messages: ParkedMessage[]): Promise<unknown> =>
  db
    .insert(parkedMessages)
    .select(
      sql`SELECT value ->> 'id', value ->> 'queue', value ->> 'kind', value ->> 'body', value ->> 'reason', value ->> 'parkedAt'
        FROM ${jsonRows(messages)} WHERE true`,
    )
    .onConflictDoNothing();

/** Parks a job that no repetition can serve, where dead letters wait for the operator, who is alarmed. Once for each `id`. */
export const parkJob = (ctx: Shard, id: string, job: { kind: Job['kind'] }): Promise<unknown> =>
  parkMessages(ctx.databases[0].db, [
    {
      id,
      queue: ctx.sandbox === null ? 'svc-jobs-dead' : 'svc-sandbox-dead',
      kind: job.kind,
      body: { ...job, ...addressOf(ctx) },
      reason: 'failed',
      parkedAt: ctx.wallNow,
    },
  ]);

/** Jobs of these kinds that a release which did not know them left here, oldest first. */
export const listParked = (db: Db, kinds: string[], limit: number): Promise<ParkedMessage[]> =>
  db
    .select()
    .from(parkedMessages)
    .where(and(eq(parkedMessages.reason, 'unknown_kind'), inArray(parkedMessages.kind, kinds)))
    .orderBy(asc(parkedMessages.parkedAt))
    .limit(limit);

export const deleteParked = (db: Db, ids: string[]): Promise<unknown> => db.delete(parkedMessages).where(amongIds('id', ids));

/** Forgets what waited for so long that it has lost its meaning. */
export async function endParked({ db, wallNow }: Shard, max: number): Promise<number> {
  const ended = db
    .select({ id: parkedMessages.id })
    .from(parkedMessages)
    .where(lte(parkedMessages.parkedAt, wallNow - KEEP_MS))
    .limit(max);
  return (await db.delete(parkedMessages).where(inArray(parkedMessages.id, ended))).meta.changes;
}
