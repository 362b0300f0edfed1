import { expect } from 'vitest';
import { type Partition, partitionOf } from '#core/ids.ts';
import { listTables } from '../fixtures/database-dump.ts';

const UUID = '????????-????-7???-[89ab]???-????????????';
const ULIDS = ['evt_', 'ms_', 'nsa_'];
const PARTITIONS_EACH = 8;

/** Columns with ids of rows that belong to no account, or may belong to one of another database. */
const ELSEWHERE: Record<string, string> = {
  'login_nonces.nonce': 'A used nonce of a sign-in has a random id, and is in the first database.',
  'd1_migrations.name': 'The platform writes this table.',
};

const databaseOf = (partition: Partition): number => Math.floor(partition / PARTITIONS_EACH);

/** Fails if a database has a row with an id of an account of another database. */
export async function expectPlacedRows(databases: readonly D1Database[]): Promise<void> {
  const strays: string[] = [];
  for (const [number, database] of databases.entries()) {
    const range = [number * PARTITIONS_EACH, (number + 1) * PARTITIONS_EACH - 1].map((partition) =>
      partition.toString(16).padStart(3, '0'),
    );
    for (const table of await listTables(database)) {
      const { results: columns } = await database
        .prepare(`SELECT name FROM pragma_table_info(?) WHERE type IN ('TEXT', 'BLOB')`)
        .bind(table)
        .all<{ name: string }>();
      const asked = columns.filter(({ name }) => ELSEWHERE[`${table}.${name}`] === undefined);
      if (asked.length === 0) continue;
      const isStray = (name: string) =>
        `("${name}" GLOB '${UUID}' AND substr("${name}", 21, 3) NOT BETWEEN '${range[0]}' AND '${range[1]}'
          OR ${/(?:^|_)id$/.test(name)} AND typeof("${name}") = 'blob' AND length("${name}") = 16 AND substr(hex("${name}"), 13, 1) = '7'
          AND lower(substr(hex("${name}"), 18, 3)) NOT BETWEEN '${range[0]}' AND '${range[1]}')`;
      const isUlid = (name: string) => ULIDS.map((prefix) => `"${name}" GLOB '${prefix}*'`).join(' OR ');
      const found = await database.batch<{ name: string; id: string; stray: number }>(
        asked.map(({ name }) =>
          database.prepare(
            `SELECT '${name}' AS name, CAST("${name}" AS TEXT) AS id, ${isStray(name)} AS stray FROM "${table}" WHERE ${isStray(name)} OR ${isUlid(name)}`,
          ),
        ),
      );
      for (const { name, id, stray } of found.flatMap(({ results }) => results)) {
        const partition = stray ? null : partitionOf(id);
        if (stray || (partition !== null && databaseOf(partition) !== number))
          strays.push(`${table}.${name} of database ${number + 1}: ${id}`);
      }
    }
  }
  expect(strays).toEqual([]);
}
