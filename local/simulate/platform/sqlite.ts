import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { isComment, readStatements } from './statements.ts';

/** Newer than the types of Node. */
declare module 'node:sqlite' {
  interface DatabaseSync {
    serialize(): Uint8Array;
    deserialize(image: Uint8Array): void;
  }
}

export type Value = null | number | bigint | string | Uint8Array;
export type Row = Value[];

interface Prepared {
  statement: StatementSync;
  columns: string[];
  parameters: number;
  isWrite: boolean;
  isExact: boolean;
}

export interface Rows {
  columns: string[];
  rows: Row[];
}

export interface Counters {
  totalChanges: number;
  lastRowId: number;
}

/** Limits that workerd sets for each SQLite database. */
const LIMITS = {
  length: 2_200_000,
  sqlLength: 100_000,
  column: 100,
  exprDepth: 100,
  compoundSelect: 5,
  functionArg: 127,
  attach: 0,
  likePatternLength: 50,
  variableNumber: 100,
  triggerDepth: 10,
};

const NO_TRANSACTIONS =
  'To execute a transaction, please use the state.storage.transaction() or state.storage.transactionSync() APIs instead of the SQL BEGIN ' +
  'TRANSACTION or SAVEPOINT statements. The JavaScript API is safer because it will automatically roll back on exceptions, and because it ' +
  "interacts correctly with Durable Objects' automatic atomic write coalescing.";

const BYTES = 'SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size';
/** Statements that stay compiled. The service writes numbers into some texts, so their count has no bound. */
const PREPARED_MAX = 1500;

const IS_TRANSACTION = /^\s*(?:begin|savepoint|commit|end|rollback|release)\b/i;
const IS_SCHEMA = /^\s*(?:create|alter|drop)\b/i;

export const isSchemaChange = (sql: string): boolean => IS_SCHEMA.test(sql);

const CODES: Record<number, string> = {
  1: 'SQLITE_ERROR',
  5: 'SQLITE_BUSY',
  8: 'SQLITE_READONLY',
  13: 'SQLITE_FULL',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  23: 'SQLITE_AUTH',
  25: 'SQLITE_RANGE',
};
const EXTENDED: Record<number, string> = {
  275: 'SQLITE_CONSTRAINT_CHECK',
  787: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  1299: 'SQLITE_CONSTRAINT_NOTNULL',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
  1811: 'SQLITE_CONSTRAINT_TRIGGER',
  2067: 'SQLITE_CONSTRAINT_UNIQUE',
  2579: 'SQLITE_CONSTRAINT_ROWID',
  3091: 'SQLITE_CONSTRAINT_DATATYPE',
};

/** Text as SQLite stores and returns it: each surrogate without its pair becomes three replacement characters. */
export const storedText = (text: string): string => (text.isWellFormed() ? text : text.replace(/\p{Surrogate}/gu, '\ufffd\ufffd\ufffd'));

/** Error of SQLite in workerd's words. Callers throw it again as an error of their isolate. */
export class SqlError extends Error {}

const isOutOfRange = (error: unknown): boolean => (error as { code?: string }).code === 'ERR_OUT_OF_RANGE';

function sqlErrorOf(error: unknown): SqlError {
  const { code, errcode, message } = error as { code?: string; errcode?: number; message: string };
  if (code !== 'ERR_SQLITE_ERROR' || errcode === undefined) return new SqlError(message);
  const extended = EXTENDED[errcode];
  return new SqlError(`${message}: ${CODES[errcode & 0xff] ?? `SQLITE_${errcode}`}${extended ? ` (extended: ${extended})` : ''}`);
}

const plainCell = (cell: Value): Value => (typeof cell === 'bigint' ? Number(cell) : cell);

/** SQLite database in memory with workerd's limits, error texts and conversions. */
export class Sqlite {
  readonly #db: DatabaseSync;
  /** Statements by their text, the oldest first. */
  readonly #prepared = new Map<string, Prepared[]>();
  #counting: StatementSync | null = null;
  #measuring: StatementSync | null = null;

  constructor(image?: Uint8Array) {
    this.#db = new DatabaseSync(':memory:', { limits: LIMITS, enableDoubleQuotedStringLiterals: true } as object);
    if (image) this.#db.deserialize(image);
  }

  /** Runs statements without limits or conversions: migrations and transactions of the platform itself. */
  control(sql: string): void {
    this.#db.exec(sql);
  }

  get counters(): Counters {
    if (this.#counting === null) {
      this.#counting = this.#db.prepare('SELECT total_changes(), last_insert_rowid()');
      this.#counting.setReturnArrays(true);
      this.#counting.setReadBigInts(true);
    }
    const [totalChanges, lastRowId] = this.#counting.get() as unknown as [bigint, bigint];
    return { totalChanges: Number(totalChanges), lastRowId: Number(lastRowId) };
  }

  get bytes(): number {
    if (this.#measuring === null) {
      this.#measuring = this.#db.prepare(BYTES);
      this.#measuring.setReturnArrays(true);
    }
    return (this.#measuring.get() as unknown as [number])[0];
  }

  serialize(): Uint8Array {
    return this.#db.serialize();
  }

  close(): void {
    this.#prepared.clear();
    this.#db.close();
  }

  /** True if any statement of `sql` may write. */
  isWrite(sql: string): boolean {
    return this.#prepare(sql).some(({ isWrite }) => isWrite);
  }

  /** Runs every statement of `sql` and returns the rows of the last one. Only the last one may have parameters. Throws `SqlError`. */
  run(sql: string, values: readonly Value[]): Rows {
    const prepared = this.#prepare(sql);
    let rows: Rows = { columns: [], rows: [] };
    for (const [index, one] of prepared.entries()) {
      const isLast = index === prepared.length - 1;
      if (!isLast && one.parameters > 0)
        throw new SqlError('When executing multiple SQL statements in a single call, only the last statement can have parameters.');
      rows = this.#step(one, isLast ? values : []);
    }
    if (isSchemaChange(sql)) this.#prepared.clear();
    return rows;
  }

  #step({ statement, columns, parameters, isExact }: Prepared, values: readonly Value[]): Rows {
    if (values.length !== parameters) throw new SqlError('Wrong number of parameter bindings for SQL query.');
    try {
      const rows = statement.all(...values) as unknown as Row[];
      return { columns, rows: isExact ? rows.map((row) => row.map(plainCell)) : rows };
    } catch (error) {
      if (isOutOfRange(error)) return { columns, rows: readExactly(statement, values) };
      throw sqlErrorOf(error);
    }
  }

  #prepare(sql: string): Prepared[] {
    const known = this.#prepared.get(sql);
    if (known) return known;
    const prepared = readStatements(sql).map(({ text, parameters, isWrite }) => {
      if (isComment(text)) throw new SqlError('SQL code did not contain a statement.');
      if (IS_TRANSACTION.test(text)) throw new SqlError(NO_TRANSACTIONS);
      if (text.length > LIMITS.sqlLength) throw new SqlError('statement too long: SQLITE_TOOBIG');
      try {
        const statement = this.#db.prepare(text);
        statement.setReturnArrays(true);
        const columns = statement.columns().map(({ name }) => name);
        // A write must not run twice, so its integers are read exactly from the start.
        const isExact = isWrite && columns.length > 0;
        if (isExact) statement.setReadBigInts(true);
        return { statement, columns, parameters, isWrite, isExact };
      } catch (error) {
        throw sqlErrorOf(error);
      }
    });
    if (this.#prepared.size >= PREPARED_MAX) this.#prepared.delete(this.#prepared.keys().next().value!);
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

/** Reads integers beyond 2^53, which node:sqlite refuses, as workerd does: rounded. */
function readExactly(statement: StatementSync, values: readonly Value[]): Row[] {
  statement.setReadBigInts(true);
  try {
    return (statement.all(...values) as unknown as Row[]).map((row) => row.map(plainCell));
  } finally {
    statement.setReadBigInts(false);
  }
}
