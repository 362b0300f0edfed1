import { isAnyArrayBuffer } from 'node:util/types';
import { type Counters, isSchemaChange, type Row, type Rows, SqlError, Sqlite, storedText, type Value } from './sqlite.ts';
import { type Pass, passAtOnce, type Realm } from './way.ts';

/** D1's metadata without rows_read and rows_written, which node:sqlite does not count. */
interface Meta {
  served_by: string;
  duration: number;
  changes: number;
  last_row_id: number;
  changed_db: boolean;
  size_after: number;
}

interface Result {
  success: true;
  meta: Meta;
  results: Record<string, Cell>[];
}

type Cell = null | number | string | number[];
type Answer = Rows & { meta: Meta };

/** Blobs and numbers as D1 returns them, in JSON: it knows no -0. */
function cellOf(value: Value): Cell {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  return value === null || typeof value === 'string' ? value : Array.from(value as Uint8Array);
}

const rowOf = (row: Row): Cell[] => row.map(cellOf);

const toResult = ({ columns, rows, meta }: Answer): Result => ({
  success: true,
  meta,
  results: rows.map((row) => Object.fromEntries(row.map((value, index) => [columns[index]!, cellOf(value)]))),
});

const isByte = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value < 256;

/** Converts a bound value as D1's client does. Throws D1_TYPE_ERROR for a type that JSON cannot carry. */
function bound(value: unknown, realm: Realm): Value {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === 'string') return storedText(value);
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (value === null) return null;
  if (Array.isArray(value) && value.every(isByte)) return Uint8Array.from(value as number[]);
  if (isAnyArrayBuffer(value)) return new Uint8Array(value.slice(0));
  if (ArrayBuffer.isView(value)) return Uint8Array.from(value as unknown as ArrayLike<number>);
  const problem = `Type '${typeof value}' not supported for value '${value}'`;
  throw new realm.Error(`D1_TYPE_ERROR: ${problem}`, { cause: new realm.Error(problem) });
}

interface Query {
  sql: string;
  values: readonly Value[];
}

interface DatabaseOptions {
  name?: string;
  /** Image of a migrated database, from `SimulatedDatabase.serialize`. */
  image?: Uint8Array;
  pass?: Pass;
  /** Returns the text of the error that every write gets now, or null. */
  refusal?: () => string | null;
}

/** False for a text of comments and blanks. */
const hasStatement = ({ sql }: Query): boolean => /^[a-z]/i.test(sql) || sql.replace(/^\s+--.*/gm, '').trim().length > 0;

const NO_STATEMENTS = 'No SQL statements detected.';

/**
 * D1 database. Everything happens within one SQLite transaction that `rewind` undoes, so that the next history begins with the image and
 * with every statement prepared. The schema must not change after the first call.
 */
export class SimulatedDatabase {
  readonly #sqlite: Sqlite;
  readonly #name: string;
  readonly #pass: Pass;
  readonly #refusal: () => string | null;
  /** Size of the database. Null after a change, until it is asked for. */
  #bytes: number | null = null;
  #counters: Counters = { totalChanges: 0, lastRowId: 0 };

  constructor({ name = 'DB', image, pass = passAtOnce, refusal = () => null }: DatabaseOptions = {}) {
    this.#sqlite = new Sqlite(image);
    this.#name = name;
    this.#pass = pass;
    this.#refusal = refusal;
    this.#begin();
  }

  /** Applies migrations outside of the limits of a statement. */
  migrate(sql: string): void {
    this.#sqlite.control(`COMMIT; ${sql}`);
    this.#begin();
  }

  serialize(): Uint8Array {
    this.#sqlite.control('COMMIT');
    const image = this.#sqlite.serialize();
    this.#begin();
    return image;
  }

  /** Restores the state at construction, or after `migrate` or `serialize`. */
  rewind(): void {
    this.#sqlite.control('ROLLBACK');
    this.#begin();
  }

  close(): void {
    this.#sqlite.close();
  }

  /** Reads rows directly, without a trip. */
  rows(sql: string, ...values: Value[]): Record<string, Cell>[] {
    return toResult(this.#run({ sql, values })).results;
  }

  /** Binding of an isolate. `realm` is its global object. */
  binding(realm: Realm = globalThis): D1Binding {
    return new D1Binding(realm, (verb, queries) => this.#trip(realm, verb, queries));
  }

  async #trip(realm: Realm, verb: string, queries: readonly Query[]): Promise<Answer[]> {
    const answer = await this.#pass({ kind: 'd1', target: this.#name, verb }, () => this.#execute(queries));
    if (Array.isArray(answer)) return answer;
    throw new realm.Error(`D1_ERROR: ${answer.message}`, { cause: new realm.Error(answer.message) });
  }

  #execute(queries: readonly Query[]): Answer[] | SqlError {
    if (!queries.some(hasStatement)) return new SqlError(NO_STATEMENTS);
    try {
      const refusal = queries.some(({ sql }) => this.#sqlite.isWrite(sql)) ? this.#refusal() : null;
      if (refusal !== null) return new SqlError(refusal);
      return queries.length === 1 ? [this.#run(queries[0]!)] : this.#batch(queries);
    } catch (error) {
      if (error instanceof SqlError) return error;
      throw error;
    }
  }

  #batch(queries: readonly Query[]): Answer[] {
    this.#sqlite.control('SAVEPOINT batch');
    try {
      const answers = queries.map((query) => this.#run(query));
      this.#sqlite.control('RELEASE batch');
      return answers;
    } catch (error) {
      this.#sqlite.control('ROLLBACK TO batch; RELEASE batch');
      this.#count();
      throw error;
    }
  }

  #run({ sql, values }: Query): Answer {
    if (!this.#sqlite.isWrite(sql)) return { ...this.#sqlite.run(sql, values), meta: this.#meta(0, false) };
    const before = this.#counters;
    const rows = this.#sqlite.run(sql, values);
    this.#count();
    const { totalChanges, lastRowId } = this.#counters;
    const changes = totalChanges - before.totalChanges;
    return { ...rows, meta: this.#meta(changes, changes !== 0 || lastRowId !== before.lastRowId || isSchemaChange(sql)) };
  }

  /** Reads the counters after a write. The size, which only few ask for, is read when it is. */
  #count(): void {
    this.#counters = this.#sqlite.counters;
    this.#bytes = null;
  }

  #size(): number {
    this.#bytes ??= this.#sqlite.bytes;
    return this.#bytes;
  }

  #meta(changes: number, isChanged: boolean): Meta {
    const size = () => this.#size();
    return {
      served_by: 'simulated.db',
      duration: 0,
      changes,
      last_row_id: this.#counters.lastRowId,
      changed_db: isChanged,
      get size_after() {
        return size();
      },
    };
  }

  #begin(): void {
    this.#sqlite.control('BEGIN');
    this.#count();
  }
}

type Trip = (verb: string, queries: readonly Query[]) => Promise<Answer[]>;

/** Client side of D1: `env.DB`. */
export class D1Binding {
  readonly #realm: Realm;
  readonly #trip: Trip;

  constructor(realm: Realm, trip: Trip) {
    this.#realm = realm;
    this.#trip = trip;
  }

  prepare(sql: string): D1Statement {
    return new D1Statement(this.#realm, this.#trip, { sql, values: [] });
  }

  async batch(statements: readonly D1Statement[]): Promise<Result[]> {
    const answers = await this.#trip(
      'batch',
      statements.map(({ query }) => query),
    );
    return answers.map(toResult);
  }
}

class D1Statement {
  readonly #realm: Realm;
  readonly #trip: Trip;
  readonly query: Query;

  constructor(realm: Realm, trip: Trip, query: Query) {
    this.#realm = realm;
    this.#trip = trip;
    this.query = query;
  }

  bind(...values: unknown[]): D1Statement {
    return new D1Statement(this.#realm, this.#trip, {
      sql: this.query.sql,
      values: values.map((value) => bound(value, this.#realm)),
    });
  }

  async all(): Promise<Result> {
    return toResult((await this.#trip('all', [this.query]))[0]!);
  }

  async run(): Promise<Result> {
    return toResult((await this.#trip('run', [this.query]))[0]!);
  }

  async first(column?: string): Promise<unknown> {
    const { results } = toResult((await this.#trip('first', [this.query]))[0]!);
    const [row = null] = results;
    if (column === undefined || row === null) return row;
    if (row[column] !== undefined) return row[column];
    const cause = new this.#realm.Error('Column not found');
    throw new this.#realm.Error(`D1_COLUMN_NOTFOUND: Column not found (${column})`, { cause });
  }

  async raw(options?: { columnNames?: boolean }): Promise<unknown[][]> {
    const [{ columns, rows }] = (await this.#trip('raw', [this.query])) as [Answer];
    return [...(options?.columnNames ? [columns] : []), ...rows.map(rowOf)];
  }
}
