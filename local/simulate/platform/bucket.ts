import { createHash } from 'node:crypto';
import { isAnyArrayBuffer } from 'node:util/types';
import { type Pass, passAtOnce, type Realm } from './way.ts';

interface StoredObject {
  key: string;
  bytes: Uint8Array;
  etag: string;
  uploaded: Date;
  httpMetadata: { contentType?: string };
  customMetadata: Record<string, string>;
}

type PutOptions = Partial<Pick<StoredObject, 'httpMetadata' | 'customMetadata'>>;

interface Range {
  offset?: number;
  length?: number;
  suffix?: number;
}

interface BucketOptions {
  name?: string;
  pass?: Pass;
  now?(): number;
}

const bytesOf = (value: unknown): Uint8Array => {
  if (typeof value === 'string') return new TextEncoder().encode(value);
  if (isAnyArrayBuffer(value)) return new Uint8Array((value as ArrayBuffer).slice(0));
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice();
  return new Uint8Array();
};

/** R2 bucket: strongly consistent. */
export class SimulatedBucket {
  readonly #options: Required<BucketOptions>;
  readonly #objects = new Map<string, StoredObject>();

  constructor(options: BucketOptions = {}) {
    this.#options = { name: 'ARCHIVE', pass: passAtOnce, now: Date.now, ...options };
  }

  binding(realm: Realm = globalThis, pass: Pass = this.#options.pass): BucketBinding {
    const { name, now } = this.#options;
    return new BucketBinding(this.#objects, { now, realm, trip: (verb, work) => pass({ kind: 'r2', target: name, verb }, work) });
  }

  clear(): void {
    this.#objects.clear();
  }
}

interface BindingOptions {
  realm: Realm;
  now(): number;
  trip<T>(verb: string, work: () => T): Promise<T>;
}

/** `env.ARCHIVE`. */
export class BucketBinding {
  readonly #objects: Map<string, StoredObject>;
  readonly #options: BindingOptions;

  constructor(objects: Map<string, StoredObject>, options: BindingOptions) {
    this.#objects = objects;
    this.#options = options;
  }

  async put(key: string, value: unknown, { httpMetadata = {}, customMetadata = {} }: PutOptions = {}): Promise<object> {
    const bytes = bytesOf(value);
    const etag = createHash('md5').update(bytes).digest('hex');
    return this.#options.trip('put', () => {
      const stored = { key, bytes, etag, uploaded: new Date(this.#options.now()), httpMetadata, customMetadata };
      this.#objects.set(key, stored);
      return this.#headOf(stored);
    });
  }

  async get(key: string, { range }: { range?: Range } = {}): Promise<object | null> {
    return this.#options.trip('get', () => {
      const stored = this.#objects.get(key);
      return stored ? { ...this.#headOf(stored), ...this.#bodyOf(stored.bytes, range) } : null;
    });
  }

  async head(key: string): Promise<object | null> {
    return this.#options.trip('head', () => {
      const stored = this.#objects.get(key);
      return stored ? this.#headOf(stored) : null;
    });
  }

  async delete(keys: string | readonly string[]): Promise<void> {
    await this.#options.trip('delete', () => {
      for (const key of typeof keys === 'string' ? [keys] : keys) this.#objects.delete(key);
    });
  }

  /** Lists keys in order. `cursor` is the last key of the previous page. */
  async list({ prefix = '', limit = 1000, cursor = '' }: { prefix?: string; limit?: number; cursor?: string } = {}): Promise<object> {
    return this.#options.trip('list', () => {
      const keys = [...this.#objects.keys()].filter((key) => key.startsWith(prefix) && key > cursor).sort();
      const page = keys.slice(0, limit);
      const objects = page.map((key) => this.#headOf(this.#objects.get(key)!));
      const truncated = keys.length > page.length;
      return { objects, truncated, delimitedPrefixes: [], ...(truncated ? { cursor: page.at(-1) } : {}) };
    });
  }

  #headOf({ key, bytes, etag, uploaded, httpMetadata, customMetadata }: StoredObject): object {
    return {
      key,
      size: bytes.length,
      etag,
      httpEtag: `"${etag}"`,
      uploaded,
      httpMetadata: { ...httpMetadata },
      customMetadata,
      version: etag,
    };
  }

  #bodyOf(bytes: Uint8Array, { offset, length, suffix }: Range = {}): object {
    if (offset !== undefined && offset >= bytes.length)
      throw new this.#options.realm.Error('get: The requested range is not satisfiable (10039)');
    const from = suffix === undefined ? (offset ?? 0) : Math.max(0, bytes.length - suffix);
    const part = bytes.slice(from, length === undefined ? undefined : from + length);
    const text = async (): Promise<string> => new TextDecoder().decode(part);
    return {
      arrayBuffer: async () => {
        const copy = new this.#options.realm.ArrayBuffer(part.length);
        new Uint8Array(copy).set(part);
        return copy;
      },
      bytes: async () => part.slice(),
      text,
      json: async () => JSON.parse(await text()),
    };
  }
}
