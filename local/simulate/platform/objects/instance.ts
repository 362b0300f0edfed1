import { cloneInto } from '../clone.ts';
import type { Pass, Realm } from '../way.ts';
import { type AfterTurn, InputGate } from './input-gate.ts';
import { ObjectStorage } from './object-storage.ts';
import type { ObjectStore } from './object-store.ts';

/** `ctx` of a Durable Object. */
export interface ObjectContext {
  id: { name?: string; toString(): string };
  storage: ObjectStorage;
  props: object;
  waitUntil(work: Promise<unknown>): void;
  blockConcurrencyWhile<T>(run: () => Promise<T>): Promise<T>;
  abort(reason?: unknown): void;
}

/** Isolate in which an instance of an object lives. */
export interface ObjectIsolate {
  realm: Realm;
  /** Creates the instance. Its calls to bindings and timers go through `pass`, which holds them at the object's gates. */
  construct(ctx: ObjectContext, pass: Pass): object;
}

/** End of an instance, as its callers see it. */
export interface Reset {
  /** Thrown by the application, or an error of the platform with `message`. */
  thrown?: { value: unknown; by: 'method' | 'reset' | 'abort' };
  message?: string;
  retryable?: true;
  overloaded?: true;
}

export type Outcome = { ok: true; value: unknown } | { ok: false; reset: Reset };

/** A promise of its own each time: one for all would hold everyone who ever waited for it. */
const never = () => new Promise<never>(() => {});

interface InstanceOptions {
  id: ObjectContext['id'];
  target: string;
  store: ObjectStore;
  isolate: ObjectIsolate;
  pass: Pass;
  now(): number;
  afterTurn: AfterTurn;
  onReset(reset: Reset): void;
}

/** Instance of an object, from its construction to its eviction or reset, with its input and output gate. */
export class Instance {
  readonly #options: InstanceOptions;
  readonly #gate: InputGate;
  readonly #callers = new Set<(outcome: Outcome) => void>();
  #object: object | null = null;
  #reset: Reset | null = null;
  #isGone = false;
  /** Pending commit. */
  #flush: PromiseWithResolvers<void> | null = null;

  constructor(options: InstanceOptions) {
    this.#options = options;
    this.#gate = new InputGate(options.afterTurn);
    options.store.onWrite = () => this.#scheduleCommit();
  }

  get realm(): Realm {
    return this.#options.isolate.realm;
  }

  get isIdle(): boolean {
    return this.#callers.size === 0 && this.#flush === null;
  }

  /** Resolves once everything written is durable, or lost with the instance. */
  durable(): Promise<void> {
    return this.#isGone || !this.#flush ? Promise.resolve() : this.#flush.promise;
  }

  /** Ends the instance without a trace. Its code runs on, and gets no answer any longer. */
  drop(): void {
    this.#isGone = true;
    this.#callers.clear();
    this.#options.store.onWrite = () => {};
    this.#flush?.resolve();
  }

  /** Ends the instance. Writes that are not durable are lost, and every caller gets the reset. */
  end(reset: Reset): void {
    if (this.#isGone) return;
    this.#reset = reset;
    const callers = [...this.#callers];
    this.drop();
    this.#options.store.lose();
    for (const answer of callers) answer({ ok: false, reset });
    this.#options.onReset(reset);
  }

  /** Delivers an event. Its outcome, success or not, waits until everything written before is durable. */
  deliver(handle: (object: object) => unknown): Promise<Outcome> {
    if (this.#reset) return Promise.resolve({ ok: false, reset: this.#reset });
    return new Promise((resolve) => {
      this.#callers.add(resolve);
      void this.#handle(handle).then((outcome) => {
        if (this.#callers.delete(resolve)) resolve(outcome);
      });
    });
  }

  async #handle(handle: (object: object) => unknown): Promise<Outcome> {
    await this.#gate.enter();
    let outcome: Outcome;
    try {
      if (this.#object === null) {
        this.#construct();
        if (this.#gate.isBlocked) await this.#gate.enter();
      }
      outcome = { ok: true, value: cloneInto(await handle(this.#object!), globalThis) };
    } catch (value) {
      outcome = { ok: false, reset: this.#reset ?? { thrown: { value, by: 'method' } } };
    }
    await this.durable();
    return outcome;
  }

  #construct(): void {
    const { isolate } = this.#options;
    try {
      this.#object = isolate.construct(this.#context(isolate.realm), this.#pass);
    } catch (value) {
      this.end({ thrown: { value, by: 'reset' } });
      throw value;
    }
  }

  #context(realm: Realm): ObjectContext {
    const { store, now, id } = this.#options;
    const storage = new ObjectStorage(store, {
      realm,
      now,
      assertAlive: () => {
        if (this.#isGone) throw new realm.Error('Durable Object storage is no longer accessible.');
      },
      durable: async () => {
        await this.durable();
        if (this.#isGone) await never();
      },
      hasAlarmHandler: () => this.#object === null || typeof (this.#object as { alarm?: unknown }).alarm === 'function',
    });
    return {
      id,
      storage,
      props: {},
      waitUntil: (work) => void Promise.resolve(work).catch(() => {}),
      blockConcurrencyWhile: (run) => {
        const section = this.#block(run);
        // A constructor does not wait for its section, and the callers get its error.
        section.catch(() => {});
        return section;
      },
      abort: (value = new realm.Error('Application called abort() to reset Durable Object.')) => {
        this.end({ thrown: { value, by: 'abort' } });
        throw value;
      },
    };
  }

  async #block<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await this.#gate.block(run);
    } catch (value) {
      this.end({ thrown: { value, by: 'reset' } });
      throw value;
    }
  }

  /** Carries what the object sends: not before its writes are durable, and its answer enters like an event. */
  readonly #pass: Pass = async (way, work) => {
    if (way.kind !== 'timer') await this.durable();
    if (this.#isGone) return never();
    try {
      return await this.#options.pass(way, work);
    } finally {
      if (this.#isGone) await never();
      await this.#gate.enter();
    }
  };

  #scheduleCommit(): void {
    const { pass, store, target, afterTurn } = this.#options;
    const flush = Promise.withResolvers<void>();
    this.#flush = flush;
    const commit = () => {
      if (this.#isGone) return;
      store.commit();
      this.#flush = null;
    };
    const fail = () => this.end({ message: 'Internal error in Durable Object storage write caused object to be reset.', retryable: true });
    afterTurn(() => {
      if (this.#isGone) return;
      pass({ kind: 'object', target, verb: 'commit' }, commit).then(() => {
        if (!this.#isGone) flush.resolve();
      }, fail);
    });
  }
}
