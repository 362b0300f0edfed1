import { ApiError, assert } from '#core/errors.ts';
import { chargeCall } from '#core/isolate/budget.ts';

interface Timed {
  leftMs(): number;
}

const tooLate = () => new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });

/**
 * Limits a platform call to the caller's remaining time, and starts none without time left. Throws 503 temporarily_unavailable on timeout.
 * The outcome of the aborted call is unknown.
 */
export async function inTime<T>({ leftMs }: Timed, call: () => Promise<T>, failure: () => Error = tooLate): Promise<T> {
  if (leftMs() === 0) throw failure();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure()), leftMs());
  });
  // A call that throws before its promise is a rejection too, so that the timer ends.
  const answer = (async () => call())();
  return Promise.race([answer, deadline]).finally(() => clearTimeout(timer));
}

/**
 * Calls `read` after each wait until it returns a value. Returns null once the waits exceed `patienceMs`, or the caller's deadline comes
 * before the next one.
 */
export async function poll<T>(
  { leftMs }: Timed,
  { waitsMs, patienceMs }: { waitsMs: readonly number[]; patienceMs: number },
  read: () => Promise<T | null>,
): Promise<T | null> {
  let waited = 0;
  for (const wait of waitsMs) {
    waited += wait;
    if (waited > patienceMs || leftMs() <= wait) return null;
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const value = await read();
    if (value !== null) return value;
  }
  return null;
}

/** Text and values of each wrapped statement, because a batch may contain statements of several callers. */
const planned = new WeakMap<object, { sql: string; values: unknown[] }>();

/** Uses D1's error text for a lost answer, so that no verb mistakes a timeout for a refusal. */
const answerLost = () => new Error('D1_ERROR: no answer before the deadline');

/** Answer to a write while its partition is between two databases. */
export const betweenDatabases = () => new ApiError('temporarily_unavailable', { retryAfterSeconds: 5 });

/** Refuses writes of partitions that are not in the database, or are leaving it. */
export interface Fence {
  /** Three hex digits each. */
  readonly partitions: readonly string[];
  /** Database to ask, as far as the isolate knows. Throws 503 temporarily_unavailable if nothing may be written. */
  locate(isWrite: boolean): Promise<D1Database>;
  /** Reads after a refusal where the partitions are, so that a repeated call asks there. */
  refresh(): Promise<void>;
}

/** Any other statement counts as a write. */
const READS = /^\s*(?:select\b|with\b(?![\s\S]*\b(?:insert\s|replace\s+into|update\s|delete\s+from)))/i;
/** Fails with an error that no verb's own guard causes. */
const abortIfFenced = (values: string[]) => ({
  sql: `INSERT INTO held SELECT NULL, NULL WHERE EXISTS (SELECT 1 FROM held WHERE partition IN (${values.map(() => '?').join()}) AND state IN ('leaving', 'left', 'arriving'))`,
  values,
});

interface Access {
  /** Runs before each call. */
  check?: (() => Promise<void>) | undefined;
  fence?: Fence | undefined;
  /** Opens a session for reads of a replica. With it a write throws. */
  openSession?: ((on: D1Database) => Bound) | undefined;
}

type Bound = Pick<D1Database, 'prepare' | 'batch'>;

const native = (on: Bound, { sql, values }: { sql: string; values: unknown[] }): D1PreparedStatement => {
  const statement = on.prepare(sql);
  return values.length === 0 ? statement : statement.bind(...values);
};

/**
 * Wraps a database: each round trip is charged to the invocation's budget and limited by the caller's deadline. A timed-out write may still
 * be applied, so it fails like a lost answer. The verb's check for the write then times out too and ends in 503 temporarily_unavailable.
 * The same request replays it. A batch that the fence refused is not sent elsewhere: its facts and numbers are of this database.
 */
export function databaseInTime(database: D1Database, caller?: Timed, { check, fence, openSession }: Access = {}): D1Database {
  const trip = async <T>(call: () => Promise<T>): Promise<T> => {
    await check?.();
    chargeCall();
    return caller ? inTime(caller, call, answerLost) : call();
  };
  const guarded = abortIfFenced([...(fence?.partitions ?? [])]);
  const write = async (statements: D1PreparedStatement[]): Promise<D1Result[]> => {
    const on = await fence!.locate(true);
    const all = [guarded, ...statements.map((statement) => planned.get(statement)!)];
    try {
      return (await trip(() => on.batch(all.map((one) => native(on, one))))).slice(1);
    } catch (error) {
      if (!/constraint failed: held\b/i.test(String(error))) throw error;
      await fence!.refresh();
      throw betweenDatabases();
    }
  };
  const locate = async (): Promise<Bound> => {
    const on = (await fence?.locate(false)) ?? database;
    return openSession?.(on) ?? on;
  };
  const wrap = (sql: string, values: unknown[]): D1PreparedStatement => {
    const one = { sql, values };
    assert(!openSession || READS.test(sql), 'a reader never writes');
    const isWrite = fence !== undefined && !READS.test(sql);
    const written = async (): Promise<D1Result> => (await write([timed]))[0]!;
    const read = async <T>(run: (statement: D1PreparedStatement) => Promise<T>): Promise<T> => {
      const on = await locate();
      return trip(() => run(native(on, one)));
    };
    const timed = {
      bind: (...bound: unknown[]) => wrap(sql, bound),
      all: () => (isWrite ? written() : read((statement) => statement.all())),
      run: () => (isWrite ? written() : read((statement) => statement.run())),
      raw: async (options?: { columnNames?: false }) =>
        isWrite ? (await written()).results.map((row) => Object.values(row as object)) : read((statement) => statement.raw(options)),
    } as unknown as D1PreparedStatement;
    planned.set(timed, one);
    return timed;
  };
  return {
    prepare: (sql: string) => wrap(sql, []),
    batch: async (statements: D1PreparedStatement[]) => {
      if (fence && statements.some((statement) => !READS.test(planned.get(statement)!.sql))) return write(statements);
      const on = await locate();
      return trip(() => on.batch(statements.map((statement) => native(on, planned.get(statement)!))));
    },
  } as unknown as D1Database;
}
