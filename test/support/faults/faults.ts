import { databaseNamesOf } from '#core/isolate/budget.ts';
import type { Env } from '#platform/context.ts';

export interface Trip {
  kind: 'read' | 'write' | 'batch' | 'put' | 'get' | 'delete';
  /** Counts from 1 per wrapper, over all kinds. */
  number: number;
}

export interface Faults {
  /** Throws before the request arrives. */
  before?: (trip: Trip) => boolean | Promise<boolean>;
  /** Throws after the commit, so the answer is lost. */
  after?: (trip: Trip) => boolean;
}

type Travel = <T>(kind: Trip['kind'], work: () => Promise<T>) => Promise<T>;

function faultyWire({ before, after }: Faults): { travel: Travel; trips: Trip[] } {
  const trips: Trip[] = [];
  const travel: Travel = async (kind, work) => {
    const trip = { kind, number: trips.length + 1 };
    trips.push(trip);
    if (await before?.(trip)) throw new Error('D1_ERROR: Network connection lost.');
    const answer = await work();
    if (after?.(trip)) throw new Error('D1_ERROR: Network connection lost.');
    return answer;
  };
  return { travel, trips };
}

const routedBucket = (bucket: R2Bucket, travel: Travel): R2Bucket =>
  ({
    put: (...args: Parameters<R2Bucket['put']>) => travel('put', () => bucket.put(...args)),
    get: (...args: Parameters<R2Bucket['get']>) => travel('get', () => bucket.get(...args)),
    delete: (keys: string | string[]) => travel('delete', () => bucket.delete(keys)),
  }) as R2Bucket;

function routed(database: D1Database, travel: Travel): D1Database {
  const real = new WeakMap<object, D1PreparedStatement>();
  function wrap(statement: D1PreparedStatement, kind: Trip['kind']): D1PreparedStatement {
    const wrapped = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values), kind),
      all: () => travel(kind, () => statement.all()),
      run: () => travel(kind, () => statement.run()),
      first: (column: string) => travel(kind, () => statement.first(column)),
      raw: (options?: { columnNames?: false }) => travel(kind, () => statement.raw(options)),
    } as unknown as D1PreparedStatement;
    real.set(wrapped, statement);
    return wrapped;
  }
  return {
    prepare: (sql: string) => wrap(database.prepare(sql), /^\s*select/i.test(sql) ? 'read' : 'write'),
    batch: (statements: D1PreparedStatement[]) =>
      travel('batch', () => database.batch(statements.map((statement) => real.get(statement)!))),
  } as unknown as D1Database;
}

/**
 * Real database with a latency of `tripMs`. Counts trips, and trips that begin while no other is under way, which is the length of a
 * sequence.
 */
export function distantDatabase(database: D1Database, tripMs: number) {
  const traffic = { trips: 0, waits: 0 };
  let underWay = 0;
  const distant = routed(database, async (_kind, work) => {
    traffic.trips++;
    if (underWay++ === 0) traffic.waits++;
    try {
      if (tripMs > 0) await new Promise((resolve) => setTimeout(resolve, tripMs));
      return await work();
    } finally {
      underWay--;
    }
  });
  return { database: distant, traffic };
}

/** Environment with database and archive behind one wire. The service has no hook for this. */
export function withFaults(env: Env, faults: Faults = {}): { env: Env; trips: Trip[] } {
  const { travel, trips } = faultyWire(faults);
  const archive = env.ARCHIVE ? { ARCHIVE: routedBucket(env.ARCHIVE, travel) } : {};
  return { env: { ...withDatabases(env, (database) => routed(database, travel)), ...archive }, trips };
}

/** Environment with each database of merchants wrapped. */
function withDatabases(env: Env, wrap: (database: D1Database) => D1Database): Env {
  const databases = databaseNamesOf(env).map((name) => [name, wrap(env[name] as D1Database)]);
  return { ...env, ...Object.fromEntries(databases) };
}

/** Environment in which `rival` runs right before the first batch of a database. */
export function withRival(env: Env, rival: () => Promise<unknown>): Env {
  let isFirst = true;
  return withDatabases(
    env,
    (real) =>
      new Proxy(real, {
        get(database, name: keyof D1Database) {
          const value = database[name];
          if (name !== 'batch') return typeof value === 'function' ? value.bind(database) : value;
          return async (statements: D1PreparedStatement[]) => {
            if (isFirst) {
              isFirst = false;
              await rival();
            }
            return database.batch(statements);
          };
        },
      }),
  );
}

/** Environment in which `rival` runs once, before the trip of this number. */
export function withRivalAt(env: Env, trip: number, rival: () => Promise<unknown>): { env: Env; hasRun(): boolean } {
  let hasRun = false;
  const before = async ({ number }: Trip) => {
    if (number !== trip || hasRun) return false;
    hasRun = true;
    await rival();
    return false;
  };
  return { env: withFaults(env, { before }).env, hasRun: () => hasRun };
}

/** Random generator of a printed seed, so that a run can be repeated (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const copy = [...items];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [copy[i], copy[j]] = [copy[j]!, copy[i]!];
  }
  return copy;
}
