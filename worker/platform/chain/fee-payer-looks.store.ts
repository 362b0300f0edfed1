import { lte, type SQL, sql } from 'drizzle-orm';
import { HOUR, MINUTE } from '#core/time.ts';
import type { Db } from '#platform/context.ts';
import { feePayerLooks } from '#platform/db/tables/operations.ts';
import { NAMED_KEYS, type NamedKey } from './named-keys.ts';

/** Looks older than this tell nothing that is asked for. */
const KEEP_MS = 2 * HOUR;
/** What fell between the last look before the hour and the first one in it counts. */
const BEFORE_MS = 5 * MINUTE;

/** Addresses that open live rows of a database name. */
export const listNamedKeys = (db: Db): Promise<NamedKey[]> => db.all<NamedKey>(sql.raw(NAMED_KEYS));

/** The same within another statement, as a list in JSON. */
export const namedKeysAsJson: SQL = sql`(SELECT json_group_array(json_object('variable', variable, 'address', address)) FROM (${sql.raw(NAMED_KEYS)}))`;

/** Lamports each address held when it was looked at last. */
export const listBalances = (db: Db): Promise<{ address: string; lamports: number }[]> =>
  db.all(sql`SELECT address, lamports, max(at) FROM fee_payer_looks GROUP BY address`);

/** One look a minute and address; what is over goes with the next one, so there are never more than some hundred. */
export async function saveLook(db: Db, address: string, lamports: number, now: number): Promise<void> {
  await db.batch([
    db.insert(feePayerLooks).values({ address, at: now, lamports }).onConflictDoNothing(),
    db.delete(feePayerLooks).where(lte(feePayerLooks.at, now - KEEP_MS)),
  ]);
}

/**
 * What left the fee payers in the hour before then, in lamports, whatever the cause: the sum of what each balance fell from look to look. What
 * came in counts for nothing, so filling one up hides no more than a minute.
 */
export async function readLamportsSpent(db: Db, now: number): Promise<number> {
  const [row] = await db.all<{ spent: number }>(sql`SELECT coalesce(sum(max(0, held - lamports)), 0) AS spent FROM (
    SELECT lamports, lag(lamports) OVER (PARTITION BY address ORDER BY at) AS held FROM fee_payer_looks
    WHERE at > ${now - HOUR - BEFORE_MS})`);
  return row!.spent;
}
