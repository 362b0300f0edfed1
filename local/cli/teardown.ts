type Closer = () => unknown;

/** What was started, ended in the opposite order, once, however often it is asked for. */
export class Teardown {
  #closers: Closer[] = [];
  #running: Promise<void> | null = null;

  /** Remembers how to end something. Where the end has already come, it is ended at once. */
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
        // One thing that will not end must not keep the others running.
      }
    }
  }
}
