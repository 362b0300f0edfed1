import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FeesSpent, spendWithin, withFailedFee } from '#rules/admission.ts';

describe('daily fee budget', () => {
  const DAY = 86_400_000;
  const step = fc.record({ fees: fc.integer({ min: -3, max: 12 }), isKnownPayer: fc.boolean(), failed: fc.boolean() });

  it('fees never exceed the limit, and after failures of half the limit only unknown payers are refused', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 40 }), (steps, limit) => {
        let spent: FeesSpent | undefined;
        for (const { fees, isKnownPayer, failed } of steps) {
          const before: FeesSpent = spent ?? { day: 0, fees: 0, failed: 0 };
          const answer = spendWithin(spent, { fees, isKnownPayer, now: 1 }, limit);
          const hasRoom = before.fees + fees <= limit;
          if (fees > 0) expect(answer.allowed).toBe(hasRoom && (isKnownPayer || before.failed < limit / 2));
          else expect(answer.allowed).toBe(true);
          expect(answer.isForKnownPayers).toBe(fees > 0 && hasRoom && !answer.allowed);
          expect(answer.spent.fees).toBeLessThanOrEqual(Math.max(limit, before.fees));
          expect(answer.left).toBe(Math.max(0, limit - answer.spent.fees));
          spent = failed ? withFailedFee(answer.spent, 1) : answer.spent;
        }
      }),
    );
  });

  it('the budget and its failures reset with the UTC day, and a late clock does not bring a day back', () => {
    const full = { day: 5, fees: 10, failed: 10 };
    const ask = (now: number, spent = full) => spendWithin(spent, { fees: 1, isKnownPayer: false, now }, 10);
    expect(ask(5 * DAY).allowed).toBe(false);
    expect(ask(4 * DAY)).toMatchObject({ allowed: false, resetAt: 6 * DAY });
    expect(ask(6 * DAY)).toMatchObject({ allowed: true, left: 9, spent: { day: 6, fees: 1, failed: 0 } });
    expect(withFailedFee(full, 6 * DAY)).toEqual({ day: 6, fees: 0, failed: 1 });
  });
});
