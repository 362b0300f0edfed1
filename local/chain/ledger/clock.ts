import { SLOT_MS } from './network.ts';

type ClockMode = 'live' | 'manual';

const START_SLOT = 1_000;

/** Time of one chain, without timers: every reading is computed on request. Slot and time are one quantity, so they always agree. */
export class ChainClock {
  readonly startSlot = START_SLOT;
  readonly #wallNow: () => number;
  readonly #startMs: number;
  #skewMs = 0;
  #warpedMs = 0;
  #frozenMs: number | null = null;

  constructor(wallNow: () => number) {
    this.#wallNow = wallNow;
    this.#startMs = wallNow();
  }

  get mode(): ClockMode {
    return this.#frozenMs === null ? 'live' : 'manual';
  }

  get nowMs(): number {
    return this.#frozenMs ?? this.#wallNow() + this.#skewMs;
  }

  get slot(): number {
    return this.startSlot + Math.floor((this.nowMs - this.#startMs) / SLOT_MS);
  }

  get unixTimestamp(): number {
    return Math.floor(this.nowMs / 1_000);
  }

  slotTimestamp(slot: number): number {
    return Math.floor((this.#startMs + (slot - this.startSlot) * SLOT_MS) / 1_000);
  }

  get warpedMs(): number {
    return this.#warpedMs;
  }

  advance(ms: number): void {
    this.#warpedMs += ms;
    if (this.#frozenMs === null) this.#skewMs += ms;
    else this.#frozenMs += ms;
  }

  /** Stops the clock at the current time or continues from there, without a jump. */
  setMode(mode: ClockMode): void {
    if (mode === this.mode) return;
    if (this.#frozenMs === null) {
      this.#frozenMs = this.nowMs;
    } else {
      this.#skewMs = this.#frozenMs - this.#wallNow();
      this.#frozenMs = null;
    }
  }
}
