import { createHash } from 'node:crypto';

/** What happened in a history, one line a step. The hash covers every line, so two histories are the same if their hashes are. */
export class Trace {
  readonly #hash = createHash('sha256');
  readonly #lines: string[] | null;
  #count = 0;

  constructor({ isKept }: { isKept: boolean }) {
    this.#lines = isKept ? [] : null;
  }

  get count(): number {
    return this.#count;
  }

  get lines(): readonly string[] {
    return this.#lines ?? [];
  }

  add(line: string): void {
    this.#count++;
    this.#hash.update(line).update('\n');
    this.#lines?.push(line);
  }

  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}
