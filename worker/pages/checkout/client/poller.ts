const DEFAULT_MS = 3000;
const BACKOFF_MAX_MS = 30_000;

/** What a look at the payment asks for: the service's own wish, null when it is over, or that it failed. */
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
    // Out of the back-forward cache, and back on the internet: both mean that something may have happened.
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
