import { CONSTRUCTORS, SCRIPTS } from './cases/scripts.ts';
import type { Namespace, Queue } from './platform.ts';

interface Cursor {
  toArray(): Record<string, unknown>[];
  one(): Record<string, unknown>;
  raw(): IterableIterator<unknown[]>;
  next(): { done?: boolean; value?: unknown };
  columnNames: string[];
  [Symbol.iterator](): IterableIterator<Record<string, unknown>>;
}

export interface Context {
  id: { name?: string; toString(): string };
  storage: {
    sql: { exec(sql: string, ...bindings: unknown[]): Cursor; databaseSize: number };
    transactionSync<T>(work: () => T): T;
    setAlarm(at: number | Date): Promise<void>;
    getAlarm(): Promise<number | null>;
    deleteAlarm(): Promise<void>;
    deleteAll(): Promise<void>;
    sync(): Promise<void>;
  };
  waitUntil(work: Promise<unknown>): void;
  blockConcurrencyWhile<T>(run: () => Promise<T>): Promise<T>;
  abort(reason?: unknown): void;
}

export interface Env {
  PROBE: Namespace;
  QUEUE: Queue;
  pause(ms: number): Promise<void>;
}

export interface Probe {
  ctx: Context;
  env: Env;
  /** State of this instance, which an eviction or a reset drops. */
  memory: Record<string, unknown>;
  log(entry: string): void;
}

type Base = new (ctx: Context, env: Env) => { ctx: Context; env: Env };

/** Class of the objects that the cases call: methods that run a script by its name. */
export const probeOf = (base: Base) =>
  class extends base implements Probe {
    memory: Record<string, unknown> = {};
    own = () => 'an own property is no method';

    constructor(ctx: Context, env: Env) {
      super(ctx, env);
      CONSTRUCTORS[ctx.id.name ?? '']?.(this);
    }

    get property(): string {
      return 'a value';
    }

    log(entry: string): void {
      this.ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS log (entry TEXT)');
      this.ctx.storage.sql.exec('INSERT INTO log VALUES (?)', entry);
    }

    run(script: string, ...args: unknown[]): unknown {
      return SCRIPTS[script]!(this, ...args);
    }

    alarm(info: unknown): unknown {
      return SCRIPTS[`alarm of ${this.ctx.id.name}`]?.(this, info);
    }
  };
