import { AsyncLocalStorage } from 'node:async_hooks';
import { createRequire } from 'node:module';
import { nodeCrypto } from './crypto.ts';
import { OWN_GLOBALS, type OwnGlobals, type Program } from './program.ts';
import type { Random } from './random.ts';

/** Surroundings of an isolate in one history. */
export interface Surroundings {
  random: Random;
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  setTimer(ms: number, run: () => void, options?: { isIdle: boolean }): number;
  clearTimer(id: number): void;
  log(isolate: Isolate, line: string): void;
  /** Ends the objects that lived in it. */
  onDeath(isolate: Isolate, cause: string): void;
}

type Class = new (ctx: unknown, env: unknown) => Record<string, unknown>;

export interface Service {
  worker: {
    fetch(request: Request, env: unknown, execution: unknown): Promise<Response>;
    queue(batch: unknown, env: unknown, execution: unknown): Promise<void>;
    scheduled(controller: unknown, env: unknown, execution: unknown): Promise<void>;
  };
  Admission: Class;
  Entitlement: Class;
  MeteredSession: Class;
  withBudget<T>(run: () => T): T;
  chargeCall(): void;
  forgetAll(): void;
  openApiDocument(): object;
}

const nativeRequire = createRequire(import.meta.url);
const none = () => {};

/**
 * Instance of the service with memory of its own. It outlives its history, because the service takes longer to load than a history does to
 * run. A new life begins without memory, as a new isolate does.
 */
export class Isolate {
  readonly name: string;
  readonly service: Service;
  /** Counts deaths. What an earlier life began does not go on. */
  life = 0;
  readonly running = new Set<{ abandon(): void }>();
  #around: Surroundings | null = null;

  constructor(name: string, program: Program) {
    this.name = name;
    const globals = this.#globals();
    this.service = program(...OWN_GLOBALS.map((own) => globals[own])) as unknown as Service;
  }

  enter(around: Surroundings): void {
    this.#around = around;
    this.life++;
    this.service.forgetAll();
  }

  leave(): void {
    this.life++;
    this.running.clear();
    this.#around = null;
  }

  kill(cause: string): void {
    this.life++;
    this.service.forgetAll();
    const abandoned = [...this.running];
    this.running.clear();
    this.#around?.onDeath(this, cause);
    for (const invocation of abandoned) invocation.abandon();
  }

  #here(): Surroundings {
    if (!this.#around) throw new Error(`${this.name} is in no history`);
    return this.#around;
  }

  #globals(): OwnGlobals {
    const set = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): number => {
      const bound = AsyncLocalStorage.bind(() => run(...args));
      return this.#here().setTimer(ms, bound);
    };
    const clear = (id: number | undefined): void => {
      if (id !== undefined) this.#around?.clearTimer(id);
    };
    const every = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): object => {
      const timer = { id: 0 };
      const again = AsyncLocalStorage.bind(() => {
        timer.id = this.#here().setTimer(ms, again);
        run(...args);
      });
      timer.id = this.#here().setTimer(ms, again);
      return timer;
    };
    const own: Record<string, unknown> = {
      fetch: (input: string | URL | Request, init?: RequestInit) => this.#here().fetch(input, init),
      setTimeout: set,
      clearTimeout: clear,
      setInterval: every,
      clearInterval: (timer: { id: number } | undefined) => clear(timer?.id),
      setImmediate: (run: () => void) => set(run),
      clearImmediate: clear,
      scheduler: { wait: (ms: number) => new Promise<void>((resolve) => void set(() => resolve(), ms)) },
      AbortSignal: this.#abortSignal(),
      console: { log: (line: unknown) => this.#here().log(this, String(line)), warn: none, error: none, info: none, debug: none },
      isSecureContext: true,
    };
    const home: Record<string, unknown> = Object.create(globalThis, {
      crypto: { get: () => globalThis.crypto },
      fetch: { value: own.fetch, writable: true },
    });
    for (const name of Object.keys(own)) if (name !== 'fetch') home[name] = own[name];
    home.globalThis = home;
    const crypto = nodeCrypto(() => this.#here().random);
    const modules: Record<string, unknown> = { 'node:crypto': crypto, crypto };
    return {
      ...own,
      // Reads the property, because the service replaces it by one that counts calls.
      fetch: (...request: unknown[]) => (home.fetch as (...request: unknown[]) => unknown)(...request),
      require: (name: string) => modules[name] ?? nativeRequire(name),
      globalThis: home,
      self: home,
    } as OwnGlobals;
  }

  #abortSignal(): unknown {
    const timeout = (ms: number): AbortSignal => {
      const controller = new AbortController();
      const end = () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
      this.#here().setTimer(ms, end, { isIdle: true });
      return controller.signal;
    };
    class Signal extends AbortSignal {
      static override timeout = timeout;
      static override [Symbol.hasInstance](value: unknown): boolean {
        return value instanceof AbortSignal;
      }
    }
    return Signal;
  }
}
