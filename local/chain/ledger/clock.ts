import { SLOT_MS } from './network.ts';

type ClockMode = 'live' | 'manual';

const START_SLOT = 1_000;

/**
 * Time of one chain, without timers: every reading is computed when asked for. Slot and time are one quantity, so they always
 * move together. In `live` mode the wall clock drives it (plus what was warped); in `manual` mode it stands still until moved.
 */
export class ChainClock {
  readonly startSlot = START_SLOT;
  readonly #startMs: number;
  #skewMs = 0;
  #warpedMs = 0;
  #frozenMs: number | null = null;

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  get mode(): ClockMode {
    return this.#frozenMs === null ? 'live' : 'manual';
  }

  /** Chain time, milliseconds since 1970. */
  get nowMs(): number {
    return this.#frozenMs ?? Date.now() + this.#skewMs;
  }

  /** The current slot, which is also the block height. */
  get slot(): number {
    return this.startSlot + Math.floor((this.nowMs - this.#startMs) / SLOT_MS);
  }

  /** Chain time in whole seconds: the `blockTime` of a transaction executed now. */
  get unixTimestamp(): number {
    return Math.floor(this.nowMs / 1_000);
  }

  /** When a slot began, in whole seconds. */
  slotTimestamp(slot: number): number {
    return Math.floor((this.#startMs + (slot - this.startSlot) * SLOT_MS) / 1_000);
  }

  /** How far time was moved forward by hand, milliseconds. */
  get warpedMs(): number {
    return this.#warpedMs;
  }

  /** Moves time forward by `ms`, slots with it. */
  advance(ms: number): void {
    this.#warpedMs += ms;
    if (this.#frozenMs === null) this.#skewMs += ms;
    else this.#frozenMs += ms;
  }

  /** Stops the clock where it stands, or lets it run on from there: switching never jumps. */
  setMode(mode: ClockMode): void {
    if (mode === this.mode) return;
    if (this.#frozenMs === null) {
      this.#frozenMs = this.nowMs;
    } else {
      this.#skewMs = this.#frozenMs - Date.now();
      this.#frozenMs = null;
    }
  }
}
