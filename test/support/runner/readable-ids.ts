import { decodeId, encodeId } from '#platform/db/tables/columns.ts';

export const originals = new WeakMap<D1Database, D1Database>();
/** The database itself, for the statements of the service. */
export const originalOf = (database: D1Database): D1Database => originals.get(database) ?? database;

/** Database for statements that tests write by hand: ids are text in parameters and results, and bytes in the rows. */
export function withReadableIds(database: D1Database): D1Database {
  const real = new WeakMap<object, D1PreparedStatement>();
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const all = async () => read(await statement.all());
    const wrapped = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values.map(encoded))),
      all,
      run: all,
      first: async (column?: string) => decoded(await (column === undefined ? statement.first() : statement.first(column))),
      raw: async () => ((await statement.raw()) as unknown[][]).map((row) => row.map(decodedValue)),
    } as unknown as D1PreparedStatement;
    real.set(wrapped, statement);
    return wrapped;
  };
  const readable = {
    prepare: (sql: string) => wrap(database.prepare(storable(sql))),
    batch: async (statements: D1PreparedStatement[]) =>
      (await database.batch(statements.map((statement) => real.get(statement) ?? statement))).map(read),
    exec: (sql: string) => database.exec(sql),
  } as unknown as D1Database;
  originals.set(readable, database);
  return readable;
}

const LITERAL = /'([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'/g;
const PRINTED = /printf\('[0-9a-f]{8}-[0-9a-f%]+-[0-9a-f]{4}-[0-9a-f]{4}-%012[dx]', [^()]*\)/g;
const storable = (sql: string): string =>
  sql.replaceAll(LITERAL, (_, id) => `x'${id.replaceAll('-', '')}'`).replaceAll(PRINTED, (id) => `unhex(${id}, '-')`);
const ID_BYTES = 16;
const encoded = (value: unknown): unknown => (typeof value === 'string' ? encodeId(value) : value);
const decodedValue = (value: unknown): unknown => (Array.isArray(value) && value.length === ID_BYTES ? decodeId(value) : value);
const decoded = (row: unknown): unknown =>
  row !== null && typeof row === 'object' && !Array.isArray(row)
    ? Object.fromEntries(Object.entries(row).map(([name, value]) => [name, decodedValue(value)]))
    : decodedValue(row);
const read = <T>(result: D1Result<T>): D1Result<T> => ({ ...result, results: result.results.map((row) => decoded(row) as T) });
