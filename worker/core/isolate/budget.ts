import { AsyncLocalStorage } from 'node:async_hooks';

/** Calls of one invocation to bindings and the network together: `limits.subrequests` of wrangler.toml. */
export const CALLS_MAX = 1000;
/** Reserve for finishing the work in progress, storing the end of a run and sending its next round. */
const RESERVED_CALLS = 150;

export class Budget {
  #spent = 0;

  charge(): void {
    this.#spent++;
  }

  get spent(): number {
    return this.#spent;
  }

  get left(): number {
    return Math.max(0, CALLS_MAX - RESERVED_CALLS - this.#spent);
  }

  rows(callsEach: number, max: number): number {
    return Math.min(max, Math.floor(this.left / callsEach));
  }
}

const budgets = new AsyncLocalStorage<Budget>();

/** Runs an invocation with a budget. A nested invocation shares the outer budget. */
export const withBudget = <T>(run: () => T): T => (budgets.getStore() ? run() : budgets.run(new Budget(), run));

export const currentBudget = (): Budget => budgets.getStore() ?? new Budget();

export const chargeCall = (): void => budgets.getStore()?.charge();

const network = globalThis.fetch;
/** Replaces the global `fetch`, because libraries call it too. */
export const chargedFetch: typeof fetch = (...request: Parameters<typeof fetch>) => {
  chargeCall();
  return network(...request);
};
globalThis.fetch = chargedFetch;

type Verbs = Record<PropertyKey, (...args: unknown[]) => unknown>;

const LOCAL_VERBS = new Set<PropertyKey>(['writeDataPoint']);
const OPENING_VERBS = new Set<PropertyKey>(['getByName']);

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

/** Charged form of each environment and binding, and of each charged one itself, so that nothing is charged twice. */
const known = new WeakMap<object, object>();

function chargedOnce<T extends object>(one: T, charge: (one: T) => T): T {
  const before = known.get(one) as T | undefined;
  if (before) return before;
  const after = charge(one);
  known.set(one, after);
  known.set(after, after);
  return after;
}

/** Name of a database binding. A binding's type cannot be detected otherwise: a service binding answers to every property. */
export const isDatabaseName = (name: PropertyKey): boolean => /^(?:DB(?:_\d+)?|DIRECTORY)$/.test(String(name));

/** Databases of merchants: `DB`, then `DB_2`, `DB_3` and so on. */
export function databaseNamesOf(env: object): ['DB', ...string[]] {
  const others = Object.keys(env).filter((name) => name.startsWith('DB_') && isDatabaseName(name));
  return ['DB', ...others.sort((a, b) => Number(a.slice(3)) - Number(b.slice(3)))];
}

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
