import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { addPaid, emptyBalance } from '#rules/balance.ts';
import { foldHistory, type HistoryEntry, useOf } from '#rules/history.ts';
import { type BoughtTime, paidThroughAfter } from '#rules/subscriptions/paid-time.ts';

const START = Date.UTC(2027, 10, 3);

describe('paidThroughAfter', () => {
  it('days extend the earlier paid time, and a period on chain ends at its own end', () => {
    expect(paidThroughAfter(0, { accessPeriodDays: 30 }, START)).toBe(START + 30 * DAY);
    expect(paidThroughAfter(START + DAY, { accessPeriodDays: 30 }, START)).toBe(START + 31 * DAY);
    expect(paidThroughAfter(START + DAY, { accessPeriodDays: 30, periodEndsAt: START + 30 * DAY }, START)).toBe(START + 30 * DAY);
    expect(paidThroughAfter(START + 40 * DAY, { accessPeriodDays: 30, periodEndsAt: START + 30 * DAY }, START)).toBe(START + 40 * DAY);
    expect(paidThroughAfter(START, { accessPeriodDays: null }, START)).toBeNull();
    expect(paidThroughAfter(null, { accessPeriodDays: 30, periodEndsAt: START }, START)).toBeNull();
  });

  it('24 periods over a leap day are exact to the millisecond, each collected up to an hour late', () => {
    const ends = Array.from({ length: 24 }, (_, at) => START + (at + 1) * 30 * DAY);
    let through: number | null = 0;
    for (const [at, periodEndsAt] of ends.entries()) {
      through = paidThroughAfter(through, { accessPeriodDays: 30, periodEndsAt }, START + at * 30 * DAY + ((at * 1_234_567) % 3_600_000));
      expect(through).toBe(periodEndsAt);
    }
    expect(new Date(ends.at(-1)!).toISOString()).toBe('2029-10-23T00:00:00.000Z');
  });

  it('a membership and its entitlement have the same end, whatever was bought', () => {
    const payments = fc.array(
      fc.record({
        wait: fc.integer({ min: 0, max: 40 * DAY }),
        accessPeriodDays: fc.integer({ min: 1, max: 40 }),
        periodEndsAt: fc.option(fc.integer({ min: START, max: START + 400 * DAY }), { nil: undefined }),
      }),
      { minLength: 1, maxLength: 12 },
    );
    fc.assert(
      fc.property(payments, (bought) => {
        let [now, through] = [START, 0 as number | null];
        let balance = emptyBalance();
        for (const { wait, ...time } of bought) {
          now += wait;
          const { accessPeriodDays: days, periodEndsAt } = time satisfies BoughtTime;
          through = paidThroughAfter(through, time, now);
          balance = addPaid(balance, { units: null, days, ...(periodEndsAt === undefined ? {} : { through: periodEndsAt }) }, now);
          expect(balance.unlimitedThrough).toBe(through);
        }
      }),
    );
  });
});

describe('consecutive periods on chain', () => {
  it('the end equals that of the last collected period, however late each was collected', () => {
    const collected = fc.array(fc.record({ late: fc.integer({ min: 0, max: 30 * DAY - 1 }), isCollected: fc.boolean() }), { minLength: 1 });
    fc.assert(
      fc.property(collected, (periods) => {
        let balance = emptyBalance();
        const entries: HistoryEntry[] = [];
        for (const [at, { late, isCollected }] of periods.entries()) {
          if (!isCollected) continue;
          const now = START + 30 * at * DAY + late;
          const addition = { units: null, days: 30, through: START + 30 * (at + 1) * DAY };
          entries.push({ addition, at: now, use: useOf(balance) });
          balance = addPaid(balance, addition, now);
          expect(balance.unlimitedThrough).toBe(addition.through);
          expect(foldHistory(balance, emptyBalance(), entries, now).unlimitedThrough).toBe(addition.through);
        }
      }),
    );
  });
});
