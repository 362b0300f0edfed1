import { between, eq } from 'drizzle-orm';
import type { Db, Shard } from '#platform/context.ts';
import { switchedOff } from '#platform/db/tables/operations.ts';

/** Few: only the operator makes them. */
export const listSwitchedOff = async (db: Db): Promise<string[]> =>
  (await db.select().from(switchedOff).orderBy(switchedOff.subject)).map(({ subject }) => subject);

/** Rails alone, by their ids: read on public requests, so their number does not grow with the products. */
export const listRailsOff = async (db: Db): Promise<string[]> => {
  const rows = await db
    .select()
    .from(switchedOff)
    .where(between(switchedOff.subject, 'rail:', 'rail:~'));
  return rows.map(({ subject }) => subject.slice('rail:'.length));
};

export const switchOff = ({ db, now }: Shard, subject: string) =>
  db.insert(switchedOff).values({ subject, since: now }).onConflictDoNothing();

export const switchOn = (db: Db, subject: string) => db.delete(switchedOff).where(eq(switchedOff.subject, subject));
