import { and, desc, eq, lt, notInArray, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { subjectsOfTransaction } from '#platform/db/fate.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
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

/** Accounts, the newest first: their ids are in the order they were made. */
export const listAccounts = (db: Db, before: AccountId | null, limit: number) =>
  db
    .select()
    .from(accounts)
    .where(before === null ? undefined : lt(accounts.id, before))
    .orderBy(desc(accounts.id))
    .limit(limit);

/** The payments that a transaction was claimed for: one in each mode, but for what another party had channels pay out. */
export async function listClaimedSubjects(db: Db, txSignature: string): Promise<string[]> {
  const subjects = await db.all<{
    id: string;
  }>(sql`SELECT subject_id AS id FROM (${subjectsOfTransaction(txSignature, [true, false])})
    WHERE kind IN ('checkout', 'x402', 'metered', 'subscription')`);
  return subjects.map(({ id }) => id);
}

/** Reads every account and every merchant's sums once: for an operator who asks now and then. */
export async function readTotals(db: Db): Promise<{ accounts: Record<string, number>; live: Record<string, string> }> {
  const states = await db.all<{ status: string; count: number }>(sql`SELECT status, count(*) AS count FROM accounts GROUP BY status`);
  // Sums are integers of base units, exact up to 2^63.
  const sums = await db.all<{ name: string; sum: string }>(sql`SELECT key AS name, CAST(sum(CAST(value AS INTEGER)) AS TEXT) AS sum
    FROM analytics_totals, json_each(analytics_totals.counts) WHERE livemode = 1 GROUP BY key ORDER BY key`);
  return {
    accounts: Object.fromEntries(states.map(({ status, count }) => [status, count])),
    live: Object.fromEntries(sums.map(({ name, sum }) => [name, sum])),
  };
}
