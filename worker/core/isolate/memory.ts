/**
 * What an isolate remembers from one request for the next. It may be forgotten at any moment, because isolates begin and end as the
 * platform likes: nothing that must be true rests on it, it only spares a question that was answered already.
 * @module
 */

const forgetting = new Set<() => void>();

/** A module's answers by what was asked, at most `max` of them: of too many, the older half is forgotten. */
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

/** A few values that belong together, as they are where nothing was seen yet. */
export function remembered<T extends object>(atFirst: () => T): T {
  const values = atFirst();
  forgetting.add(() => Object.assign(values, atFirst()));
  return values;
}

/** Leaves this isolate as one that has just begun. */
export const forgetAll = (): void => {
  for (const forget of forgetting) forget();
};
