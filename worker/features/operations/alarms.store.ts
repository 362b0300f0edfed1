import { and, eq, notInArray, sql } from 'drizzle-orm';
import type { Db } from '#platform/context.ts';
import { alarms } from '#platform/db/tables/operations.ts';

export type Alarm = typeof alarms.$inferSelect;

/** Notes what is wrong now, and since when; what was noted before keeps its beginning. Answers all of it. */
export async function noteAlarms(db: Db, found: { name: string; finding: string }[], now: number): Promise<Alarm[]> {
  if (found.length === 0) return [];
  return db
    .insert(alarms)
    .values(found.map((one) => ({ ...one, since: now, toldAt: 0 })))
    .onConflictDoUpdate({ target: alarms.name, set: { finding: sql`excluded.finding` } })
    .returning();
}

/** Ends what is over, and answers it: of two looks at once only one does. */
export const endAlarms = (db: Db, names: string[]): Promise<Alarm[]> => db.delete(alarms).where(notInArray(alarms.name, names)).returning();

/** Takes it upon one look to tell of an alarm; false where another one did. */
export async function claimTelling(db: Db, { name, toldAt }: Alarm, now: number): Promise<boolean> {
  const rows = await db
    .update(alarms)
    .set({ toldAt: now })
    .where(and(eq(alarms.name, name), eq(alarms.toldAt, toldAt)))
    .returning({ name: alarms.name });
  return rows.length > 0;
}

/** It could not be told: the next look tries again. */
export const unclaimTelling = (db: Db, { name, toldAt }: Alarm, now: number) =>
  db
    .update(alarms)
    .set({ toldAt })
    .where(and(eq(alarms.name, name), eq(alarms.toldAt, now)));
