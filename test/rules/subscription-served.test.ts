import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR } from '#core/time.ts';
import { addPaid, emptyBalance, planConsume } from '#rules/balance.ts';
import { endCounts, isNewer, judgedAt, type Renewal } from '#rules/subscriptions/served.ts';

const THROUGH = Date.UTC(2026, 11, 22);
const of = (through: number | null, version = 1, authorizationId = 'nsa_1'): Renewal => ({ authorizationId, version, through });

describe('hour after the paid time', () => {
  it('a call in that hour is judged at the last paid moment, only while the subscription is active', () => {
    expect(judgedAt(of(THROUGH), THROUGH - 1)).toBe(THROUGH - 1);
    expect([0, 1, HOUR - 1].map((late) => judgedAt(of(THROUGH), THROUGH + late))).toEqual([THROUGH - 1, THROUGH - 1, THROUGH - 1]);
    expect(judgedAt(of(THROUGH), THROUGH + HOUR)).toBe(THROUGH + HOUR);
    for (const none of [null, of(null)]) expect(judgedAt(none, THROUGH + 1)).toBe(THROUGH + 1);
  });

  it('a use paid by time is allowed until the last moment of the hour and not beyond', () => {
    const balance = addPaid(emptyBalance(), { units: null, days: 30, through: THROUGH }, THROUGH - 30 * 24 * HOUR);
    const isServed = (now: number, renewal: Renewal | null) => planConsume(balance, 1, now, judgedAt(renewal, now)).ok;
    fc.assert(
      fc.property(fc.integer({ min: -2 * HOUR, max: 2 * HOUR }), fc.boolean(), (late, isActive) => {
        const limit = isActive ? HOUR : 0;
        expect(isServed(THROUGH + late, isActive ? of(THROUGH) : of(null))).toBe(late < limit);
      }),
    );
  });

  it('an end of paid time inside the hour moves to its end, and no other end does', () => {
    expect([THROUGH - 1, THROUGH, THROUGH + HOUR - 1, THROUGH + HOUR].map((end) => endCounts(of(THROUGH), end))).toEqual([
      THROUGH - 1,
      THROUGH + HOUR,
      THROUGH + HOUR,
      THROUGH + HOUR,
    ]);
    expect(endCounts(null, THROUGH)).toBe(THROUGH);
  });

  it('the newest renewal wins in any order of arrival', () => {
    const renewals = [of(THROUGH, 1), of(null, 2), of(THROUGH + 1, 3), of(THROUGH + 2, 1, 'nsa_2'), of(null, 2, 'nsa_2')];
    fc.assert(
      fc.property(fc.shuffledSubarray(renewals, { minLength: renewals.length }), (arrivals) => {
        const known = arrivals.reduce<Renewal | null>((before, renewal) => (isNewer(before, renewal) ? renewal : before), null);
        expect(known).toEqual(renewals.at(-1));
      }),
    );
  });
});
