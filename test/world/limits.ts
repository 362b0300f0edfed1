import { AsyncLocalStorage } from 'node:async_hooks';
import type { Env } from '#platform/context.ts';

/** What one invocation may ask of others and read: less than the platform allows, so that it never comes to that. */
export const LIMITS = { subrequests: 900, rows: 100_000 };

/** What one invocation has asked for so far. */
interface Spent {
  subrequests: number;
  rows: number;
  /** Rows read to count what a list has in all. */
  counted: number;
  /** The statement that read most, for a failing test to show. */
  worst: { sql: string; rows: number };
  /** Drizzle's single reads throw away what they read: run once more for it, where an invocation may read much. */
  countsReads: boolean;
}

const invocations = new AsyncLocalStorage<Spent>();
const ask = () => {
  const spent = invocations.getStore();
  if (spent) spent.subrequests++;
  return spent;
};

/** Runs an invocation to its end, and fails it where it asked for more than it may. */
export async function withinLimits<T>(
  name: string,
  run: () => Promise<T>,
  { countsReads = false, rowsMax = LIMITS.rows }: { countsReads?: boolean; rowsMax?: number } = {},
): Promise<T> {
  const spent: Spent = { subrequests: 0, rows: 0, counted: 0, worst: { sql: '', rows: 0 }, countsReads };
  const answer = await invocations.run(spent, run);
  const { subrequests, rows, counted, worst } = spent;
  if (subrequests > LIMITS.subrequests || rows > rowsMax || rows + counted > LIMITS.rows)
    throw new Error(
      `${name} made ${subrequests} subrequests and read ${rows} rows, ${counted} to count: more than an invocation may, as in ${worst.sql}`,
    );
  return answer;
}

const network = globalThis.fetch;
globalThis.fetch = (...request: Parameters<typeof fetch>) => {
  ask();
  return network(...request);
};

/** The bindings of an environment, each counting what is asked of it by the invocation that asks. */
export const metered = <E extends Env>(env: E): E => ({
  ...env,
  DB: meteredDatabase(env.DB),
  ADMISSION: meteredObjects(env.ADMISSION),
  ENTITLEMENT: meteredObjects(env.ENTITLEMENT),
  ...(env.ARCHIVE ? { ARCHIVE: meteredVerbs(env.ARCHIVE) } : {}),
});

function meteredDatabase(database: D1Database): D1Database {
  const real = new WeakMap<object, { statement: D1PreparedStatement; sql: string }>();
  const read = <T>(result: D1Result<T>, sql: string): D1Result<T> => {
    const spent = invocations.getStore();
    const { rows_read: rows } = result.meta;
    if (spent) spent[/^\s*select count\(\*\)/i.test(sql) ? 'counted' : 'rows'] += rows;
    if (spent && rows > spent.worst.rows) spent.worst = { sql, rows };
    return result;
  };
  const wrap = (statement: D1PreparedStatement, sql: string): D1PreparedStatement => {
    const isRead = /^\s*(?:select|with)\b/i.test(sql);
    const all = async () => {
      ask();
      return read(await statement.all(), sql);
    };
    const bare =
      (verb: 'raw' | 'first') =>
      async (...options: unknown[]) => {
        const spent = ask();
        if (spent?.countsReads && isRead) read(await statement.all(), sql);
        return (statement[verb] as (...options: unknown[]) => Promise<unknown>)(...options);
      };
    const wrapped = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values), sql),
      all,
      run: all,
      raw: bare('raw'),
      first: bare('first'),
    } as unknown as D1PreparedStatement;
    real.set(wrapped, { statement, sql });
    return wrapped;
  };
  return {
    prepare: (sql: string) => wrap(database.prepare(sql), sql),
    batch: async (statements: D1PreparedStatement[]) => {
      ask();
      const known = statements.map((statement) => real.get(statement) ?? { statement, sql: 'a statement of a test' });
      const results = await database.batch(known.map(({ statement }) => statement));
      return results.map((result, index) => read(result, known[index]!.sql));
    },
  } as unknown as D1Database;
}

/** Verbs of an object or a bucket are subrequests, each of them. */
const meteredVerbs = <S extends object>(stub: S): S =>
  new Proxy(stub, {
    get: (_, verb) => {
      const value: unknown = Reflect.get(stub, verb);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        ask();
        return (stub as Record<PropertyKey, (...args: unknown[]) => unknown>)[verb]!(...args);
      };
    },
  });

function meteredObjects<N extends { getByName(name: string): object }>(objects: N): N {
  return new Proxy(objects, {
    get: (_, property) => {
      if (property === 'getByName') return (name: string) => meteredVerbs(objects.getByName(name));
      const value: unknown = Reflect.get(objects, property);
      return typeof value === 'function' ? value.bind(objects) : value;
    },
  });
}
