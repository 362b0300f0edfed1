import type { Clock } from './clock.ts';

const MINUTE_MS = 60_000;
/** Minutes to the next cron while the actors act. A longer gap is an outage of the platform, in which a checkout may end unread. */
const GAPS = [1, 2, 4, 4] as const;
/** The same where a fault is aimed at what the cron begins. */
const GAPS_OF_AIM = [1] as const;
/** Minutes to the next cron after the faults, between two waits. */
const CALM_GAP = 4;

interface CronsOptions {
  clock: Clock;
  pick(gaps: readonly number[]): number;
  isAimedAt: boolean;
  ring(): void;
}

/**
 * Rings the cron. The service runs some thirty sweeps at each: every minute, they would be nine tenths of a history. After the faults one
 * rings in the middle and one at the end of each wait, so that every sweep runs three times and more before the judge reads.
 */
export class Crons {
  readonly #clock: Clock;
  readonly #pick: CronsOptions['pick'];
  readonly #ring: () => void;
  readonly #gaps: readonly number[];
  #timer = 0;
  #isCalm = false;

  constructor({ clock, pick, isAimedAt, ring }: CronsOptions) {
    this.#clock = clock;
    this.#pick = pick;
    this.#ring = ring;
    this.#gaps = isAimedAt ? GAPS_OF_AIM : GAPS;
    this.#setNext();
  }

  /** The actors are done, and the faults are over. */
  calm(): void {
    this.#isCalm = true;
    this.#setNext();
  }

  /** Called when time is about to pass without requests. */
  wait(ms: number): void {
    if (!this.#isCalm || ms < MINUTE_MS) return;
    const end = this.#clock.now + ms;
    if (ms === MINUTE_MS) this.#set(end);
    else this.#set(end - ms / 2, () => this.#set(end));
  }

  #setNext(): void {
    this.#set(this.#clock.now + MINUTE_MS * (this.#isCalm ? CALM_GAP : this.#pick(this.#gaps)));
  }

  #set(at: number, then: () => void = () => this.#setNext()): void {
    this.#clock.clear(this.#timer);
    const run = () => {
      this.#ring();
      then();
    };
    this.#timer = this.#clock.set(at, run, { isIdle: true });
  }
}
