/** Below Telegram's limit of 30 and Discord's limit of 50. */
const CALLS_PER_SECOND = 25;

interface PaceClock {
  now(): number;
  leftMs(): number;
}

/**
 * Rate limiter of a platform: spaces calls evenly and respects pauses that the platform requests. Each platform's queue has one consumer at
 * a time, so no other invocation counts separately.
 */
export class Pace {
  #nextAt = 0;
  #heldUntil = 0;
  readonly #wait: (ms: number) => Promise<unknown>;

  constructor(wait: (ms: number) => Promise<unknown> = (ms) => scheduler.wait(ms)) {
    this.#wait = wait;
  }

  /**
   * Waits for the slot of one call and returns null. If the slot is after the deadline, returns the remaining milliseconds at once. A pause
   * requested meanwhile also applies to waiting callers.
   */
  async turn(clock: PaceClock): Promise<number | null> {
    const asked = clock.now();
    const at = Math.max(asked, this.#nextAt, this.#heldUntil);
    if (at - asked > clock.leftMs()) return at - asked;
    this.#nextAt = at + 1000 / CALLS_PER_SECOND;
    if (at > asked) await this.#wait(at - asked);
    return this.#heldUntil > at ? this.turn(clock) : null;
  }

  hold(now: number, seconds: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, now + seconds * 1000);
  }
}
