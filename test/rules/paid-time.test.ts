import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { addPaid, emptyBalance } from '#rules/balance.ts';
import { foldHistory, type HistoryEntry, useOf } from '#rules/history.ts';
import { type BoughtTime, paidThroughAfter } from '#rules/subscriptions/paid-time.ts';

const START = Date.UTC(2027, 10, 3);

describe('paid time', () => {
  it('follows what was paid before by days, and a period on chain by its own end', () => {
    expect(paidThroughAfter(0, { accessPeriodDays: 30 }, START)).toBe(START + 30 * DAY);
    expect(paidThroughAfter(START + DAY, { accessPeriodDays: 30 }, START)).toBe(START + 31 * DAY);
    expect(paidThroughAfter(START + DAY, { accessPeriodDays: 30, periodEndsAt: START + 30 * DAY }, START)).toBe(START + 30 * DAY);
    expect(paidThroughAfter(START + 40 * DAY, { accessPeriodDays: 30, periodEndsAt: START + 30 * DAY }, START)).toBe(START + 40 * DAY);
    expect(paidThroughAfter(START, { accessPeriodDays: null }, START)).toBeNull();
    expect(paidThroughAfter(null, { accessPeriodDays: 30, periodEndsAt: START }, START)).toBeNull();
  });

  it('of 24 periods over a leap day is right to the millisecond, each collected up to an hour late', () => {
    const ends = Array.from({ length: 24 }, (_, at) => START + (at + 1) * 30 * DAY);
    let through: number | null = 0;
    for (const [at, periodEndsAt] of ends.entries()) {
      through = paidThroughAfter(through, { accessPeriodDays: 30, periodEndsAt }, START + at * 30 * DAY + ((at * 1_234_567) % 3_600_000));
      expect(through).toBe(periodEndsAt);
    }
    expect(new Date(ends.at(-1)!).toISOString()).toBe('2029-10-23T00:00:00.000Z');
  });

  it('is the same for a membership and for the entitlement beside it, whatever was bought', () => {
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

describe('periods that follow each other on the chain', () => {
  it('never drift: the end is that of the last, however late in it each was collected, and whichever were', () => {
    const collected = fc.array(fc.record({ late: fc.integer({ min: 0, max: 30 * DAY - 1 }), isCollected: fc.boolean() }), { minLength: 1 });
    fc.assert(
      fc.property(collected, (periods) => {
        let balance = emptyBalance();
        const standing: HistoryEntry[] = [];
        for (const [at, { late, isCollected }] of periods.entries()) {
          if (!isCollected) continue;
          const now = START + 30 * at * DAY + late;
          const addition = { units: null, days: 30, through: START + 30 * (at + 1) * DAY };
          standing.push({ addition, at: now, use: useOf(balance) });
          balance = addPaid(balance, addition, now);
          expect(balance.unlimitedThrough).toBe(addition.through);
          expect(foldHistory(balance, emptyBalance(), standing, now).unlimitedThrough).toBe(addition.through);
        }
      }),
    );
  });
});
