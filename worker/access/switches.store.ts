import { eq } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import { switchedOff } from '../db/operations.ts';

/** Few: only the operator makes them. */
export const listSwitchedOff = async (db: Db): Promise<string[]> =>
  (await db.select().from(switchedOff).orderBy(switchedOff.subject)).map(({ subject }) => subject);

export const switchOff = ({ db, now }: Ctx, subject: string) =>
  db.insert(switchedOff).values({ subject, since: now }).onConflictDoNothing();

export const switchOn = (db: Db, subject: string) => db.delete(switchedOff).where(eq(switchedOff.subject, subject));
