/**
 * An object's tables. They appear with the first write, so that asking leaves nothing behind. A table that
 * came since it was filled is made when it wakes; nothing in it is copied.
 */
export class Tables {
  readonly #sql: SqlStorage;
  readonly #columns: Record<string, string>;
  #exist = false;
  /** Whether there is something to commit. */
  isDirty = false;

  /** `columns`: what stands between the parentheses of CREATE TABLE, by the table's name. */
  constructor(sql: SqlStorage, columns: Record<string, string>) {
    this.#sql = sql;
    this.#columns = columns;
  }

  /** Looks at what is there: when the object wakes, and where something was rolled back. */
  load(): void {
    const found = this.#sql.exec<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'").toArray();
    const names = new Set(found.map(({ name }) => name));
    const missing = Object.keys(this.#columns).filter((name) => !names.has(name));
    this.#exist = missing.length < Object.keys(this.#columns).length;
    if (this.#exist) this.#create(missing);
  }

  /** What the object fills of its storage. */
  get bytes(): number {
    return this.#sql.databaseSize;
  }

  rows<Row extends Record<string, SqlStorageValue>>(sql: string, ...bindings: SqlStorageValue[]): Row[] {
    return this.#exist ? this.#sql.exec<Row>(sql, ...bindings).toArray() : [];
  }

  /** One row after the other, for tables that do not fit into memory. Nothing may be written meanwhile. */
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
