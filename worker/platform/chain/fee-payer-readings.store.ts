import { lte, type SQL, sql } from 'drizzle-orm';
import { HOUR, MINUTE } from '#core/time.ts';
import type { Db } from '#platform/context.ts';
import { feePayerReadings } from '#platform/db/tables/operations.ts';
import { NAMED_KEYS, type NamedKey } from './named-keys.ts';

const RETENTION_MS = 2 * HOUR;
/** Includes the last reading before the hour, so that a decrease between that reading and the first one in the hour counts. */
const BEFORE_MS = 5 * MINUTE;

export const listNamedKeys = (db: Db): Promise<NamedKey[]> => db.all<NamedKey>(sql.raw(NAMED_KEYS));

export const namedKeysAsJson: SQL = sql`(SELECT json_group_array(json_object('variable', variable, 'address', address)) FROM (${sql.raw(NAMED_KEYS)}))`;

export const listBalances = (db: Db): Promise<{ address: string; lamports: number }[]> =>
  db.all(sql`SELECT address, lamports, max(at) FROM fee_payer_readings GROUP BY address`);

/** Stores at most one reading per minute and address, and deletes expired ones, so that the table holds only some hundred rows. */
export async function saveReading(db: Db, address: string, lamports: number, now: number): Promise<void> {
  await db.batch([
    db.insert(feePayerReadings).values({ address, at: now, lamports }).onConflictDoNothing(),
    db.delete(feePayerReadings).where(lte(feePayerReadings.at, now - RETENTION_MS)),
  ]);
}

/**
 * Returns lamports spent by the fee payers in the hour before `now`: the sum of all decreases between readings. Deposits are ignored, so a
 * top-up hides at most one minute of spending.
 */
export async function readLamportsSpent(db: Db, now: number): Promise<number> {
  const [row] = await db.all<{ spent: number }>(sql`SELECT coalesce(sum(max(0, held - lamports)), 0) AS spent FROM (
    SELECT lamports, lag(lamports) OVER (PARTITION BY address ORDER BY at) AS held FROM fee_payer_readings
    WHERE at > ${now - HOUR - BEFORE_MS})`);
  return row!.spent;
}
