import { ApiError } from '#core/errors.ts';
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

/** Native D1 statement of each wrapped one, because a batch may contain statements of several callers. */
const real = new WeakMap<object, D1PreparedStatement>();

/** Uses D1's error text for a lost answer, so that no verb mistakes a timeout for a refusal. */
const answerLost = () => new Error('D1_ERROR: no answer before the deadline');

/**
 * Wraps a database: each round trip is charged to the invocation's budget and limited by the caller's deadline. A timed-out write may still
 * be applied, so it fails like a lost answer. The verb's check for the write then times out too and ends in 503 temporarily_unavailable.
 * The same request replays it. `check` runs before each call.
 */
export function databaseInTime(database: D1Database, caller?: Timed, check?: () => Promise<void>): D1Database {
  const trip = async <T>(call: () => Promise<T>): Promise<T> => {
    await check?.();
    chargeCall();
    return caller ? inTime(caller, call, answerLost) : call();
  };
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const timed = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values)),
      all: () => trip(() => statement.all()),
      run: () => trip(() => statement.run()),
      first: (column: string) => trip(() => statement.first(column)),
      raw: (options?: { columnNames?: false }) => trip(() => statement.raw(options)),
    } as unknown as D1PreparedStatement;
    real.set(timed, statement);
    return timed;
  };
  return {
    prepare: (sql: string) => wrap(database.prepare(sql)),
    batch: (statements: D1PreparedStatement[]) => trip(() => database.batch(statements.map((statement) => real.get(statement)!))),
  } as unknown as D1Database;
}
