import { DAY, HOUR, SECOND } from '../worker/core/time.ts';

/** Changes are told to the database together, this long after the first of them. */
const FLUSH_MS = 2 * SECOND;
/** Operations are remembered for a day, and then dropped an hour's worth at a time. */
const KEEP_MS = DAY;
const PURGE_SLACK_MS = HOUR;
const PURGE_MAX = 1000;
/** Events in one message, which holds 128 KB. */
const EVENTS_MAX = 50;
const BACKOFF_MAX_MS = 60 * SECOND;
/** The platform gives an alarm up after six retries; before that we set a new one. */
const RETRIES_MAX = 5;

/** What an object tells its ledger about its state. */
export interface LedgerRules<State, Event> {
  empty: State;
  /** The object's own tables, made together with the ledger's. */
  tables: string;
  /** Grows with every change; an event is told of one version. */
  versionOf(state: State): number;
  /** When time alone will change the state next; null: never. */
  dueAt(state: State): number | null;
  /** That time has come, or another alarm: runs as an operation. */
  passTime(): void;
  /** Tells the database. May be called again with the same. */
  publish(state: State, events: Event[], now: number): Promise<void>;
}

export type LedgerEntry<Content> = { tick: number; fingerprint: string; content: Content };

/** The one row that is written once per group. */
interface Page<State> {
  state: State;
  /** The latest moment seen: time does not run backwards in here. */
  seenAt: number;
  lastTick: number;
  publishedVersion: number;
  /** Of the first change that is not published; null: all is. */
  changedAt: number | null;
}

type Waiting = { now: number; operation(): unknown; resolve(answer: unknown): void; reject(error: unknown): void };

/**
 * What an object with exact accounts stands on: its state, its operations once per key, its outbox and its one alarm, with
 * group commit (architecture 6c). Tables appear with the first write, so that asking leaves nothing behind. Everything but
 * `run` and `wake` belongs inside an operation, which is synchronous and answers refusals instead of throwing.
 */
export class Ledger<State, Content, Event> {
  readonly #storage: DurableObjectStorage;
  readonly #rules: LedgerRules<State, Event>;
  #page!: Page<State>;
  #hasTables = false;
  #isDirty = false;
  #oldestTick: number | null = null;
  #waiting: Waiting[] = [];
  #isCommitting = false;
  /** As set by this instance; null: not known, so the next write sets it. */
  #alarmAt: number | null = null;
  #isAwake = false;
  #backoffUntil = 0;

  constructor(storage: DurableObjectStorage, rules: LedgerRules<State, Event>) {
    this.#storage = storage;
    this.#rules = rules;
    this.#load();
  }

  /** Alone it is committed at once; while a commit is in flight it waits and goes with the others that came, in order. */
  run<T>(now: number, operation: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ now, operation, resolve: (answer) => resolve(answer as T), reject });
      if (!this.#isCommitting) void this.#commitWaiting();
    });
  }

  /** For alarm(): lets time pass, publishes, purges, and sets the next alarm. Doing it twice is harmless. */
  async wake(retryCount: number): Promise<void> {
    this.#alarmAt = null;
    // A failing alarm is called again by the platform; one set meanwhile would take its place, and lose its count.
    this.#isAwake = true;
    try {
      await this.run(Date.now(), () => this.#rules.passTime());
      await this.#publish();
      await this.run(Date.now(), () => this.#purge());
      this.#backoffUntil = 0;
    } catch (error) {
      this.#backoffUntil = Date.now() + Math.min(FLUSH_MS * 2 ** retryCount, BACKOFF_MAX_MS);
      if (retryCount < RETRIES_MAX) throw error;
    } finally {
      this.#isAwake = false;
    }
    this.#arm();
  }

  get now(): number {
    return this.#page.seenAt;
  }

  get state(): State {
    return this.#page.state;
  }

  set state(state: State) {
    this.#page.state = state;
    this.#isDirty = true;
  }

  find(key: string): LedgerEntry<Content> | null {
    return entryOf(this.rows('SELECT tick, fingerprint, content FROM operations WHERE key = ?', key));
  }

  at(tick: number): LedgerEntry<Content> | null {
    return entryOf(this.rows('SELECT tick, fingerprint, content FROM operations WHERE tick = ?', tick));
  }

  /** A number for whatever happens now: unique in this object, growing, and close to the time in milliseconds. */
  nextTick(): number {
    this.#isDirty = true;
    this.#page.lastTick = Math.max(this.now, this.#page.lastTick + 1);
    return this.#page.lastTick;
  }

  record(tick: number, key: string, fingerprint: string, content: Content): void {
    this.write('INSERT INTO operations VALUES (?, ?, ?, ?)', tick, key, fingerprint, JSON.stringify(content));
    this.#oldestTick ??= tick;
  }

  amend(tick: number, content: Content): void {
    this.write('UPDATE operations SET content = ? WHERE tick = ?', JSON.stringify(content), tick);
  }

  /** Goes out with the state's present version: one event for each. */
  emit(event: Event): void {
    this.write('INSERT INTO outbox VALUES (?, ?)', this.#rules.versionOf(this.state), JSON.stringify(event));
  }

  rows<Row extends Record<string, SqlStorageValue>>(sql: string, ...bindings: SqlStorageValue[]): Row[] {
    return this.#hasTables ? this.#storage.sql.exec<Row>(sql, ...bindings).toArray() : [];
  }

  write(sql: string, ...bindings: SqlStorageValue[]): void {
    this.#createTables();
    this.#storage.sql.exec(sql, ...bindings);
    this.#isDirty = true;
  }

  async #commitWaiting(): Promise<void> {
    this.#isCommitting = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        this.#isDirty = false;
        const answers = this.#storage.transactionSync(() => this.#apply(group));
        if (this.#isDirty) await this.#storage.sync();
        for (const [i, { resolve }] of group.entries()) resolve(answers[i]);
        // Those just answered get a turn to bring their next, so that groups are worth their commit.
        if (group.length > 1 || this.#waiting.length > 0) await new Promise((resolve) => setImmediate(resolve));
      } catch (error) {
        for (const { reject } of group) reject(error);
        this.#load(); // Nothing of it is stored, so nothing of it may stay in memory.
      }
    }
    this.#isCommitting = false;
  }

  #apply(group: Waiting[]): unknown[] {
    const answers = group.map(({ now, operation }) => {
      this.#page.seenAt = Math.max(this.#page.seenAt, now);
      return operation();
    });
    if (!this.#isDirty) return answers;
    if (this.#version() > this.#page.publishedVersion) this.#page.changedAt ??= Date.now();
    this.write('INSERT INTO page VALUES (1, ?) ON CONFLICT DO UPDATE SET content = excluded.content', JSON.stringify(this.#page));
    this.#arm();
    return answers;
  }

  readonly #version = (): number => this.#rules.versionOf(this.#page.state);

  async #publish(): Promise<void> {
    const told = await this.run(Date.now(), () => ({
      state: this.state,
      version: this.#version(),
      now: this.now,
      outbox: this.rows<{ version: number; event: string }>(`SELECT version, event FROM outbox ORDER BY version LIMIT ${EVENTS_MAX}`),
    }));
    if (told.version === this.#page.publishedVersion && told.outbox.length === 0) return;
    const events = told.outbox.map(({ event }) => JSON.parse(event) as Event);
    await this.#rules.publish(told.state, events, told.now);
    // Only now may they be forgotten: a crash before this tells them twice, never not at all.
    await this.run(Date.now(), () => {
      this.write('DELETE FROM outbox WHERE version <= ?', told.outbox.at(-1)?.version ?? 0);
      this.#page.publishedVersion = Math.max(this.#page.publishedVersion, told.version);
      const hasMore = this.rows('SELECT 1 FROM outbox WHERE version <= ? LIMIT 1', told.version).length > 0;
      this.#page.changedAt = hasMore ? 0 : this.#version() > told.version ? Date.now() : null;
    });
  }

  #purge(): void {
    const before = this.now - KEEP_MS;
    if (this.#oldestTick === null || this.#oldestTick >= before) return;
    this.write(
      `DELETE FROM operations WHERE tick IN (SELECT tick FROM operations WHERE tick < ? ORDER BY tick LIMIT ${PURGE_MAX})`,
      before,
    );
    this.#oldestTick = this.#readOldestTick();
  }

  /** One slot for all that waits for a moment: publishing, the state's own time, purging. */
  #arm(): void {
    if (this.#isAwake) return;
    const publishAt = this.#page.changedAt === null ? null : this.#page.changedAt + FLUSH_MS;
    const purgeAt = this.#oldestTick === null ? null : this.#oldestTick + KEEP_MS + PURGE_SLACK_MS;
    const moments = [publishAt, this.#rules.dueAt(this.#page.state), purgeAt].filter((moment) => moment !== null);
    if (moments.length === 0) return;
    const alarmAt = Math.max(Math.min(...moments), this.#backoffUntil);
    if (alarmAt !== this.#alarmAt) void this.#storage.setAlarm(alarmAt);
    this.#alarmAt = alarmAt;
  }

  #load(): void {
    this.#alarmAt = null;
    this.#page = { state: this.#rules.empty, seenAt: 0, lastTick: 0, publishedVersion: 0, changedAt: null };
    this.#hasTables = this.#storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'page'").toArray().length > 0;
    const [row] = this.rows<{ content: string }>('SELECT content FROM page');
    if (row) this.#page = JSON.parse(row.content);
    this.#oldestTick = this.#readOldestTick();
  }

  #readOldestTick(): number | null {
    return this.rows<{ tick: number | null }>('SELECT min(tick) AS tick FROM operations')[0]?.tick ?? null;
  }

  #createTables(): void {
    if (this.#hasTables) return;
    this.#storage.sql.exec(
      `CREATE TABLE page (id INTEGER PRIMARY KEY, content TEXT NOT NULL);
       CREATE TABLE operations (tick INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, fingerprint TEXT NOT NULL, content TEXT NOT NULL);
       CREATE TABLE outbox (version INTEGER PRIMARY KEY, event TEXT NOT NULL);
       ${this.#rules.tables}`,
    );
    this.#hasTables = true;
  }
}

const entryOf = <Content>([row]: { tick: number; fingerprint: string; content: string }[]): LedgerEntry<Content> | null =>
  row ? { ...row, content: JSON.parse(row.content) } : null;
