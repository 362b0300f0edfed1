import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import { hex } from '#core/encoding.ts';
import { encodeId } from './tables/columns.ts';

export const setOf = (values: readonly (string | number)[]): SQL => sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;

/** Parameter that an id column is compared with. A column itself encodes what `eq` and its like compare it with. */
export const boundId = (id: string | null): SQL => sql`${id === null ? null : sql.param(id, { mapToDriverValue: encodeId })}`;

/** SQL set of ids as their columns have them. */
export const setOfIds = (ids: readonly string[]): SQL => sql`(SELECT ${idOfText(sql`value`)} FROM json_each(${JSON.stringify(ids)}))`;

/** SQL condition: `column` is one of `ids`. Takes one parameter. */
export const amongIds = (column: SQLiteColumn, ids: readonly (string | number)[]): SQL =>
  sql`${column} IN ${column.getSQLType() === 'blob' ? setOfIds(ids as string[]) : setOf(ids)}`;

/** Objects or values as table `j` in one parameter. Read a field with `j.value ->> 'name'`. */
export const jsonRows = (rows: readonly unknown[]): SQL => sql`json_each(${JSON.stringify(rows)}) j`;

/** SQL of a field of `jsonRows`. `path`: `name` or `outer.inner`. */
export const fieldOf = (path: string): SQL => sql.raw(`j.value ->> '$.${path}'`);

/** SQL of a field of `jsonRows` that is an id, as its column has it. */
export const idField = (path: string): SQL => idOfText(fieldOf(path));

const SHAPE = sql.raw("GLOB '????????-????-????-????-????????????'");
const DIGITS = sql.raw("NOT GLOB '*[^-0-9a-f]*'");

/** Text of a column of bytes in hexadecimal digits, for `digitsField`. JSON has no bytes. */
export function digitsOf(column: SQLiteColumn, text: string): string {
  const stored = column.mapToDriverValue(text);
  return typeof stored === 'string' ? stored : hex.encode(stored as Uint8Array);
}

/** SQL of a field of `jsonRows` that `digitsOf` made, as its column has it. */
export const digitsField = (path: string): SQL => sql`coalesce(unhex(${fieldOf(path)}), ${fieldOf(path)})`;

/** SQL of a field of `jsonRows` as this column has it. */
export const fieldAs = (column: SQLiteColumn, path: string): SQL => (column.getSQLType() === 'blob' ? idField(path) : fieldOf(path));

/** SQL of a text as an id column has it. Like `encodeId`, it makes bytes of canonical UUIDs alone. */
export const idOfText = (text: SQL): SQL =>
  sql`CASE WHEN ${text} ${SHAPE} AND ${text} ${DIGITS} THEN coalesce(unhex(${text}, '-'), ${text}) ELSE ${text} END`;

/** SQL of the text of an id column: a UUID, or what is no UUID. */
export const textOfId = (id: SQL): SQL =>
  sql`(SELECT CASE typeof(i) WHEN 'blob' THEN lower(substr(hex(i), 1, 8) || '-' || substr(hex(i), 9, 4) || '-' || substr(hex(i), 13, 4)
    || '-' || substr(hex(i), 17, 4) || '-' || substr(hex(i), 21)) ELSE i END FROM (SELECT ${id} AS i))`;
