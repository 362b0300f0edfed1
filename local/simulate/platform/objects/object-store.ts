import { type Rows, Sqlite, type Value } from '../sqlite.ts';

/**
 * Storage of one object: SQLite and the alarm. Writes are not durable before `commit`, and `lose` undoes those that are not. Both survive
 * the object's instances.
 */
export class ObjectStore {
  #sqlite = new Sqlite();
  /** Database before a deletion of everything that is not durable. */
  #before: Sqlite | null = null;
  #isOpen = false;
  #isDirty = false;
  #depth = 0;
  #alarmAt: number | null = null;
  #durableAlarmAt: number | null = null;
  #isAlarmChanged = false;
  #isAlarmRunning = false;
  /** Called with the first write since the last commit. */
  onWrite: () => void = () => {};

  get isDirty(): boolean {
    return this.#isDirty;
  }

  get bytes(): number {
    return this.#sqlite.bytes;
  }

  /** Time of the alarm including uncommitted changes, epoch ms. */
  get alarmAt(): number | null {
    return this.#alarmAt;
  }

  /** Time of the alarm as the platform's scheduler knows it. */
  get durableAlarmAt(): number | null {
    return this.#durableAlarmAt;
  }

  set alarmAt(at: number | null) {
    this.#write();
    this.#alarmAt = at;
    this.#isAlarmChanged = true;
    this.#isAlarmRunning = false;
  }

  /** Hides the alarm from its handler. It stays durable until the handler has succeeded. */
  beginAlarm(): void {
    this.#isAlarmRunning = true;
    this.#alarmAt = null;
  }

  /** Deletes the alarm after success, or restores it. Returns false if the handler has set or deleted it: that wins. */
  endAlarm(isSuccess: boolean): boolean {
    if (!this.#isAlarmRunning) return false;
    if (isSuccess) this.alarmAt = null;
    else this.#alarmAt = this.#durableAlarmAt;
    this.#isAlarmRunning = false;
    return true;
  }

  run(sql: string, values: readonly Value[]): Rows {
    if (this.#sqlite.isWrite(sql)) this.#write();
    return this.#sqlite.run(sql, values);
  }

  transact<T>(work: () => T): T {
    this.#begin();
    const savepoint = `s${this.#depth++}`;
    const [alarmAt, isAlarmChanged, isAlarmRunning] = [this.#alarmAt, this.#isAlarmChanged, this.#isAlarmRunning];
    this.#sqlite.control(`SAVEPOINT ${savepoint}`);
    try {
      const result = work();
      this.#sqlite.control(`RELEASE ${savepoint}`);
      return result;
    } catch (error) {
      this.#sqlite.control(`ROLLBACK TO ${savepoint}; RELEASE ${savepoint}`);
      [this.#alarmAt, this.#isAlarmChanged, this.#isAlarmRunning] = [alarmAt, isAlarmChanged, isAlarmRunning];
      throw error;
    } finally {
      this.#depth--;
      if (!this.#isDirty && this.#depth === 0) this.commit();
    }
  }

  /** Deletes every table, and the alarm. */
  clear(): void {
    this.alarmAt = null;
    if (this.#before) this.#sqlite.close();
    else this.#before = this.#sqlite;
    this.#sqlite = new Sqlite();
    this.#sqlite.control('BEGIN');
  }

  commit(): void {
    if (this.#isOpen) this.#sqlite.control('COMMIT');
    this.#before?.close();
    if (this.#isAlarmChanged) this.#durableAlarmAt = this.#alarmAt;
    this.#end();
  }

  /** Undoes every write that is not durable. */
  lose(): void {
    if (this.#before) {
      this.#sqlite.close();
      this.#sqlite = this.#before;
    }
    if (this.#isOpen) this.#sqlite.control('ROLLBACK');
    this.#alarmAt = this.#durableAlarmAt;
    this.#isAlarmRunning = false;
    this.#depth = 0;
    this.#end();
  }

  #end(): void {
    this.#before = null;
    this.#isOpen = false;
    this.#isDirty = false;
    this.#isAlarmChanged = false;
  }

  /** Frees the memory of the database, which the garbage collector would do much later. */
  close(): void {
    this.#before?.close();
    this.#sqlite.close();
  }

  #begin(): void {
    if (!this.#isOpen) this.#sqlite.control('BEGIN');
    this.#isOpen = true;
  }

  #write(): void {
    this.#begin();
    if (this.#isDirty) return;
    this.#isDirty = true;
    this.onWrite();
  }
}
