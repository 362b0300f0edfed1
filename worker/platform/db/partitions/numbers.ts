import { type SQL, sql } from 'drizzle-orm';
import type { Shard } from '#platform/context.ts';

/** Numbers of a millisecond: one for each database. */
export const NUMBERS_PER_MS = 64;

/** Position of a database among all: 0 for `DB`, 1 for `DB_2`. */
export const positionOfDatabase = (database: string): number => Number(database.slice('DB_'.length) || 1) - 1;

/**
 * SQL of a number above `highest`, at least the wall time in units of 1/64 ms, plus `key` further ones. The rest by 64 names the database that
 * made the number, so no other database makes it, and a partition moves with its numbers.
 */
export const nextNumber = ({ database, wallNow }: Pick<Shard, 'database' | 'wallNow'>, highest: SQL, key: SQL = sql`0`): SQL =>
  sql`(max(coalesce(${highest}, 0) / ${sql.raw(String(NUMBERS_PER_MS))} + 1, ${wallNow}) + ${key}) * ${sql.raw(String(NUMBERS_PER_MS))}
    + ${sql.raw(String(positionOfDatabase(database) % NUMBERS_PER_MS))}`;
