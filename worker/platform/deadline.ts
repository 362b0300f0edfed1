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
