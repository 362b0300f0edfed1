import { vi } from 'vitest';

/**
 * What time it is for everything in this isolate, objects included, until `letTimeRun`. Timers and alarms go on by the real
 * clock: a test that moves the time rings the alarm itself.
 */
export function setTime(at: number): void {
  vi.useFakeTimers({ toFake: ['Date'], now: at });
}

export const letTimeRun = (): void => void vi.useRealTimers();
