import { attempts } from '../outcome.ts';
import type { Case } from '../platform.ts';

const marks = (count: number): string => Array(count).fill('?').join();
const ones = (count: number): number[] => Array(count).fill(1);

export const D1_LIMIT_CASES: Record<string, Case> = {
  'errors of SQL': async ({ db }) => {
    const first = (sql: string) => () => db.prepare(sql).first();
    return attempts({
      syntax: first('SELEC 1'),
      incomplete: first('SELECT (1'),
      table: first('SELECT * FROM no_such_table'),
      column: first('SELECT no_such_column FROM sqlite_master'),
      function: first('SELECT no_such_function(1)'),
      argumentCount: first('SELECT abs(1, 2)'),
      json: first("SELECT json_extract('{', '$')"),
      empty: first(''),
      comment: first('-- nothing'),
      begin: first('BEGIN'),
      savepoint: first('SAVEPOINT a'),
      commit: first('COMMIT'),
      rollback: first('ROLLBACK'),
      overflow: first('SELECT abs(-9223372036854775808)'),
    });
  },

  'limits of a statement and of a value': async ({ db }) => {
    await db.prepare('CREATE TABLE wide (a TEXT)').run();
    const length = (count: number) => () => db.prepare('SELECT length(?) AS n').bind('x'.repeat(count)).first('n');
    const compound = (count: number) => () => db.prepare(Array(count).fill('SELECT 1 AS a').join(' UNION ALL ')).first('a');
    const nested = (depth: number) => () => db.prepare(`SELECT ${'('.repeat(depth)}1${' + 1)'.repeat(depth)} AS a`).first('a');
    const args = (count: number) => () => db.prepare(`SELECT max(${ones(count).join()}) AS a`).first('a');
    return attempts({
      like: () => db.prepare("SELECT 'a' LIKE ? AS v").bind('a'.repeat(50)).first('v'),
      longLike: () => db.prepare("SELECT 'a' LIKE ? AS v").bind('a'.repeat(51)).first('v'),
      likeBytes: () => db.prepare("SELECT 'a' LIKE ? AS v").bind('ü'.repeat(26)).first('v'),
      glob: () => db.prepare("SELECT 'a' GLOB ? AS v").bind('a'.repeat(51)).first('v'),
      value: length(2_000_000),
      largeValue: length(2_200_001),
      storedLargeValue: () => db.prepare('INSERT INTO wide VALUES (?)').bind('x'.repeat(2_200_001)).run(),
      largeRow: () => db.prepare('SELECT length(zeroblob(2200001)) AS n').first('n'),
      sql: () => db.prepare(`SELECT 1 AS a -- ${'x'.repeat(99_000)}`).first('a'),
      longSql: () => db.prepare(`SELECT 1 AS a -- ${'x'.repeat(100_000)}`).first('a'),
      compound: compound(5),
      longCompound: compound(6),
      nested: nested(90),
      deep: nested(101),
      arguments: args(32),
      manyArguments: args(127),
      tooManyArguments: args(128),
      columns: () =>
        db
          .prepare(`CREATE TABLE columns_100 (${Array.from({ length: 100 }, (_, i) => `c${i}`).join()})`)
          .run()
          .then(() => 'made'),
      manyColumns: () => db.prepare(`CREATE TABLE columns_101 (${Array.from({ length: 101 }, (_, i) => `c${i}`).join()})`).run(),
    });
  },

  'at most 100 bound values, and exactly as many as the statement has': async ({ db }) => {
    const within = (count: number) => () =>
      db
        .prepare(`SELECT 1 IN (${marks(count)}) AS v`)
        .bind(...ones(count))
        .first('v');
    return attempts({
      hundred: within(100),
      more: within(101),
      none: () => db.prepare('SELECT ? AS v').first(),
      few: () => db.prepare('SELECT ?, ?').bind(1).first(),
      many: () => db.prepare('SELECT ? AS v').bind(1, 2).first(),
      numbered: () => db.prepare('SELECT ?2 AS b, ?1 AS a, ?2 AS c').bind(1, 2).first(),
      gap: () => db.prepare('SELECT ?3 AS c').bind(1, 2, 3).first(),
      quoted: () => db.prepare(`SELECT '?' AS a, "?" AS b, ? AS c -- ?`).bind(1).first(),
      quotedName: () => db.prepare(`SELECT ? AS "a?b" /* ? */`).bind(1).first(),
      number101: () => db.prepare('SELECT ?101 AS v').bind(1).first(),
    });
  },
};
