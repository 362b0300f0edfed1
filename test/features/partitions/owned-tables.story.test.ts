import { getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { describe, expect, it } from 'vitest';
import { NOT_OWNED, OWNED } from '#platform/db/partitions/owned-rows.ts';
import { WITHOUT_ROWID } from '#platform/db/partitions/without-rowid.ts';
import { testEnv } from '../../support/runner/env.ts';

const modules = import.meta.glob<Record<string, unknown>>('../../../worker/platform/db/tables/**/*.ts', { eager: true });
const tables = [
  ...new Set(
    Object.values(modules)
      .flatMap((module) => Object.values(module))
      .filter((value): value is SQLiteTable => is(value, SQLiteTable))
      .map(getTableName),
  ),
].sort();

describe('ownership of tables', () => {
  it('each table states once how its rows belong to a partition, or that they belong to none', () => {
    const stated = [...OWNED.map(({ name }) => name), ...NOT_OWNED.flatMap((one) => one.tables.map(getTableName))];
    expect(stated.sort()).toEqual(tables);
  });

  it('tables without a rowid are those that the migrations create so', async () => {
    const { results } = await testEnv.DB.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'table'").all<{
      name: string;
      sql: string;
    }>();
    const rowless = results.filter(({ sql }) => /WITHOUT ROWID\s*$/i.test(sql)).map(({ name }) => name);
    expect(rowless.filter((name) => tables.includes(name)).sort()).toEqual([...WITHOUT_ROWID].sort());
  });

  it('each key of an owned table is unique in its database', async () => {
    for (const { name, key, hasRowid } of OWNED) {
      const { results } = await testEnv.DB.prepare(
        `SELECT i.name, (SELECT group_concat(c.name) FROM pragma_index_info(i.name) c) AS columns FROM pragma_index_list('${name}') i WHERE i."unique" = 1`,
      ).all<{ columns: string }>();
      const columns = key.map((column) => column.name).join();
      const isRowid = hasRowid && key.length === 1 && key[0]!.primary && key[0]!.getSQLType() === 'integer';
      expect([name, isRowid || results.some((index) => index.columns === columns)]).toEqual([name, true]);
    }
  });
});
