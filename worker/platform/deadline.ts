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
  /** Database to ask after a refusal. Throws 503 temporarily_unavailable while the partitions are between two. */
  relocate(): Promise<D1Database>;
}

const WRITES = /^\s*(?:insert|update|delete|replace)\b|^\s*with\b[\s\S]*\b(?:insert\s+into|update\s|delete\s+from)/i;
const isFencedSql = (partitions: readonly string[]): string =>
  `SELECT 1 AS fenced FROM held WHERE partition IN (${partitions.map(() => '?').join()}) AND state IN ('leaving', 'left', 'arriving')`;

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
 * The same request replays it. A batch that the fence refused is tried once in the database that has the partition now.
 */
export function databaseInTime(database: D1Database, caller?: Timed, { check, fence, openSession }: Access = {}): D1Database {
  const trip = async <T>(call: () => Promise<T>): Promise<T> => {
    await check?.();
    chargeCall();
    return caller ? inTime(caller, call, answerLost) : call();
  };
  const values = [...(fence?.partitions ?? [])];
  const fenced = { sql: isFencedSql(values), values };
  const abortIfFenced = { sql: `INSERT INTO guard SELECT NULL WHERE EXISTS (${fenced.sql})`, values };
  const isFenced = async (on: D1Database): Promise<boolean> => (await trip(() => native(on, fenced).all())).results.length > 0;
  const write = async (statements: D1PreparedStatement[]): Promise<D1Result[]> => {
    const send = async (on: D1Database): Promise<D1Result[]> => {
      const all = [abortIfFenced, ...statements.map((statement) => planned.get(statement)!)];
      return (await trip(() => on.batch(all.map((one) => native(on, one))))).slice(1);
    };
    /** Returns null if the fence refused the batch. The verb's own condition may have aborted it too. */
    const trySend = (on: D1Database): Promise<D1Result[] | null> =>
      send(on).catch(async (error: unknown) => {
        if (!/constraint failed: guard\b/i.test(String(error)) || !(await isFenced(on))) throw error;
        return null;
      });
    const stored = (await trySend(await fence!.locate(true))) ?? (await trySend(await fence!.relocate()));
    if (stored === null) throw betweenDatabases();
    return stored;
  };
  const locate = async (): Promise<Bound> => {
    const on = (await fence?.locate(false)) ?? database;
    return openSession?.(on) ?? on;
  };
  const wrap = (sql: string, values: unknown[]): D1PreparedStatement => {
    const one = { sql, values };
    assert(!openSession || !WRITES.test(sql), 'a reader never writes');
    const isWrite = fence !== undefined && WRITES.test(sql);
    const written = async (): Promise<D1Result> => (await write([timed]))[0]!;
    const read = async <T>(run: (statement: D1PreparedStatement) => Promise<T>): Promise<T> => {
      const on = await locate();
      return trip(() => run(native(on, one)));
    };
    const timed = {
      bind: (...bound: unknown[]) => wrap(sql, bound),
      all: () => (isWrite ? written() : read((statement) => statement.all())),
      run: () => (isWrite ? written() : read((statement) => statement.run())),
      first: async (column: string) =>
        isWrite ? ((await written()).results[0] as Record<string, unknown>)?.[column] : read((statement) => statement.first(column)),
      raw: async (options?: { columnNames?: false }) =>
        isWrite ? (await written()).results.map((row) => Object.values(row as object)) : read((statement) => statement.raw(options)),
    } as unknown as D1PreparedStatement;
    planned.set(timed, one);
    return timed;
  };
  return {
    prepare: (sql: string) => wrap(sql, []),
    batch: async (statements: D1PreparedStatement[]) => {
      if (fence && statements.some((statement) => WRITES.test(planned.get(statement)!.sql))) return write(statements);
      const on = await locate();
      return trip(() => on.batch(statements.map((statement) => native(on, planned.get(statement)!))));
    },
  } as unknown as D1Database;
}
