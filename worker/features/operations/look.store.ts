import { desc, lt, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db } from '#platform/context.ts';
import { subjectsOfTransaction } from '#platform/db/fate.ts';
import { accounts } from '#platform/db/tables/accounts.ts';

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
    FROM figure_totals, json_each(figure_totals.counts) WHERE livemode = 1 GROUP BY key ORDER BY key`);
  return {
    accounts: Object.fromEntries(states.map(({ status, count }) => [status, count])),
    live: Object.fromEntries(sums.map(({ name, sum }) => [name, sum])),
  };
}
