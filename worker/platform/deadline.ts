import { ApiError } from '#core/errors.ts';
import { chargeCall } from '#core/isolate/budget.ts';

/** Whatever has a deadline: milliseconds until it, never below 0. */
interface Timed {
  leftMs(): number;
}

const tooLate = () => new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });

/**
 * A call of the platform that is waited for no longer than its caller has left, and not begun where nothing is left: 503
 * temporarily_unavailable. What became of a call that was given up is not known.
 */
export async function inTime<T>({ leftMs }: Timed, call: () => Promise<T>, failure: () => Error = tooLate): Promise<T> {
  if (leftMs() === 0) throw failure();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(failure()), leftMs());
  });
  return Promise.race([call(), deadline]).finally(() => clearTimeout(timer));
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

/** The database's own statement of each that was made here: a batch may hold those of several callers. */
const real = new WeakMap<object, D1PreparedStatement>();

/** As the database itself says that an answer is lost, so that no verb takes it for a refusal. */
const answerLost = () => new Error('D1_ERROR: no answer before the deadline');

/**
 * The database, each of whose round trips is charged to the invocation's budget, and has the deadline of the caller, if there is one. A write that was given up may be done all the same, now or later: it
 * fails as one whose answer is lost, and every verb looks for what it wrote before it believes such a failure. By then that look fails
 * too, as does all else that has a deadline, so the verb ends undecided: 503 temporarily_unavailable, and the same request replays it.
 */
export function databaseInTime(database: D1Database, caller?: Timed): D1Database {
  const trip = <T>(call: () => Promise<T>): Promise<T> => {
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
