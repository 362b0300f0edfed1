import { vi } from 'vitest';

/**
 * What time it is for everything in this isolate, objects included, until `letTimeRun`. Timers and alarms go on by the real
 * clock: a test that moves the time rings the alarm itself.
 */
export function setTime(at: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: at });
}

export const letTimeRun = (): void => void vi.useRealTimers();

const realNow = Date.now.bind(Date);
let ahead = 0;

/** Our clock and the chain's go on from a later moment, together. Unlike with `setTime`, time still runs by itself. */
export async function skipTime(chain: { call(method: string, ...params: unknown[]): Promise<unknown> }, seconds: number): Promise<void> {
  ahead += seconds * 1000;
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ahead);
  await chain.call('local_warp', seconds);
}

/** The clock shows what it shows everywhere else again. */
export function endSkips(): void {
  ahead = 0;
  vi.restoreAllMocks();
}
