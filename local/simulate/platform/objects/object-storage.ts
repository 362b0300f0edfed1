import { isAnyArrayBuffer } from 'node:util/types';
import { type Row, type Rows, SqlError, storedText, type Value } from '../sqlite.ts';
import type { Realm } from '../way.ts';
import type { ObjectStore } from './object-store.ts';

type Cell = null | number | string | ArrayBuffer;

/** Instance that uses the storage. */
export interface StorageOwner {
  realm: Realm;
  now(): number;
  /** Throws if the instance is gone. */
  assertAlive(): void;
  /** Resolves once everything written is durable. */
  durable(): Promise<void>;
  hasAlarmHandler(): boolean;
}

const bound = (value: unknown, realm: Realm): Value => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return value;
  if (typeof value === 'string') return storedText(value);
  if (typeof value === 'bigint') throw new realm.TypeError('Cannot convert a BigInt value to a number');
  if (isAnyArrayBuffer(value)) return new Uint8Array(value as ArrayBuffer);
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return String(value);
};

const cellOf = (value: Value): Cell =>
  value instanceof Uint8Array ? (value.slice().buffer as ArrayBuffer) : (value as null | number | string);

/** `ctx.storage.sql`. */
class SqlStorage {
  readonly #store: ObjectStore;
  readonly #owner: StorageOwner;

  constructor(store: ObjectStore, owner: StorageOwner) {
    this.#store = store;
    this.#owner = owner;
  }

  get databaseSize(): number {
    this.#owner.assertAlive();
    return this.#store.bytes;
  }

  exec(sql: string, ...bindings: unknown[]): SqlCursor {
    this.#owner.assertAlive();
    const { realm } = this.#owner;
    const values = bindings.map((one) => bound(one, realm));
    try {
      return new SqlCursor(this.#store.run(sql, values), realm);
    } catch (error) {
      throw error instanceof SqlError ? new realm.Error(error.message) : error;
    }
  }
}

/** Cursor over rows that were read when the statement ran. rowsRead and rowsWritten are not counted. */
class SqlCursor {
  readonly columnNames: string[];
  readonly #rows: Row[];
  readonly #realm: Realm;
  #next = 0;

  constructor({ columns, rows }: Rows, realm: Realm) {
    this.columnNames = columns;
    this.#rows = rows;
    this.#realm = realm;
  }

  next(): { done: true; value: undefined } | { done: false; value: Record<string, Cell> } {
    const row = this.#rows[this.#next++];
    if (!row) return { done: true, value: undefined };
    return { done: false, value: Object.fromEntries(row.map((value, index) => [this.columnNames[index]!, cellOf(value)])) };
  }

  toArray(): Record<string, Cell>[] {
    return [...this];
  }

  one(): Record<string, Cell> {
    const [row, ...others] = this;
    const found = row === undefined ? 'no' : 'multiple';
    if (row === undefined || others.length > 0)
      throw new this.#realm.Error(`Expected exactly one result from SQL query, but got ${found} results.`);
    return row;
  }

  *raw(): IterableIterator<Cell[]> {
    for (let row = this.#rows[this.#next++]; row; row = this.#rows[this.#next++]) yield row.map(cellOf);
  }

  *[Symbol.iterator](): IterableIterator<Record<string, Cell>> {
    for (let step = this.next(); !step.done; step = this.next()) yield step.value;
  }
}

/** `ctx.storage` of one instance. */
export class ObjectStorage {
  readonly sql: SqlStorage;
  readonly #store: ObjectStore;
  readonly #owner: StorageOwner;

  constructor(store: ObjectStore, owner: StorageOwner) {
    this.sql = new SqlStorage(store, owner);
    this.#store = store;
    this.#owner = owner;
  }

  transactionSync<T>(work: () => T): T {
    this.#owner.assertAlive();
    return this.#store.transact(work);
  }

  async getAlarm(): Promise<number | null> {
    this.#owner.assertAlive();
    return this.#store.alarmAt;
  }

  async setAlarm(at: number | Date): Promise<void> {
    const { realm, assertAlive, hasAlarmHandler } = this.#owner;
    assertAlive();
    if (!hasAlarmHandler()) throw new realm.TypeError('Your Durable Object class must have an alarm() handler in order to call setAlarm()');
    const time = Number(at);
    if (Number.isNaN(time)) throw new realm.TypeError('The value cannot be converted because it is not a valid Date.');
    if (time <= 0) throw new realm.TypeError('setAlarm() cannot be called with an alarm time <= 0');
    this.#store.alarmAt = time;
  }

  async deleteAlarm(): Promise<void> {
    this.#owner.assertAlive();
    this.#store.alarmAt = null;
  }

  async deleteAll(): Promise<void> {
    this.#owner.assertAlive();
    this.#store.clear();
  }

  async sync(): Promise<void> {
    this.#owner.assertAlive();
    await this.#owner.durable();
  }
}
