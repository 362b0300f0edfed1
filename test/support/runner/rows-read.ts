import type { Env } from '#platform/context.ts';

export interface Reading {
  sql: string;
  rows: number;
  written: number;
}

const isSelect = (sql: string): boolean => /^\s*(?:select|with)\b/i.test(sql);

/**
 * Real database that records `meta.rows_read` and `meta.rows_written` per statement, as the platform bills them. Drizzle's raw reads
 * discard them, so a SELECT runs once more. The service has no hook for this.
 */
export function withRowCount(env: Env): { env: Env; readings: Reading[] } {
  const readings: Reading[] = [];
  const real = new WeakMap<object, { statement: D1PreparedStatement; sql: string }>();
  const note = <T>(sql: string, result: D1Result<T>): D1Result<T> => {
    readings.push({ sql, rows: result.meta.rows_read, written: result.meta.rows_written });
    return result;
  };

  function wrap(statement: D1PreparedStatement, sql: string): D1PreparedStatement {
    const all = async () => note(sql, await statement.all());
    const wrapped = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values), sql),
      all,
      run: all,
      first: async (column: string) => {
        await all();
        return statement.first(column);
      },
      raw: async () => {
        const { results } = await all();
        // Equal column names of two tables would overwrite each other in objects. Only one table is ever written and returned.
        return isSelect(sql) ? statement.raw() : results.map((row) => Object.values(row as object));
      },
    } as unknown as D1PreparedStatement;
    real.set(wrapped, { statement, sql });
    return wrapped;
  }

  const DB = {
    prepare: (sql: string) => wrap(env.DB.prepare(sql), sql),
    batch: async (statements: D1PreparedStatement[]) => {
      const known = statements.map((statement) => real.get(statement)!);
      const results = await env.DB.batch(known.map(({ statement }) => statement));
      return results.map((result, i) => note(known[i]!.sql, result));
    },
  } as unknown as D1Database;
  return { env: { ...env, DB }, readings };
}

export const rowsOf = (readings: Reading[]): number => readings.reduce((sum, { rows }) => sum + rows, 0);
export const writtenBy = (readings: Reading[]): number => readings.reduce((sum, { written }) => sum + written, 0);

export const worstOf = (readings: Reading[]): string =>
  readings
    .toSorted((a, b) => b.rows - a.rows)
    .slice(0, 3)
    .map(({ sql, rows }) => `${rows}: ${sql.replaceAll(/\s+/g, ' ').slice(0, 300)}`)
    .join('\n');
