/**
 * Tables of an object, created by the first write, so that reads store nothing. A table added by a release is created when the object
 * wakes. No data is migrated.
 */
export class Tables {
  readonly #sql: SqlStorage;
  readonly #columns: Record<string, string>;
  #exist = false;
  isDirty = false;

  constructor(sql: SqlStorage, columns: Record<string, string>) {
    this.#sql = sql;
    this.#columns = columns;
  }

  load(): void {
    const found = this.#sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
    const names = new Set(found.map(({ name }) => name));
    const missing = Object.keys(this.#columns).filter((name) => !names.has(name));
    this.#exist = missing.length < Object.keys(this.#columns).length;
    if (this.#exist) this.#create(missing);
  }

  get isEmpty(): boolean {
    return !this.#exist;
  }

  get bytes(): number {
    return this.#sql.databaseSize;
  }

  rows<Row extends Record<string, SqlStorageValue>>(sql: string, ...bindings: SqlStorageValue[]): Row[] {
    return this.#exist ? this.#sql.exec<Row>(sql, ...bindings).toArray() : [];
  }

  /** Iterates over rows of a table that may exceed memory. No write is allowed during the iteration. */
  each<Row extends Record<string, SqlStorageValue>>(sql: string, ...bindings: SqlStorageValue[]): Iterable<Row> {
    return this.#exist ? this.#sql.exec<Row>(sql, ...bindings) : [];
  }

  write(sql: string, ...bindings: SqlStorageValue[]): void {
    if (!this.#exist) this.#create(Object.keys(this.#columns));
    this.#sql.exec(sql, ...bindings);
    this.isDirty = true;
  }

  #create(names: string[]): void {
    for (const name of names) this.#sql.exec(`CREATE TABLE ${name} (${this.#columns[name]})`);
    this.#exist = true;
  }
}
