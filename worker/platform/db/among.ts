import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';

/** The values as a set in one parameter, however many they are. */
export const setOf = (values: readonly (string | number)[]): SQL => sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;

/** True for rows whose `column`, or the SQL given as text, is one of `ids`. Takes one parameter. */
export const amongIds = (column: SQLiteColumn | SQL | string, ids: readonly (string | number)[]): SQL =>
  sql`${typeof column === 'string' ? sql.raw(column) : column} IN ${setOf(ids)}`;

/** Objects or values as the table `j` of one parameter. Reads a field by `j.value ->> 'name'`. */
export const jsonRows = (rows: readonly unknown[]): SQL => sql`json_each(${JSON.stringify(rows)}) j`;
