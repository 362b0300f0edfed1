import { SECOND } from '#core/time.ts';
import type { Called, Projected } from '#rules/entitlement-rpc.ts';
import { BLOCK_TABLES } from './blocks.ts';
import { Groups, type LogName, logCommit, type Outcome, type Waiting } from './groups.ts';
import { Operations, type Packing, readRow, rowText } from './operations.ts';
import { acknowledge, EMPTY_OUTBOX, noteChange, OUTBOX_TABLE, type OutboxPage, sendAt, takeMessages } from './outbox.ts';
import { Tables } from './tables.ts';

/** How far a caller's clock is believed: one that is a day ahead must not end access, nor make keys forgotten. */
const CLOCK_SKEW_MS = 5 * SECOND;
const BACKOFF_MS = 2 * SECOND;
const BACKOFF_MAX_MS = 60 * SECOND;
/** The platform gives an alarm up after six retries; before that we set a new one. */
const RETRIES_MAX = 5;

const PAGE_TABLE = { page: 'id INTEGER PRIMARY KEY, content TEXT NOT NULL' };

/** What an object tells its ledger about its state. */
interface LedgerRules<State, Content, Event> extends LogName<State>, Packing<Content> {
  empty: State;
  /** The object's own tables: their columns, by name. */
  tables: Record<string, string>;
  /** Grows with every change; an event is told of one version. */
  versionOf(state: State): number;
  /** When time alone will change the state next; null: never. */
  dueAt(state: State): number | null;
  /** Runs before the first operation after that time, and with every alarm. */
  passTime(): void;
  /** Sends a message that tells the database, which answers with `published`. May be called again with the same. */
  publish(state: State, events: Event[], called: Called): Promise<void>;
}

interface LedgerRow<State> extends OutboxPage {
  state: State;
  /** The latest moment seen: time does not run backwards in here. */
  seenAt: number;
  /** A caller's time was not wall time (sandbox session, moved local chain): since then only such callers move `seenAt`. */
  followsCallers: boolean;
  lastTick: number;
  /** Id of the request behind the last change, which the alarm that publishes it logs too; null: time alone. */
  changedBy: string | null;
}

/**
 * State, operations once per key, outbox and the one alarm of an object with exact accounts. Calls that arrive during a commit go together
 * in the next one, because a durable commit costs more than the work in it. Everything but `run`, `wake`, `published` and `load` belongs
 * inside an operation, which is synchronous and answers refusals instead of throwing.
 */
export class Ledger<State, Content, Event> {
  readonly #storage: DurableObjectStorage;
  readonly #rules: LedgerRules<State, Content, Event>;
  readonly tables: Tables;
  readonly operations: Operations<Content>;
  #page!: LedgerRow<State>;
  readonly #groups = new Groups((group) => this.#commit(group));
  /** Id of the request that the operation under way goes back to. */
  cause: string | undefined;
  /** As set by this instance; null: not known, so the next write sets it. */
  #alarmAt: number | null = null;
  #isAwake = false;
  #backoffUntil = 0;

  constructor(storage: DurableObjectStorage, rules: LedgerRules<State, Content, Event>) {
    this.#storage = storage;
    this.#rules = rules;
    this.tables = new Tables(storage.sql, { ...PAGE_TABLE, ...BLOCK_TABLES, ...OUTBOX_TABLE, ...rules.tables });
    this.operations = new Operations(this.tables, rules);
    this.load();
  }

  /**
   * Answers once it is durable, alone or with the others that came meanwhile, in order. The caller's `now` is believed within a few
   * seconds. Rejects for a bug in the operation, of which nothing is stored then.
   */
  run<T>(called: Called, operation: () => T): Promise<T> {
    return this.#groups.run(called, operation);
  }

  /** For alarm(): lets time pass, publishes, purges, and sets the next alarm. Doing it twice is harmless. */
  async wake(retryCount: number): Promise<void> {
    this.#alarmAt = null;
    // A failing alarm is called again by the platform; one set meanwhile would take its place, and lose its count.
    this.#isAwake = true;
    try {
      await this.#runHere(() => this.#rules.passTime());
      await this.#publish();
      await this.#runHere(() => this.operations.purge(Date.now()));
      this.#backoffUntil = 0;
    } catch (error) {
      this.#backoffUntil = Date.now() + Math.min(BACKOFF_MS * 2 ** retryCount, BACKOFF_MAX_MS);
      if (retryCount < RETRIES_MAX) throw error;
    } finally {
      this.#isAwake = false;
    }
    this.#arm();
  }

  /** The database has what it was told: only now may the outbox forget it. Late, doubled or out of order: harmless. */
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

  /** A number for whatever happens now: unique in this object, growing, and close to the time in milliseconds. */
  nextTick(): number {
    const lastTick = Math.max(this.now, this.lastTick + 1);
    this.#turnPage({ ...this.#page, lastTick });
    return lastTick;
  }

  get lastTick(): number {
    return this.#page.lastTick;
  }

  /** Goes out with the state's present version: one event for each. */
  emit(event: Event): void {
    this.tables.write('INSERT INTO outbox VALUES (?, ?)', this.#version(), JSON.stringify(event));
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
      this.load(); // Nothing of it is stored, so nothing of it may stay in memory.
      throw error;
    }
  }

  /**
   * One transaction for the group. A bug in one operation rolls all of them back; only then each is given a savepoint of its own,
   * so that its neighbours stand: one for every operation would cost a third of what a consume costs in here.
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
    return this.#storage.transactionSync(() => {
      const outcomes = perform();
      if (!this.tables.isDirty) return outcomes;
      this.#page = noteChange(this.#page, this.#version(), Date.now());
      this.tables.write(
        'INSERT INTO page VALUES (1, ?) ON CONFLICT DO UPDATE SET content = excluded.content',
        rowText(this.#page, this.operations.tail),
      );
      this.#arm();
      return outcomes;
    });
  }

  #perform({ called: { now, aheadMs = 0, requestId }, operation }: Waiting): unknown {
    const followsCallers = this.#page.followsCallers || aheadMs !== 0;
    const standsStill = followsCallers && aheadMs === 0;
    const seenAt = standsStill ? this.now : Math.max(this.now, believable(now - aheadMs) + aheadMs);
    this.#page = { ...this.#page, seenAt, followsCallers };
    this.cause = requestId;
    const version = this.#version();
    if ((this.#rules.dueAt(this.#page.state) ?? Number.POSITIVE_INFINITY) <= seenAt) this.#rules.passTime();
    const answer = operation();
    if (this.#version() !== version) this.#page = { ...this.#page, changedBy: requestId ?? null };
    return answer;
  }

  /** An operation that throws takes back what it did itself. */
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

  async #publish(): Promise<void> {
    const requestId = this.#page.changedBy ?? undefined;
    // Noted before it is sent: a crash between the two sends it again, never not at all.
    const due = await this.#runHere(() => {
      const { page, messages } = takeMessages<LedgerRow<State>, Event>(this.#page, this.#version(), Date.now(), this.tables);
      this.#turnPage(page);
      return { ...page, messages };
    }, requestId);
    for (const events of due.messages) await this.#rules.publish(due.state, events, { now: due.seenAt, requestId });
  }

  /** One slot for all that waits for a moment: publishing, the state's own time, purging. */
  #arm(): void {
    if (this.#isAwake) return;
    const dueAt = this.#page.followsCallers ? null : this.#rules.dueAt(this.#page.state);
    const moments = [sendAt(this.#page), dueAt, this.operations.purgeAt].filter((moment) => moment !== null);
    if (moments.length === 0) return;
    const alarmAt = Math.max(Math.min(...moments), this.#backoffUntil);
    if (alarmAt !== this.#alarmAt) void this.#storage.setAlarm(alarmAt);
    this.#alarmAt = alarmAt;
  }

  load(): void {
    this.#alarmAt = null;
    this.tables.load();
    const stored = readRow<LedgerRow<State>>(this.tables.rows<{ content: string }>('SELECT content FROM page')[0]?.content);
    this.operations.load(stored?.tail ?? '');
    const empty = { state: this.#rules.empty, seenAt: 0, followsCallers: false, lastTick: 0, changedBy: null, ...EMPTY_OUTBOX };
    const { seenAt, ...page } = stored?.page ?? empty;
    this.#page = { ...page, seenAt: page.followsCallers ? seenAt : believable(seenAt) };
  }
}

/** Callers say what time it is; the object's own clock says how far that can be true. */
const believable = (now: number): number => Math.min(Math.max(now, Date.now() - CLOCK_SKEW_MS), Date.now() + CLOCK_SKEW_MS);
