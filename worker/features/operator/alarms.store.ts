import { and, desc, eq, lt, notInArray, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { subjectsOfTransaction } from '#platform/db/outcome.ts';
import { ACCOUNT_COLUMNS, accounts } from '#platform/db/tables/accounts.ts';
import { decodeId } from '#platform/db/tables/columns.ts';
import { persons } from '#platform/db/tables/office/people.ts';
import { alarms } from '#platform/db/tables/operations.ts';

export type Alarm = typeof alarms.$inferSelect;

/** Upserts current alarms. A known alarm retains its start. Returns all of them. */
export async function noteAlarms(db: Db, found: { name: string; finding: string }[], now: number): Promise<Alarm[]> {
  if (found.length === 0) return [];
  return db
    .insert(alarms)
    .values(found.map((one) => ({ ...one, since: now, notifiedAt: 0 })))
    .onConflictDoUpdate({ target: alarms.name, set: { finding: sql`excluded.finding` } })
    .returning();
}

/** Deletes and returns ended alarms. Of concurrent checks only one gets them. */
export const endAlarms = (db: Db, names: string[]): Promise<Alarm[]> => db.delete(alarms).where(notInArray(alarms.name, names)).returning();

/** Claims the notification of an alarm for one check. Returns false if another check has it. */
export async function claimNotification(db: Db, { name, notifiedAt }: Alarm, now: number): Promise<boolean> {
  const rows = await db
    .update(alarms)
    .set({ notifiedAt: now })
    .where(and(eq(alarms.name, name), eq(alarms.notifiedAt, notifiedAt)))
    .returning({ name: alarms.name });
  return rows.length > 0;
}

export const releaseNotification = (db: Db, { name, notifiedAt }: Alarm, now: number) =>
  db
    .update(alarms)
    .set({ notifiedAt })
    .where(and(eq(alarms.name, name), eq(alarms.notifiedAt, now)));

export const listAccounts = (db: Db, before: AccountId | null, limit: number) =>
  db
    .select(ACCOUNT_COLUMNS)
    .from(accounts)
    .innerJoin(persons, eq(persons.id, accounts.id))
    .where(before === null ? undefined : lt(accounts.id, before))
    .orderBy(desc(accounts.id))
    .limit(limit);

/** Lists the subjects of a transaction's claims: one per mode, except channel payouts of other parties. */
export async function listClaimedSubjects(db: Db, txSignature: string): Promise<string[]> {
  const subjects = await db.all<{
    id: ArrayLike<number> | string;
  }>(sql`SELECT subject_id AS id FROM (${subjectsOfTransaction(txSignature, [true, false])})
    WHERE kind IN ('checkout', 'x402', 'metered', 'subscription')`);
  return subjects.map(({ id }) => decodeId(id));
}

export async function readTotals(db: Db): Promise<{ accounts: Record<string, number>; live: Record<string, string> }> {
  const states = await db.all<{ status: string; count: number }>(sql`SELECT status, count(*) AS count FROM accounts GROUP BY status`);
  // Sums are integers in base units, exact up to 2^63.
  const sums = await db.all<{ name: string; sum: string }>(sql`SELECT key AS name, CAST(sum(CAST(value AS INTEGER)) AS TEXT) AS sum
    FROM analytics_totals, json_each(analytics_totals.counts) WHERE livemode = 1 GROUP BY key ORDER BY key`);
  return {
    accounts: Object.fromEntries(states.map(({ status, count }) => [status, count])),
    live: Object.fromEntries(sums.map(({ name, sum }) => [name, sum])),
  };
}
