import { getTableName } from 'drizzle-orm';
import { expect } from 'vitest';
import { NOT_OWNED, OWNED } from '#platform/db/partitions/owned-rows.ts';
import { listTables } from '../fixtures/database-dump.ts';

const UUID = '????????-????-7???-[89ab]???-????????????';
const PARTITIONS_EACH = 8;
const hex = (partition: number): string => partition.toString(16).padStart(3, '0');

/** Columns with ids of accounts of other partitions, or of none. */
const OF_OTHERS: Record<string, string> = {
  'support_messages.author_id': 'Staff answers tickets of all accounts.',
  'audit_entries.actor_id': 'Members and staff of any database act on an account.',
  'audit_entries.subject_id': 'A person of any database may be a member.',
  'members.person_id': 'A person of any database may be a member.',
  'joined_accounts.account_id': 'A person may be a member of accounts in any database.',
  'accounts.owner_id': 'A person of any database may own an account.',
  'mails.subject_id': 'The owner of an account may be a person of any database.',
  'persons.last_account_id': 'The account may be one that the person is a member of.',
};

const ONLY_IN = { 'the directory': null, 'the first database, for the deployment': 0 } as Record<string, number | null>;

/** SQL of the partition in a column, null if the column has no id. */
const partitionIn = (name: string): string => `CASE
  WHEN typeof(r."${name}") = 'text' AND r."${name}" GLOB '${UUID}' THEN substr(r."${name}", 21, 3)
  WHEN ${/(?:^|_)id$/.test(name)} AND typeof(r."${name}") = 'blob' AND length(r."${name}") = 16 AND substr(hex(r."${name}"), 13, 1) = '7'
    THEN lower(substr(hex(r."${name}"), 18, 3)) END`;

/**
 * Fails if a database has a row of an account of another database, a row with ids of two partitions, or rows of a table that another database
 * holds for all. Each table states how its rows belong to a partition (`owned-rows.ts`).
 */
export async function expectRowsAtHome(databases: readonly D1Database[]): Promise<void> {
  const strays: unknown[] = [];
  for (const [number, database] of databases.entries()) {
    const range = `'${hex(number * PARTITIONS_EACH)}' AND '${hex((number + 1) * PARTITIONS_EACH - 1)}'`;
    const named = new Set([...OWNED.map(({ name }) => name), ...NOT_OWNED.flatMap(({ tables }) => tables.map(getTableName))]);
    const unnamed = (await listTables(database)).filter((name) => !named.has(name) && name !== 'd1_migrations');
    strays.push(...unnamed.map((name) => `${name} is in neither list of owned-rows.ts`));
    const asked = OWNED.flatMap(({ name, columns, partition }) => {
      const own = partition('r');
      const misplaced = `SELECT '${name}' AS "table", ${own} AS found FROM "${name}" r WHERE ${own} NOT BETWEEN ${range} LIMIT 5`;
      const ids = columns.filter((column) => !column.getSQLType().startsWith('integer') && !OF_OTHERS[`${name}.${column.name}`]);
      const mixed = ids.map(
        (column) =>
          `SELECT '${name}.${column.name}' AS "table", ${partitionIn(column.name)} AS found, ${own} AS own FROM "${name}" r
            WHERE ${partitionIn(column.name)} <> ${own} LIMIT 5`,
      );
      return [misplaced, ...mixed];
    });
    const elsewhere = NOT_OWNED.filter(({ where }) => where in ONLY_IN && ONLY_IN[where] !== number)
      .flatMap(({ tables }) => tables)
      .map((table) => `SELECT '${getTableName(table)}' AS "table", 'a row' AS found FROM "${getTableName(table)}" LIMIT 1`);
    const answers = await database.batch([...asked, ...elsewhere].map((sql) => database.prepare(sql)));
    strays.push(...answers.flatMap(({ results }) => results.map((row) => ({ database: number + 1, ...(row as object) }))));
  }
  expect(strays).toEqual([]);
}
