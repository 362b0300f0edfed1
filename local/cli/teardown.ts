type Closer = () => unknown;

/** Closers, run once in reverse order. */
export class Teardown {
  #closers: Closer[] = [];
  #running: Promise<void> | null = null;

  /** Registers a closer, or runs it at once if the teardown has begun. */
  defer(close: Closer): void {
    if (this.#running) void Promise.resolve(close()).catch(() => {});
    else this.#closers.push(close);
  }

  get hasBegun(): boolean {
    return this.#running !== null;
  }

  run(): Promise<void> {
    this.#running ??= this.#runAll();
    return this.#running;
  }

  async #runAll(): Promise<void> {
    for (const close of this.#closers.reverse()) {
      try {
        await close();
      } catch {
        // A failed closer must not prevent the others.
      }
    }
  }
}
