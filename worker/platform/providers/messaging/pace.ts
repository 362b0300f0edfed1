/** Below the thirty that Telegram takes in a second, and the fifty of Discord. */
const CALLS_PER_SECOND = 25;

/** The time of who asks for a turn, epoch milliseconds, and how long they can wait. */
interface PaceClock {
  now(): number;
  leftMs(): number;
}

/**
 * When the next call to a platform may be made: evenly, so that no second has more than it takes, and not before a moment it asked for. One
 * stands before each platform; its queue has one consumer at a time, so no other invocation counts for itself.
 */
export class Pace {
  #nextAt = 0;
  #heldUntil = 0;
  readonly #wait: (ms: number) => Promise<unknown>;

  constructor(wait: (ms: number) => Promise<unknown> = (ms) => scheduler.wait(ms)) {
    this.#wait = wait;
  }

  /**
   * Waits for the turn of one call. Where it would come later than there is time: at once with the milliseconds until then; else null. A
   * pause that the platform asks for meanwhile holds also for those that wait already.
   */
  async turn(clock: PaceClock): Promise<number | null> {
    const asked = clock.now();
    const at = Math.max(asked, this.#nextAt, this.#heldUntil);
    if (at - asked > clock.leftMs()) return at - asked;
    this.#nextAt = at + 1000 / CALLS_PER_SECOND;
    if (at > asked) await this.#wait(at - asked);
    return this.#heldUntil > at ? this.turn(clock) : null;
  }

  /** The platform asked for a pause. */
  hold(now: number, seconds: number): void {
    this.#heldUntil = Math.max(this.#heldUntil, now + seconds * 1000);
  }
}
