/** Bindings of the platform as the cases use them, simulated or real. */
export interface Statement {
  bind(...values: unknown[]): Statement;
  all(): Promise<{ results: unknown[]; meta: Record<string, unknown> }>;
  run(): Promise<{ results: unknown[]; meta: Record<string, unknown> }>;
  first(column?: string): Promise<unknown>;
  raw(options?: { columnNames?: boolean }): Promise<unknown[]>;
}

export interface Database {
  prepare(sql: string): Statement;
  batch(statements: Statement[]): Promise<{ results: unknown[]; meta: Record<string, unknown> }[]>;
}

/** Stub of an object. `run` takes the name of a script and its arguments. */
export type Stub = Record<'run' | 'own' | 'nothing' | 'property', (...args: unknown[]) => Promise<unknown>>;

export interface Namespace {
  getByName(name: string): Stub;
  idFromName(name: string): { name?: string; toString(): string };
}

export interface Queue {
  send(body: unknown, options?: { delaySeconds?: number }): Promise<unknown>;
  sendBatch(messages: Iterable<{ body: unknown; delaySeconds?: number }>): Promise<unknown>;
}

interface Stored {
  key: string;
  size: number;
  httpMetadata: { contentType?: string };
  text(): Promise<string>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export interface Bucket {
  put(key: string, value: unknown, options?: object): Promise<unknown>;
  get(key: string, options?: object): Promise<Stored | null>;
  head(key: string): Promise<Stored | null>;
  delete(keys: string | string[]): Promise<void>;
  list(options?: object): Promise<{ objects: Stored[]; truncated: boolean }>;
}

export interface Delivered {
  queue: string;
  id: string;
  attempts: number;
  body: unknown;
}

export interface Platform {
  db: Database;
  objects: Namespace;
  queue: Queue;
  bucket: Bucket;
  /** Messages that the consumer got, oldest first. */
  delivered: readonly Delivered[];
  /** Lets time pass: alarms and messages that fall due are delivered. */
  wait(ms: number): Promise<void>;
}

export type Case = (platform: Platform) => Promise<unknown>;
