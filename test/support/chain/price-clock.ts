import { afterAll, beforeAll, beforeEach, vi } from 'vitest';
import type { PriceHabit } from '../../../local/service/price-source.ts';
import type { World } from '../world.ts';

const realNow = Date.now.bind(Date);

/**
 * Gives each test of a suite a clock further ahead, because the isolate caches a price for three seconds. The price source is healthy.
 * `realNow` is the chain's clock.
 */
export function priceClock(w: World) {
  let aheadMs = 0;
  const passTime = (seconds: number): void => {
    aheadMs += seconds * 1000;
  };
  /** The source does not share the test's clock, so the age is given on ours. */
  const prices = (habit: Partial<PriceHabit>) => w.prices({ ...habit, ageSeconds: (habit.ageSeconds ?? 1) - aheadMs / 1000 });
  beforeAll(() => {
    vi.spyOn(Date, 'now').mockImplementation(() => realNow() + aheadMs);
  });
  afterAll(() => vi.restoreAllMocks());
  beforeEach(async () => {
    passTime(4);
    await prices({});
  });
  return { prices, passTime, realNow };
}
