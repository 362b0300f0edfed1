import { vi } from 'vitest';
import { DAY } from '#core/time.ts';

/**
 * Sets the time for everything in this isolate, objects included, until `letTimeRun`. Timers and alarms follow the real clock, so a test
 * that moves the time rings alarms itself.
 */
export function setTime(at: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: at });
}

export const letTimeRun = (): void => void vi.useRealTimers();

const realNow = Date.now.bind(Date);
let ahead = 0;

/** Moves our clock and the chain's forward together. Unlike with `setTime`, time still runs by itself. */
export async function skipTime(chain: { call(method: string, ...params: unknown[]): Promise<unknown> }, seconds: number): Promise<void> {
  ahead += seconds * 1000;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ahead);
  await chain.call('local_warp', seconds);
}

export function endSkips(): void {
  ahead = 0;
  vi.restoreAllMocks();
}

/** Moves the time to the next noon (UTC), far from midnight, when the sweeps of a day run. */
export const setNoon = (): void => setTime(Math.ceil((Date.now() - DAY / 2) / DAY) * DAY + DAY / 2);
