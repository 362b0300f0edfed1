import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';

export const setOf = (values: readonly (string | number)[]): SQL => sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;

/** SQL condition: `column` is one of `ids`. Takes one parameter. */
export const amongIds = (column: SQLiteColumn | SQL | string, ids: readonly (string | number)[]): SQL =>
  sql`${typeof column === 'string' ? sql.raw(column) : column} IN ${setOf(ids)}`;

/** Objects or values as table `j` in one parameter. Read a field with `j.value ->> 'name'`. */
export const jsonRows = (rows: readonly unknown[]): SQL => sql`json_each(${JSON.stringify(rows)}) j`;

/** SQL of a field of `jsonRows`. `path`: `name` or `outer.inner`. */
export const fieldOf = (path: string): SQL => sql.raw(`j.value ->> '$.${path}'`);
