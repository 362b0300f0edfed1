/**
 * Cache of an isolate across requests. May be lost at any time, because the platform starts and stops isolates freely. Correctness must not
 * depend on this cache.
 * @module
 */

const forgetting = new Set<() => void>();

/** Bounded cache. When full, the older half is dropped. */
export class Memory<K, V> extends Map<K, V> {
  readonly #max: number;

  constructor(max: number) {
    super();
    this.#max = max;
    forgetting.add(() => this.clear());
  }

  override set(asked: K, answer: V): this {
    if (this.size >= this.#max && !this.has(asked))
      for (const oldest of [...this.keys()].slice(0, Math.ceil(this.#max / 2))) this.delete(oldest);
    return super.set(asked, answer);
  }
}

export function remembered<T extends object>(atFirst: () => T): T {
  const values = atFirst();
  forgetting.add(() => Object.assign(values, atFirst()));
  return values;
}

export const forgetAll = (): void => {
  for (const forget of forgetting) forget();
};
