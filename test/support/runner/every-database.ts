import { partitionOf } from '#core/ids.ts';

const ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?:evt|ms|nsa)_[0-9A-HJKMNP-TV-Z]{26}/g;
/** Partitions of each database without `PARTITIONS`. */
const PARTITIONS_EACH = 8;

type Values = Record<string, unknown>;
interface Asked {
  sql: string;
  values: unknown[];
}

/** Statements of tests ask every database, so that a test finds a row without knowing where the account is. A new row goes to the home of its ids. */
export function everyDatabase(databases: readonly D1Database[]): D1Database {
  const asked = new WeakMap<object, Asked>();

  /** Databases that a statement is for. */
  function databasesFor({ sql, values }: Asked): readonly D1Database[] {
    // Contents that a test has read itself.
    if (sql !== queryOf(sql) && /\bfrom events\b/i.test(queryOf(sql))) return databases.slice(0, 1);
    if (!/^\s*insert\b/i.test(sql)) return databases;
    const partition = [...values, sql].map(partitionIn).find((one) => one !== null);
    // A row made of the rows of a table is made in each database.
    if (partition === undefined && /\bfrom\b/i.test(sql) && !/json_each/i.test(sql)) return databases;
    return [databases[Math.floor((partition ?? 0) / PARTITIONS_EACH)] ?? databases[0]!];
  }

  const bound = (database: D1Database, { sql, values }: Asked) => {
    const statement = database.prepare(sql);
    return values.length > 0 ? statement.bind(...values) : statement;
  };
  const ask = async <T>(one: Asked, run: (statement: D1PreparedStatement) => Promise<T>): Promise<T[]> =>
    Promise.all(databasesFor(one).map((database) => run(bound(database, one))));
  const all = async <T>(one: Asked): Promise<D1Result<T>> => joined(one.sql, await ask(one, (statement) => statement.all<T>()));

  function wrap(one: Asked): D1PreparedStatement {
    const statement = {
      bind: (...values: unknown[]) => wrap({ ...one, values }),
      all: () => all(one),
      run: () => all(one),
      raw: async () => {
        const answers = await ask(one, (real) => real.raw<unknown[]>());
        return isTotal(one.sql, answers) ? [total(one.sql, answers.flat())] : answers.flat();
      },
      first: async (column?: string) => {
        const [row] = (await all<Values>(one)).results;
        return row === undefined ? null : column === undefined ? row : row[column];
      },
    } as unknown as D1PreparedStatement;
    asked.set(statement, one);
    return statement;
  }

  return {
    prepare: (sql: string) => wrap({ sql, values: [] }),
    batch: async (statements: D1PreparedStatement[]) => {
      const known = statements.map((statement) => asked.get(statement)!);
      const answers: D1Result[][] = known.map(() => []);
      for (const database of databases) {
        const here = known.flatMap((one, index) => (databasesFor(one).includes(database) ? [index] : []));
        if (here.length === 0) continue;
        const results = await database.batch(here.map((index) => bound(database, known[index]!)));
        for (const [i, index] of here.entries()) answers[index]!.push(results[i]!);
      }
      return known.map(({ sql }, index) => joined(sql, answers[index]!));
    },
  } as unknown as D1Database;
}

/** Partition of the first id in a parameter, as text or as bytes. */
function partitionIn(value: unknown): number | null {
  if (typeof value === 'string') {
    const [, inBytes] = /x'[0-9a-f]{12}7[0-9a-f]{3}[89ab]([0-9a-f]{3})[0-9a-f]{12}'/i.exec(value) ?? [];
    return value.match(ID)?.map(partitionOf)[0] ?? (inBytes === undefined ? null : Number.parseInt(inBytes, 16));
  }
  const bytes = value instanceof ArrayBuffer ? new Uint8Array(value) : value instanceof Uint8Array ? value : null;
  return bytes?.length === 16 && bytes[6]! >> 4 === 7 ? ((bytes[8]! & 15) << 8) | bytes[9]! : null;
}

/** Query behind the contents that a test has read itself. */
const queryOf = (sql: string): string => sql.replace(/^\s*with parts\b.*?json_each\(parts\.text\)\)/is, '');

function joined<T>(sql: string, answers: D1Result<T>[]): D1Result<T> {
  const results = isTotal(
    sql,
    answers.map((answer) => answer.results),
  )
    ? [total(sql, answers.flatMap((answer) => answer.results) as Values[]) as T]
    : answers.flatMap((answer) => answer.results);
  const sum = (count: (meta: D1Meta) => number) => answers.reduce((all, { meta }) => all + count(meta), 0);
  const meta = { ...answers[0]!.meta, changes: sum(({ changes }) => changes), rows_read: sum((one) => one.rows_read) };
  return { ...answers[0]!, results, meta: { ...meta, rows_written: sum((one) => one.rows_written) } };
}

const AGGREGATE = /^\s*select\s+(?:coalesce\()?(?:\(select\s+)?(?:count|sum|max|min|total)\(/i;

/** Whether each database answered with one aggregated row. */
const isTotal = (sql: string, answers: unknown[][]): boolean =>
  answers.length > 1 && AGGREGATE.test(queryOf(sql)) && !/\bgroup\s+by\b/i.test(sql) && answers.every(({ length }) => length === 1);

function total<T extends Values | unknown[]>(sql: string, rows: T[]): T {
  const [, verb = ''] = /^\s*select\s+(?:coalesce\()?(?:\(select\s+)?(\w+)\(/i.exec(queryOf(sql)) ?? [];
  const join =
    { max: Math.max, min: Math.min }[verb.toLowerCase()] ?? ((...numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0));
  const joinedAt = (name: string | number) => {
    const known = rows.map((row) => (row as Values)[name]).filter((value) => value !== null);
    return known.every((value) => typeof value === 'number') && known.length > 0 ? join(...(known as number[])) : (known[0] ?? null);
  };
  const [first] = rows as [T];
  return (
    Array.isArray(first) ? first.map((_, i) => joinedAt(i)) : Object.fromEntries(Object.keys(first).map((name) => [name, joinedAt(name)]))
  ) as T;
}
