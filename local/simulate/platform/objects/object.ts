import { cloneInto } from '../clone.ts';
import type { Value } from '../sqlite.ts';
import type { Pass } from '../way.ts';
import type { AfterTurn } from './input-gate.ts';
import { Instance, type ObjectContext, type ObjectIsolate, type Outcome, type Reset } from './instance.ts';
import { ObjectStore } from './object-store.ts';

const RETRY_MS = 2000;
const RETRIES_MAX = 6;

interface ObjectOptions {
  target: string;
  id: ObjectContext['id'];
  isolateFor(): ObjectIsolate;
  pass: Pass;
  now(): number;
  afterTurn: AfterTurn;
}

type Methods = Record<string, ((...args: unknown[]) => unknown) | undefined>;

/** Durable Object: its storage, its alarm, and at most one instance. */
export class SimulatedObject {
  readonly #options: ObjectOptions;
  readonly #store = new ObjectStore();
  #instance: Instance | null = null;
  #isAlarmRunning = false;
  #isClosed = false;
  /** Failed runs of the alarm. `count` is what the handler gets, `at` the time of the next run. */
  #retry: { count: number; at: number } | null = null;

  constructor(options: ObjectOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#instance !== null;
  }

  get alarmAt(): number | null {
    if (this.#isAlarmRunning || this.#store.durableAlarmAt === null) return null;
    return this.#retry?.at ?? this.#store.durableAlarmAt;
  }

  call(verb: string, args: unknown[]): Promise<Outcome> {
    const instance = this.#wake();
    const { realm } = instance;
    const copies = realm === globalThis ? args : args.map((one) => cloneInto(one, realm));
    return instance.deliver((object) => {
      const method = Object.hasOwn(object, verb) ? undefined : (object as Methods)[verb];
      if (typeof method === 'function') return method.apply(object, copies);
      throw new TypeError(`The RPC receiver does not implement the method "${verb}".`);
    });
  }

  evict(): boolean {
    if (!this.#instance?.isIdle || this.#isAlarmRunning) return false;
    this.#instance.drop();
    this.#instance = null;
    return true;
  }

  kill(reset: Reset): void {
    this.#instance?.end(reset);
  }

  close(): void {
    this.#isClosed = true;
    this.#instance?.drop();
    this.#instance = null;
    this.#store.close();
  }

  rows(sql: string, values: Value[]): Value[][] {
    return this.#store.run(sql, values).rows;
  }

  async runAlarm(): Promise<void> {
    const scheduledTime = this.alarmAt;
    if (scheduledTime === null) return;
    this.#isAlarmRunning = true;
    const begunAt = this.#store.durableAlarmAt;
    const retryCount = this.#retry?.count ?? 0;
    const run = () =>
      this.#wake().deliver((object) => {
        this.#store.beginAlarm();
        return (object as Methods).alarm?.({ retryCount, isRetry: retryCount > 0, scheduledTime });
      });
    let outcome: Outcome | null = null;
    try {
      outcome = await this.#options.pass({ kind: 'alarm', target: this.#options.target, verb: 'alarm' }, run);
    } catch {
      // An alarm has no caller. It runs again.
    }
    if (this.#isClosed) return;
    const isSuccess = outcome?.ok === true;
    const isSame = this.#store.endAlarm(isSuccess) || this.#store.durableAlarmAt === begunAt;
    this.#retry = null;
    if (!isSuccess && isSame) this.#retryAlarm(retryCount, outcome?.ok === false);
    // The alarm runs again if the object dies before its deletion is durable.
    await this.#instance?.durable();
    this.#isAlarmRunning = false;
  }

  /** Only failures of the handler count as retries. After the last one, the alarm is deleted. */
  #retryAlarm(retryCount: number, hasFailed: boolean): void {
    if (hasFailed && retryCount >= RETRIES_MAX) {
      this.#store.alarmAt = null;
      if (!this.isRunning) this.#store.commit();
      return;
    }
    const count = hasFailed ? retryCount + 1 : retryCount;
    this.#retry = { count, at: this.#options.now() + RETRY_MS * 2 ** Math.max(0, count - 1) };
  }

  #wake(): Instance {
    if (this.#instance) return this.#instance;
    const { isolateFor, ...options } = this.#options;
    const instance: Instance = new Instance({
      ...options,
      isolate: isolateFor(),
      store: this.#store,
      onReset: () => {
        if (this.#instance === instance) this.#instance = null;
      },
    });
    this.#instance = instance;
    return instance;
  }
}
