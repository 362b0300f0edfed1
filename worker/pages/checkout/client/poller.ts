const DEFAULT_MS = 3000;
const BACKOFF_MAX_MS = 30_000;

/** When the service wants the next look at the payment; null where none is needed any more, and `failed` where this one got no answer. */
export type Look = { afterMs: number | null } | { failed: true; afterMs: number | null };

/** Asks again as often as the service wishes, ever rarer while it cannot be reached, and not at all while the page is hidden. */
export class Poller {
  readonly #look: () => Promise<Look>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isRunning = false;
  #isLooking = false;
  #failures = 0;

  constructor(look: () => Promise<Look>) {
    this.#look = look;
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#pause() : this.now()));
    // A page that comes out of the back-forward cache, or is online again, may have missed something.
    addEventListener('pageshow', () => this.now());
    addEventListener('online', () => this.now());
  }

  start(): void {
    this.#isRunning = true;
    this.now();
  }

  stop(): void {
    this.#isRunning = false;
    this.#pause();
  }

  /** A look at once, if anything is being watched and no look is under way. */
  now(): void {
    if (!this.#isRunning || this.#isLooking) return;
    this.#pause();
    void this.#run();
  }

  #pause(): void {
    clearTimeout(this.#timer);
  }

  async #run(): Promise<void> {
    this.#isLooking = true;
    const look = await this.#look();
    this.#isLooking = false;
    if ('failed' in look) {
      this.#failures++;
      this.#wait(Math.max(look.afterMs ?? 0, Math.min(BACKOFF_MAX_MS, DEFAULT_MS * 2 ** (this.#failures - 1))));
      return;
    }
    this.#failures = 0;
    if (look.afterMs === null) this.stop();
    else this.#wait(look.afterMs);
  }

  #wait(ms: number): void {
    if (!this.#isRunning || document.hidden) return;
    this.#timer = setTimeout(() => this.now(), ms);
  }
}
