/**
 * Copies the rows of a partition from one database to another as JSON text that no JavaScript parses, so that all values stay exact.
 * @module
 */

import { type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core';
import type { Db } from '#platform/context.ts';
import { setOf } from '../among.ts';
import { isConstraint } from '../commit.ts';
import { isBlob, keyText, OWNED, type OwnedTable } from './owned-rows.ts';

/** Rows that a page passes, and characters of those that it copies. The database accepts 2 MB. */
const PAGE_ROWS = 4_000;
const PAGE_CHARACTERS = 700_000;
/** D1 refuses functions with more arguments. */
const ARGUMENTS_MAX = 30;

export const tableNamed = (name: string): OwnedTable => OWNED.find((one) => one.name === name)!;

/** Names both modes, as every statement for both does. */
const ofBothModes = ({ columns }: OwnedTable): SQL =>
  columns.some(({ name }) => name === 'livemode') ? sql`t.livemode IN (0, 1)` : sql`true`;
const isIn = (table: OwnedTable, row: string, partition: string): SQL => sql`${sql.raw(table.partition(row))} = ${partition}`;
const isCopied = (table: OwnedTable, partition: string): SQL =>
  table.shared ? sql`(${isIn(table, 't', partition)} OR ${sql.raw(table.shared('t'))})` : isIn(table, 't', partition);

const copiedColumns = ({ columns, computed }: OwnedTable): SQLiteColumn[] => columns.filter(({ name }) => !(name in computed));

const chunksOf = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: Math.ceil(all.length / ARGUMENTS_MAX) }, (_, i) => all.slice(i * ARGUMENTS_MAX, (i + 1) * ARGUMENTS_MAX));

/** JSON of a row: arrays of its columns in the order of the table. */
const rowText = (table: OwnedTable): SQL =>
  sql.raw(
    `json_array(${chunksOf(copiedColumns(table))
      .map((some) => keyText(some, 't'))
      .join(', ')})`,
  );

const decoded = (column: SQLiteColumn, value: string): string =>
  isBlob(column) ? `CASE substr(${value}, 1, 1) WHEN 'x' THEN unhex(substr(${value}, 2)) ELSE substr(${value}, 2) END` : value;

/** Position of a walk in the order of storage, which lists show. */
const walkOf = ({
  hasRowid,
  key,
}: OwnedTable): { order: string; text: string; after(position: string): SQL; upTo(position: string): SQL } => {
  const order = hasRowid ? 't.rowid' : key.map(({ name }) => `t.${name}`).join(', ');
  const values = (position: string): SQL =>
    hasRowid
      ? sql`CAST(${position} AS INTEGER)`
      : sql
          .join(
            key.map((column, i) => sql.raw(decoded(column, `(p.value ->> '$[${i}]')`))),
            sql`, `,
          )
          .append(sql` FROM (SELECT ${position} AS value) p`);
  const compare = (operator: string, position: string): SQL =>
    hasRowid
      ? sql`t.rowid ${sql.raw(operator)} ${values(position)}`
      : sql`(${sql.raw(order)}) ${sql.raw(operator)} (SELECT ${values(position)})`;
  return {
    order,
    text: hasRowid ? 't.rowid' : keyText(key, 't'),
    after: (position) => (position === '' ? sql`true` : compare('>', position)),
    upTo: (position) => compare('<=', position),
  };
};

interface CopiedPage {
  /** JSON array of rows. */
  rows: string;
  copied: number;
  /** Position after which the next page begins. null: none is left. */
  last: string | null;
}

/** Reads the next rows of a partition, in the order of storage. */
async function readPage(db: Db, table: OwnedTable, partition: string, after: string): Promise<CopiedPage> {
  const walk = walkOf(table);
  const page = await db.get<CopiedPage & { seen: number }>(sql`WITH page AS MATERIALIZED (
      SELECT ${sql.raw(walk.text)} AS walk_key, CASE WHEN ${isCopied(table, partition)} THEN ${rowText(table)} END AS row_text
      FROM ${sql.raw(table.name)} t WHERE ${ofBothModes(table)} AND ${walk.after(after)} ORDER BY ${sql.raw(walk.order)} LIMIT ${PAGE_ROWS}),
    numbered AS MATERIALIZED (SELECT *, row_number() OVER () AS n, sum(coalesce(length(row_text), 0)) OVER (ROWS UNBOUNDED PRECEDING) AS size FROM page),
    cut AS MATERIALIZED (SELECT * FROM numbered WHERE size - coalesce(length(row_text), 0) < ${PAGE_CHARACTERS})
    SELECT json_group_array(json(row_text)) FILTER (WHERE row_text IS NOT NULL) AS rows, count(row_text) AS copied, count(*) AS seen,
      (SELECT CAST(walk_key AS TEXT) FROM cut ORDER BY n DESC LIMIT 1) AS last FROM cut`);
  const { seen, ...rest } = page!;
  return seen === 0 ? { ...rest, last: null } : rest;
}

/** Statement that writes rows over those with the same keys. */
function writeRows(db: Db, table: OwnedTable, rows: string) {
  const copied = copiedColumns(table);
  const pathOf = (column: SQLiteColumn): string => {
    const at = copied.indexOf(column);
    return decoded(column, `(j.value ->> '$[${Math.floor(at / ARGUMENTS_MAX)}][${at % ARGUMENTS_MAX}]')`);
  };
  const computed = Object.entries(table.computed).flatMap(([name, compute]) => (compute ? [{ name, value: compute(pathOf) }] : []));
  const columns = [...copied.map((column) => ({ name: column.name, value: pathOf(column) })), ...computed];
  const keys = table.key.map(({ name }) => name);
  // A number that the target gave a row stays, unless its value follows from the row.
  const isSet = (name: string) =>
    !keys.includes(name) && (!(name in table.computed) || name !== 'row_number' || table.name === 'receipt_metadata');
  const set = columns.filter(({ name }) => isSet(name)).map(({ name }) => `${name} = excluded.${name}`);
  // Another partition's row with the same key stays. The comparison then finds that one is missing.
  const action =
    set.length === 0
      ? 'DO NOTHING'
      : `DO UPDATE SET ${set.join(', ')} WHERE ${table.partition(table.name)} IS ${table.partition('excluded')}`;
  return db.run(
    sql`INSERT INTO ${sql.raw(table.name)} (${sql.raw(columns.map(({ name }) => name).join(', '))})
      SELECT ${sql.raw(columns.map(({ value }) => value).join(', '))} FROM json_each(${rows}) j WHERE true
      ON CONFLICT (${sql.raw(keys.join(', '))}) ${sql.raw(action)}`,
  );
}

/** SQL condition on `t`: its key is one of these, given as JSON texts. */
function hasKeyAmong(table: OwnedTable, keys: readonly string[]): SQL {
  const fields = table.key.map((column, i) => ({ name: `t.${column.name}`, value: decoded(column, `(k.value ->> '$[${i}]')`) }));
  const list = (part: 'name' | 'value') => sql.raw(fields.map((field) => field[part]).join(', '));
  if (!table.hasRowid) return sql`(${list('name')}) IN (SELECT ${list('value')} FROM ${setOf(keys)} k)`;
  const isKey = sql.raw(fields.map(({ name, value }) => `${name} = ${value}`).join(' AND '));
  const name = sql.raw(table.name);
  return sql`t.rowid IN (SELECT t.rowid FROM ${setOf(keys)} k CROSS JOIN ${name} t ON ${isKey} WHERE ${ofBothModes(table)})`;
}

/** Deletes rows, but none of another partition. */
const deleteKeys = (db: Db, table: OwnedTable, partition: string, keys: readonly string[]) =>
  db.run(
    sql`DELETE FROM ${sql.raw(table.name)} AS t WHERE ${ofBothModes(table)} AND ${hasKeyAmong(table, keys)}
      AND coalesce(${sql.raw(table.partition('t'))}, ${partition}) = ${partition}`,
  );

interface Databases {
  from: Db;
  to: Db;
}

/** Rows for each statement of changed keys, about 2 KB each. */
const KEYS_MAX = 150;

/** Copies rows that changed, and deletes those that are gone. */
async function copyKeys({ from, to }: Databases, table: OwnedTable, partition: string, keys: readonly string[]): Promise<void> {
  for (let i = 0; i < keys.length; i += KEYS_MAX) {
    const some = keys.slice(i, i + KEYS_MAX);
    const found = await from.get<{ rows: string; keys: string }>(
      sql`SELECT json_group_array(json(${rowText(table)})) AS rows, json_group_array(${sql.raw(keyText(table.key, 't'))} || '') AS keys
        FROM ${sql.raw(table.name)} t WHERE ${ofBothModes(table)} AND ${hasKeyAmong(table, some)}`,
    );
    const present = new Set(JSON.parse(found!.keys) as string[]);
    const gone = some.filter((key) => !present.has(key));
    if (gone.length > 0) await deleteKeys(to, table, partition, gone);
    if (present.size === 0) continue;
    try {
      await writeRows(to, table, found!.rows);
    } catch (error) {
      if (!isConstraint(error)) throw error;
      // A unique value went from one of the rows to another, perhaps of a later statement.
      await to.batch([deleteKeys(to, table, partition, keys.slice(i)), writeRows(to, table, found!.rows)] as never);
    }
  }
}

const LOG_MAX = 2_000;

/** Copies what changed since. Returns the number of changes read, 0: none was left. */
export async function copyChanges(databases: Databases, partition: string): Promise<number> {
  const changes = await databases.from.all<{ id: number; name: string; key: string }>(
    sql`SELECT id, changed_table AS name, key FROM changed_rows ORDER BY id LIMIT ${LOG_MAX}`,
  );
  const byTable = Map.groupBy(changes, ({ name }) => name);
  for (const table of OWNED) {
    const keys = new Set((byTable.get(table.name) ?? []).map(({ key }) => key));
    if (keys.size > 0) await copyKeys(databases, table, partition, [...keys]);
  }
  const last = changes.at(-1);
  if (last) await databases.from.run(sql`DELETE FROM changed_rows WHERE id <= ${last.id}`);
  return changes.length;
}

/** Copies the next page of a table. Idempotent. */
export async function copyPage(
  { from, to }: Databases,
  table: OwnedTable,
  partition: string,
  after: string,
): Promise<Omit<CopiedPage, 'rows'>> {
  const { rows, ...page } = await readPage(from, table, partition, after);
  try {
    if (page.copied > 0) await writeRows(to, table, rows);
    return page;
  } catch (error) {
    // A unique value went from a row that was copied before to one of this page, which is read again.
    if (!isConstraint(error) || (await copyChanges({ from, to }, partition)) === 0) throw error;
    return { copied: 0, last: after };
  }
}

const triggersOf = ({ isNeverUpdated }: OwnedTable) =>
  (['INSERT', 'UPDATE', 'DELETE'] as const).filter((event) => !isNeverUpdated || event !== 'UPDATE');
const triggerName = (table: OwnedTable, event: string): string => `changed_${table.name}_${event.toLowerCase()}`;

/** Creates the triggers that note the keys of changed rows of a partition. `partition` is three hex digits. */
export async function createTriggers(db: Db, partition: string): Promise<void> {
  for (const table of OWNED)
    await db.batch(
      triggersOf(table).map((event) => {
        const row = event === 'DELETE' ? 'old' : 'new';
        const isMine = `${table.partition(row)} = '${partition}'`;
        const when = table.shared ? `${isMine} OR ${table.shared(row)}` : isMine;
        const also = event === 'INSERT' && table.alsoChanged ? `${table.alsoChanged}; ` : '';
        return db.run(
          sql.raw(`CREATE TRIGGER IF NOT EXISTS ${triggerName(table, event)} AFTER ${event} ON ${table.name} WHEN ${when} BEGIN
            INSERT INTO changed_rows(changed_table, key) VALUES ('${table.name}', ${keyText(table.key, row)}); ${also}END`),
        );
      }) as never,
    );
}

/** Drops the triggers of `createTriggers`, and deletes what they noted. */
export async function dropTriggers(db: Db): Promise<void> {
  for (const table of OWNED)
    await db.batch(triggersOf(table).map((event) => db.run(sql.raw(`DROP TRIGGER IF EXISTS ${triggerName(table, event)}`))) as never);
  await db.run(sql`DELETE FROM changed_rows`);
}

/** Deletes the partition's rows on the next page of a table. Returns the position after which the next page begins, null: none is left. */
export async function deletePage(db: Db, table: OwnedTable, partition: string, after: string): Promise<string | null> {
  const walk = walkOf(table);
  const end = await db.get<{ last: string | null }>(
    sql`SELECT CAST(walk_key AS TEXT) AS last FROM (SELECT ${sql.raw(walk.text)} AS walk_key FROM ${sql.raw(table.name)} t WHERE ${ofBothModes(table)} AND ${walk.after(after)}
      ORDER BY ${sql.raw(walk.order)} LIMIT ${PAGE_ROWS}) LIMIT 1 OFFSET ${PAGE_ROWS - 1}`,
  );
  const last = end?.last ?? null;
  const isOnPage = last === null ? sql`true` : walk.upTo(last);
  await db.run(
    sql`DELETE FROM ${sql.raw(table.name)} AS t WHERE ${ofBothModes(table)} AND ${walk.after(after)} AND ${isOnPage} AND ${isIn(table, 't', partition)}`,
  );
  return last;
}

/** Integers are summed by their rest, so that no sum exceeds 64 bits. */
const MODULUS = 1_000_003;
/** Above most lengths, so that neither hides the other. */
const ENDS_WEIGHT = 10_007;

/** Numbers of a partition's rows, and weighted sums of the integers, and of the lengths, first and final characters of texts, as they are copied. */
export async function sumRows(db: Db, table: OwnedTable, partition: string): Promise<{ rows: number; sum: number }> {
  const terms = copiedColumns(table).map((column, i) => {
    const value = `t.${column.name}`;
    const text = `length(${value}) + ${ENDS_WEIGHT} * coalesce(unicode(${value}) + unicode(substr(${value}, -1)), 0)`;
    return `${i + 1} * coalesce(${column.getSQLType() === 'integer' ? `${value} % ${MODULUS}` : text}, 0)`;
  });
  const found = await db.get<{ rows: number; sum: number }>(
    sql`SELECT count(*) AS rows, coalesce(sum(${sql.raw(terms.join(' + '))}), 0) AS sum FROM ${sql.raw(table.name)} t
      WHERE ${ofBothModes(table)} AND ${isIn(table, 't', partition)}`,
  );
  return found!;
}

/** Lists the tables in which the rows of the partition differ between two databases. */
export async function listDifferent({ from, to }: Databases, partition: string): Promise<string[]> {
  const compared = await Promise.all(
    OWNED.map(async (table) => {
      const [source, target] = await Promise.all([sumRows(from, table, partition), sumRows(to, table, partition)]);
      const isEqual = source.rows === target.rows && source.sum === target.sum;
      return isEqual ? [] : [`${table.name}: ${source.rows} rows and ${target.rows}`];
    }),
  );
  return compared.flat();
}
