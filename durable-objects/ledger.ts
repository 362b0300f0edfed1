import { SECOND } from '#core/time.ts';
import type { Called, Projected } from '#rules/entitlement-rpc.ts';
import { BLOCK_TABLES } from './blocks.ts';
import { Groups, type LogName, logCommit, type Outcome, type Waiting } from './groups.ts';
import { Operations, type Packing, readRow, rowText } from './operations.ts';
import { acknowledge, EMPTY_OUTBOX, flushed, hasRung, noteChange, OUTBOX_TABLE, type OutboxPage, sendAt, takeMessages } from './outbox.ts';
import { Tables } from './tables.ts';

/** Tolerance for a caller's clock. A clock that is a day ahead must not end access or expire keys. */
const CLOCK_SKEW_MS = 5 * SECOND;
const BACKOFF_MS = 2 * SECOND;
const BACKOFF_MAX_MS = 60 * SECOND;
/** The platform drops an alarm after six retries. The object schedules a new one before that. */
const RETRIES_MAX = 5;

const PAGE_TABLE = { page: 'id INTEGER PRIMARY KEY, content TEXT NOT NULL' };

interface LedgerRules<State, Content, Event> extends LogName<State>, Packing<Content> {
  empty: State;
  tables: Record<string, string>;
  /** Increases with every change. Each event has a version of its own. */
  versionOf(state: State): number;
  dueAt(state: State): number | null;
  /** Runs before the first operation after `dueAt` and with every alarm. */
  passTime(): void;
  /** True if the steps between two states are uses alone, so that their projection may wait. Absent if none may. */
  isUse?(before: State, after: State): boolean;
  /** Queues the message that updates the database. May repeat the same message. The database acknowledges with `published`. */
  publish(state: State, events: Event[], called: Called): Promise<void>;
  /** Updates the database after uses alone. Returns whether it is done: if not, a message does it. Required with `isUse`. */
  storeUses?(state: State, called: Called): Promise<boolean>;
}

interface LedgerRow<State> extends OutboxPage {
  state: State;
  /** Latest time seen. Time never runs backwards in an object. */
  seenAt: number;
  /** Set once a caller's time was not wall time (sandbox session, moved local chain). From then on only such callers advance `seenAt`. */
  followsCallers: boolean;
  lastTick: number;
  /** Request id of the last change, logged by the alarm that publishes the change. Null if time alone caused it. */
  changedBy: string | null;
  /** Alarm at the time of the write, so that an object that wakes does not set the same one again. */
  alarmAt: number | null;
}

/**
 * State, idempotent operations, outbox and the single alarm of an object that counts exactly. Calls that arrive during a commit go together
 * in the next one. Everything except `run`, `wake`, `published` and `load` runs inside an operation, which is synchronous and returns
 * refusals instead of throwing.
 */
export class Ledger<State, Content, Event> {
  readonly #storage: DurableObjectStorage;
  readonly #rules: LedgerRules<State, Content, Event>;
  readonly tables: Tables;
  readonly operations: Operations<Content>;
  #page!: LedgerRow<State>;
  readonly #groups = new Groups((group) => this.#commit(group));
  cause: string | undefined;
  /** Null if unknown to this instance: the next write sets the alarm. */
  #alarmAt: number | null = null;
  #isAwake = false;
  /** Past flush of uses that a waking instance found. Its alarm has rung, or is about to. */
  #rungAt: number | null = null;
  #hasEmitted = false;
  #backoffUntil = 0;

  constructor(storage: DurableObjectStorage, rules: LedgerRules<State, Content, Event>) {
    this.#storage = storage;
    this.#rules = rules;
    this.tables = new Tables(storage.sql, { ...PAGE_TABLE, ...BLOCK_TABLES, ...OUTBOX_TABLE, ...rules.tables });
    this.operations = new Operations(this.tables, rules);
    this.load();
  }

  /**
   * Resolves once the operation is durable, alone or in a group, in order of arrival. The caller's `now` is clamped to CLOCK_SKEW_MS.
   * Rejects if the operation throws, and then stores nothing of it.
   */
  run<T>(called: Called, operation: () => T): Promise<T> {
    return this.#groups.run(called, operation);
  }

  /** Alarm handler: applies time, publishes, purges and schedules the next alarm. Idempotent. */
  async wake(retryCount: number): Promise<void> {
    this.#alarmAt = null;
    // The platform retries a failing alarm. A new alarm set meanwhile would replace the retry and reset its count.
    this.#isAwake = true;
    try {
      await this.#runHere(() => this.#rules.passTime());
      await this.#storeUses();
      await this.#publish();
      await this.#runHere(() => this.operations.purge(Date.now()));
      this.#backoffUntil = 0;
    } catch (error) {
      this.#backoffUntil = Date.now() + Math.min(BACKOFF_MS * 2 ** retryCount, BACKOFF_MAX_MS);
      if (retryCount < RETRIES_MAX) throw error;
    } finally {
      this.#isAwake = false;
    }
    this.#scheduleAlarm();
  }

  /** Removes acknowledged events from the outbox. Safe if late, repeated or out of order. */
  published(projected: Projected): Promise<void> {
    return this.#runHere(() => this.#turnPage(acknowledge(this.#page, projected, Date.now(), this.tables)), projected.requestId);
  }

  get now(): number {
    return this.#page.seenAt;
  }

  get state(): State {
    return this.#page.state;
  }

  set state(state: State) {
    this.#turnPage({ ...this.#page, state });
  }

  /** Returns a unique, increasing number close to the current time in milliseconds. */
  nextTick(): number {
    const lastTick = Math.max(this.now, this.lastTick + 1);
    this.#turnPage({ ...this.#page, lastTick });
    return lastTick;
  }

  get lastTick(): number {
    return this.#page.lastTick;
  }

  /** Queues an event at the state's current version, which carries one event at most. */
  emit(event: Event): void {
    this.#hasEmitted = true;
    this.tables.write('INSERT INTO outbox VALUES (?, ?)', this.#version(), JSON.stringify(event));
  }

  /** True if the database has every event. */
  get isPublished(): boolean {
    return this.tables.rows('SELECT 1 FROM outbox LIMIT 1').length === 0;
  }

  /** Replaces state and keys by `state`, which has the version of before and is therefore not published. Numbers go on, so that none comes twice. */
  forget(state: State): void {
    if (!this.tables.isEmpty) for (const table of Object.keys(BLOCK_TABLES)) this.tables.write(`DELETE FROM ${table}`);
    this.operations.load('');
    const version = this.#rules.versionOf(state);
    this.#turnPage({ ...this.#page, ...EMPTY_OUTBOX, publishedVersion: version, sentVersion: version, state, changedBy: null });
  }

  #runHere<T>(operation: () => T, requestId?: string): Promise<T> {
    return this.run({ now: Date.now(), requestId }, operation);
  }

  async #commit(group: readonly Waiting[]): Promise<Outcome[]> {
    const startedAt = Date.now();
    try {
      const outcomes = this.#apply(group);
      if (this.tables.isDirty) await this.#storage.sync();
      if (this.tables.isDirty || outcomes.some(({ ok }) => !ok)) logCommit(this.#rules, this.#page.state, { group, outcomes, startedAt });
      return outcomes;
    } catch (error) {
      this.load();
      throw error;
    }
  }

  /**
   * Runs the group in one transaction. If an operation throws, all roll back, and each runs again under its own savepoint. A savepoint per
   * operation from the start would add a third to the cost of a consume.
   */
  #apply(group: readonly Waiting[]): Outcome[] {
    try {
      return this.#transact(() => group.map((waiting) => ({ ok: true, answer: this.#perform(waiting) })));
    } catch {
      this.load();
      return this.#transact(() => group.map((waiting) => this.#attempt(waiting)));
    }
  }

  #transact(perform: () => Outcome[]): Outcome[] {
    this.tables.isDirty = false;
    this.#hasEmitted = false;
    const before = this.#page.state;
    return this.#storage.transactionSync(() => {
      const outcomes = perform();
      if (!this.tables.isDirty) return outcomes;
      this.#page = this.#withFlush(before);
      this.#scheduleAlarm();
      this.#page = { ...this.#page, alarmAt: this.#alarmAt };
      this.tables.write(
        'INSERT INTO page VALUES (1, ?) ON CONFLICT DO UPDATE SET content = excluded.content',
        rowText(this.#page, this.operations.tail),
      );
      return outcomes;
    });
  }

  #withFlush(before: State): LedgerRow<State> {
    const now = Date.now();
    if (this.#version() === this.#rules.versionOf(before)) return this.#page;
    const isUse = !this.#hasEmitted && this.#rules.isUse?.(before, this.#page.state) === true;
    // A use replaces a flush that has rung by a new one. Any other write repeats it, because it may not have rung.
    const hasFlushed = isUse && this.#rungAt !== null && this.#page.flushAt === this.#rungAt;
    return noteChange(hasFlushed ? flushed(this.#page, this.#rungAt!) : this.#page, { isUse, now });
  }

  #perform({ called: { now, aheadMs = 0, requestId }, operation }: Waiting): unknown {
    const followsCallers = this.#page.followsCallers || aheadMs !== 0;
    const isStable = followsCallers && aheadMs === 0;
    const seenAt = isStable ? this.now : Math.max(this.now, believable(now - aheadMs) + aheadMs);
    this.#page = { ...this.#page, seenAt, followsCallers };
    this.cause = requestId;
    const version = this.#version();
    if ((this.#rules.dueAt(this.#page.state) ?? Number.POSITIVE_INFINITY) <= seenAt) this.#rules.passTime();
    const answer = operation();
    if (this.#version() !== version) this.#page = { ...this.#page, changedBy: requestId ?? null };
    return answer;
  }

  #attempt(waiting: Waiting): Outcome {
    const [page, isDirty, tail] = [this.#page, this.tables.isDirty, this.operations.tail];
    try {
      return { ok: true, answer: this.#storage.transactionSync(() => this.#perform(waiting)) };
    } catch (error) {
      this.#page = page;
      this.tables.load();
      this.tables.isDirty = isDirty;
      this.operations.load(tail);
      return { ok: false, error };
    }
  }

  readonly #version = (): number => this.#rules.versionOf(this.#page.state);

  #turnPage(page: LedgerRow<State>): void {
    if (page === this.#page) return;
    this.#page = page;
    this.tables.isDirty = true;
  }

  /**
   * Stores uses alone in the database. No row of the object records it: the platform rings an alarm until its handler ends, so a crash
   * repeats it.
   */
  async #storeUses(): Promise<void> {
    const { flushAt, isUseOnly, state, seenAt, changedBy } = this.#page;
    if (flushAt === null || !isUseOnly || !this.#rules.storeUses) return;
    // Before waiting, because a use that arrives meanwhile plans a flush of its own.
    this.#page = flushed(this.#page, Date.now());
    let isStored = false;
    try {
      isStored = await this.#rules.storeUses(state, { now: seenAt, requestId: changedBy ?? undefined });
    } finally {
      const isErased = this.#version() < this.#rules.versionOf(state);
      if (!isStored && !isErased) this.#page = { ...this.#page, flushAt };
    }
  }

  async #publish(): Promise<void> {
    const requestId = this.#page.changedBy ?? undefined;
    // Recorded before sending: a crash in between repeats the message and never loses it.
    const due = await this.#runHere(() => {
      const { page, messages } = takeMessages<LedgerRow<State>, Event>(this.#page, this.#version(), Date.now(), this.tables);
      this.#turnPage(page);
      return { ...page, messages };
    }, requestId);
    for (const events of due.messages) await this.#rules.publish(due.state, events, { now: due.seenAt, requestId });
  }

  /** Sets the object's single alarm to the earliest of publishing, the state's own time and purging. */
  #scheduleAlarm(): void {
    if (this.#isAwake) return;
    const dueAt = this.#page.followsCallers ? null : this.#rules.dueAt(this.#page.state);
    const moments = [sendAt(this.#page), dueAt, this.operations.purgeAt].filter((moment) => moment !== null);
    if (moments.length === 0) return;
    const alarmAt = Math.max(Math.min(...moments), this.#backoffUntil);
    if (alarmAt !== this.#alarmAt) void this.#storage.setAlarm(alarmAt);
    this.#alarmAt = alarmAt;
  }

  load(): void {
    this.tables.load();
    const stored = readRow<LedgerRow<State>>(this.tables.rows<{ content: string }>('SELECT content FROM page')[0]?.content);
    this.operations.load(stored?.tail ?? '');
    const empty = {
      state: this.#rules.empty,
      seenAt: 0,
      followsCallers: false,
      lastTick: 0,
      changedBy: null,
      alarmAt: null,
      ...EMPTY_OUTBOX,
    };
    const { seenAt, ...page } = stored?.page ?? empty;
    this.#rungAt = hasRung(page, Date.now()) ? page.flushAt : null;
    this.#page = { ...page, seenAt: page.followsCallers ? seenAt : believable(seenAt) };
    this.#alarmAt = page.alarmAt !== null && page.alarmAt > Date.now() ? page.alarmAt : null;
  }
}

/** Clamps a caller's time to the object's clock. */
const believable = (now: number): number => Math.min(Math.max(now, Date.now() - CLOCK_SKEW_MS), Date.now() + CLOCK_SKEW_MS);
