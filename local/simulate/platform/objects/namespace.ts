import { createHash } from 'node:crypto';
import { abortedInto, cloneInto, platformError, thrownInto } from '../clone.ts';
import type { Value } from '../sqlite.ts';
import { type Pass, passAtOnce, type Realm } from '../way.ts';
import type { AfterTurn } from './input-gate.ts';
import type { ObjectIsolate, Outcome, Reset } from './instance.ts';
import { SimulatedObject } from './object.ts';

interface NamespaceOptions {
  name: string;
  /** Isolate of the next instance of an object. */
  isolateFor(target: string): ObjectIsolate;
  pass?: Pass;
  now?(): number;
  /** Runs a callback after the microtasks of the running turn. */
  afterTurn?: AfterTurn;
}

export interface DueAlarm {
  name: string;
  at: number;
}

/** Network failure between a caller and an object: the call may have been processed. */
export const CONNECTION_LOST: Reset = { message: 'Network connection lost.', retryable: true };

/** Objects of one class, each with a database and an alarm. */
export class SimulatedNamespace {
  readonly #options: Required<NamespaceOptions>;
  readonly #objects = new Map<string, SimulatedObject>();

  constructor(options: NamespaceOptions) {
    this.#options = { pass: passAtOnce, now: Date.now, afterTurn: setImmediate, ...options };
  }

  /** Binding of an isolate. `realm` is its global object, `pass` carries its calls. */
  binding(realm: Realm = globalThis, pass: Pass = this.#options.pass): NamespaceBinding {
    const call: Call = (name, verb, args) =>
      pass({ kind: 'object', target: this.#targetOf(name), verb }, () => this.#object(name).call(verb, args));
    return new NamespaceBinding(this.#options.name, realm, call);
  }

  /** Names of objects that were called at least once. */
  get names(): string[] {
    return [...this.#objects.keys()];
  }

  isRunning(name: string): boolean {
    return this.#objects.get(name)?.isRunning ?? false;
  }

  /** Drops the instance if nothing is under way in it. The next event creates another one from storage. */
  evict(name: string): boolean {
    return this.#objects.get(name)?.evict() ?? false;
  }

  /** Ends the instance at once. What it was doing ends with `reset`, and writes that are not durable are lost. */
  kill(name: string, reset: Reset = CONNECTION_LOST): void {
    this.#objects.get(name)?.kill(reset);
  }

  /** Alarms that the scheduler may run from their time on, and retries of failed ones. */
  get alarms(): DueAlarm[] {
    return [...this.#objects].flatMap(([name, object]) => (object.alarmAt === null ? [] : [{ name, at: object.alarmAt }]));
  }

  /** Runs an alarm now. A failure is retried: see `alarms`. */
  async runAlarm(name: string): Promise<void> {
    await this.#objects.get(name)?.runAlarm();
  }

  /** Reads rows of an object directly, without an event. */
  rows(name: string, sql: string, ...values: Value[]): Value[][] {
    return this.#objects.get(name)?.rows(sql, values) ?? [];
  }

  /** Ends every instance without an answer to its callers, and deletes every object. */
  close(): void {
    for (const object of this.#objects.values()) object.close();
    this.#objects.clear();
  }

  #targetOf(name: string): string {
    return `${this.#options.name}:${name}`;
  }

  #object(name: string): SimulatedObject {
    const known = this.#objects.get(name);
    if (known) return known;
    const target = this.#targetOf(name);
    const { isolateFor, ...options } = this.#options;
    const object = new SimulatedObject({
      ...options,
      target,
      id: new ObjectId(this.#options.name, name),
      isolateFor: () => isolateFor(name),
    });
    this.#objects.set(name, object);
    return object;
  }
}

/** Id of a named object: 64 hex digits. */
export class ObjectId {
  readonly name: string;
  readonly #namespace: string;

  constructor(namespace: string, name: string) {
    this.#namespace = namespace;
    this.name = name;
  }

  toString(): string {
    return createHash('sha256').update(`${this.#namespace}\0${this.name}`).digest('hex');
  }

  equals(other: ObjectId): boolean {
    return this.toString() === other.toString();
  }
}

type Call = (name: string, verb: string, args: unknown[]) => Promise<Outcome>;

function errorOf({ thrown, message = '', retryable, overloaded }: Reset, realm: Realm): unknown {
  if (!thrown) return platformError(realm, message, { ...(retryable && { retryable }), ...(overloaded && { overloaded }) });
  return thrown.by === 'abort'
    ? abortedInto(thrown.value, realm)
    : thrownInto(thrown.value, realm, thrown.by === 'reset' ? { durableObjectReset: true } : { remote: true });
}

/** `env.NAMESPACE`. */
export class NamespaceBinding {
  readonly #name: string;
  readonly #realm: Realm;
  readonly #call: Call;

  constructor(name: string, realm: Realm, call: Call) {
    this.#name = name;
    this.#realm = realm;
    this.#call = call;
  }

  idFromName(name: string): ObjectId {
    return new ObjectId(this.#name, name);
  }

  get(id: ObjectId): object {
    return this.getByName(id.name);
  }

  /** Returns a stub: every property except `name` and `id` is a method of the object. */
  getByName(name: string): object {
    const id = this.idFromName(name);
    const methods = new Map<string, (...args: unknown[]) => Promise<unknown>>();
    const method = (verb: string) => {
      const known = methods.get(verb);
      if (known) return known;
      const made = (...args: unknown[]) => this.#send(name, verb, args);
      methods.set(verb, made);
      return made;
    };
    return new Proxy(
      {},
      {
        get: (_, property) => {
          if (property === 'name') return name;
          if (property === 'id') return id;
          // A stub may be the result of an async function, and is no promise.
          return typeof property === 'symbol' || property === 'then' ? undefined : method(property);
        },
      },
    );
  }

  async #send(name: string, verb: string, args: unknown[]): Promise<unknown> {
    // The caller may change its arguments as soon as it has called.
    const copies = args.map((one) => cloneInto(one, globalThis));
    const outcome = await this.#call(name, verb, copies);
    if (!outcome.ok) throw errorOf(outcome.reset, this.#realm);
    return this.#realm === globalThis ? outcome.value : cloneInto(outcome.value, this.#realm);
  }
}
