import { AsyncLocalStorage } from 'node:async_hooks';

/** Calls that one invocation may make of all its bindings and of the network together: `limits.subrequests` of wrangler.toml. */
export const CALLS_MAX = 1000;
/** Calls set aside to finish what runs at once, to store the end of a run, and to send its next round. */
const RESERVED_CALLS = 150;

/** Calls of one invocation. Each binding charges its own calls, and so does `fetch`: no caller has to. */
export class Budget {
  #spent = 0;

  charge(): void {
    this.#spent++;
  }

  get spent(): number {
    return this.#spent;
  }

  /** Calls that work may still make. At 0 a run begins no further row, ends, and leaves the rest to its next round. */
  get left(): number {
    return Math.max(0, CALLS_MAX - RESERVED_CALLS - this.#spent);
  }

  /** Number of rows that still fit where each may take `callsEach` calls, and at most `max`. */
  rows(callsEach: number, max: number): number {
    return Math.min(max, Math.floor(this.left / callsEach));
  }
}

const budgets = new AsyncLocalStorage<Budget>();

/** Runs an invocation under a budget of its own. One that is begun within another shares the budget of that one. */
export const withBudget = <T>(run: () => T): T => (budgets.getStore() ? run() : budgets.run(new Budget(), run));

/** Budget of the invocation that runs; outside of any, one that no other code shares. */
export const currentBudget = (): Budget => budgets.getStore() ?? new Budget();

export const chargeCall = (): void => budgets.getStore()?.charge();

const network = globalThis.fetch;
/** Charges the call. It is the global one, because libraries fetch too. */
export const chargedFetch: typeof fetch = (...request: Parameters<typeof fetch>) => {
  chargeCall();
  return network(...request);
};
globalThis.fetch = chargedFetch;

type Verbs = Record<PropertyKey, (...args: unknown[]) => unknown>;

/** Verbs of a binding that call nothing. */
const LOCAL_VERBS = new Set<PropertyKey>(['writeDataPoint']);
/** Verbs that give another thing to call. */
const OPENING_VERBS = new Set<PropertyKey>(['getByName']);

/** An object, bucket, queue or service, each call of which is charged. */
const charged = <B extends object>(binding: B): B =>
  new Proxy(binding, {
    get: (_, verb) => {
      const value: unknown = Reflect.get(binding, verb);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const call = () => (binding as Verbs)[verb]!(...args);
        if (OPENING_VERBS.has(verb)) return charged(call() as object);
        if (!LOCAL_VERBS.has(verb)) chargeCall();
        return call();
      };
    },
  });

/** The charged form of each environment and binding, and of each charged one itself, so that nothing is charged twice. */
const known = new WeakMap<object, object>();

function chargedOnce<T extends object>(one: T, charge: (one: T) => T): T {
  const before = known.get(one) as T | undefined;
  if (before) return before;
  const after = charge(one);
  known.set(one, after);
  known.set(after, after);
  return after;
}

/** Names of databases. What else a binding is cannot be asked: the one of a service has every property. */
export const isDatabaseName = (name: PropertyKey): boolean => /^DB(?:_\d+)?$/.test(String(name));

/** An environment with bindings that charge their calls. Databases are left as they are: `databasesOf` opens them, and charges. */
export const chargedEnv = <E extends object>(env: E): E =>
  chargedOnce(
    env,
    () =>
      new Proxy(env, {
        get: (_, name) => {
          const value: unknown = Reflect.get(env, name);
          return typeof value === 'object' && value !== null && !isDatabaseName(name) ? chargedOnce(value, charged) : value;
        },
      }),
  );
