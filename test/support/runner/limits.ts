import { AsyncLocalStorage } from 'node:async_hooks';
import { CALLS_MAX, currentBudget, withBudget } from '#core/isolate/budget.ts';
import type { Env } from '#platform/context.ts';
import { noteStatement } from '../faults/tenant-statements.ts';
import { boundDatabases, hasThree } from './env.ts';
import { originals, withReadableIds } from './readable-ids.ts';

/** Limits of subrequests and rows per invocation. The service itself counts calls. */
export const LIMITS = { subrequests: CALLS_MAX, rows: 100_000 };

interface Spent {
  rows: number;
  counted: number;
  worst: { sql: string; rows: number };
  /** Drizzle's single reads discard their row counts, so they run again in invocations that may read much. */
  countsReads: boolean;
}

const invocations = new AsyncLocalStorage<Spent>();

/** Runs an invocation. Throws if a limit is exceeded. */
export async function withinLimits<T>(
  name: string,
  run: () => Promise<T>,
  { countsReads = false, rowsMax = LIMITS.rows }: { countsReads?: boolean; rowsMax?: number } = {},
): Promise<T> {
  const spent: Spent = { rows: 0, counted: 0, worst: { sql: '', rows: 0 }, countsReads };
  const [answer, subrequests] = await invocations.run(spent, () => withBudget(async () => [await run(), currentBudget().spent] as const));
  const { rows, counted, worst } = spent;
  if (subrequests >= LIMITS.subrequests || rows > rowsMax || rows + counted > LIMITS.rows)
    throw new Error(
      `${name} made ${subrequests} subrequests and read ${rows} rows, ${counted} to count: more than an invocation may, as in ${worst.sql}`,
    );
  return answer;
}

/** Environment for code of the service that a test calls directly: `DB` is the first database alone. */
export function ofService(env: Env): Env {
  if (!hasThree) return env;
  const { DB } = env;
  const asService = <T>(run: () => T): T => invocations.run({ rows: 0, counted: 0, worst: { sql: '', rows: 0 }, countsReads: false }, run);
  const first = {
    prepare: (sql: string) => asService(() => DB.prepare(sql)),
    batch: (statements: D1PreparedStatement[]) => asService(() => DB.batch(statements)),
  };
  return { ...env, DB: first as unknown as D1Database };
}

/** Databases of the service, metered. Statements of a test on `DB` go to all databases and name ids as text. */
export const metered = <E extends Env>(env: E): E => {
  const databases = Object.entries(boundDatabases()).map(([name, database]) => {
    const ofTests = name === 'DB' ? env.DB : withReadableIds(database);
    const withSession = (constraint: D1SessionConstraint) => meteredDatabase(database.withSession(constraint), ofTests);
    const service = Object.assign(meteredDatabase(database, ofTests), { withSession });
    originals.set(service, database);
    return [name, service];
  });
  return { ...env, ...Object.fromEntries(databases) };
};

function meteredDatabase(database: Pick<D1Database, 'prepare' | 'batch'>, ofTests: D1Database): D1Database {
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
    const all = async () => read(await statement.all(), sql);
    const bare =
      (verb: 'raw' | 'first') =>
      async (...options: unknown[]) => {
        if (invocations.getStore()?.countsReads && isRead) read(await statement.all(), sql);
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
    prepare: (sql: string) => {
      // Outside of an invocation, a statement is of a test.
      if (!invocations.getStore()) return ofTests.prepare(sql);
      noteStatement(sql);
      return wrap(database.prepare(sql), sql);
    },
    batch: async (statements: D1PreparedStatement[]) => {
      const known = statements.flatMap((statement) => real.get(statement) ?? []);
      if (known.length < statements.length) return ofTests.batch(statements.map((one) => real.get(one)?.statement ?? one));
      const results = await database.batch(known.map(({ statement }) => statement));
      return results.map((result, index) => read(result, known[index]!.sql));
    },
  } as unknown as D1Database;
}
