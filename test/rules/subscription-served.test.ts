import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOUR } from '#core/time.ts';
import { addPaid, emptyBalance, planConsume } from '#rules/balance.ts';
import { endCounts, isNewer, judgedAt, type Renewal } from '#rules/subscriptions/served.ts';

const THROUGH = Date.UTC(2026, 11, 22);
const of = (through: number | null, version = 1, authorizationId = 'nsa_1'): Renewal => ({ authorizationId, version, through });

describe('the hour after the paid time of a subscription', () => {
  it('is judged as its last paid moment, and only while the subscription is active', () => {
    expect(judgedAt(of(THROUGH), THROUGH - 1)).toBe(THROUGH - 1);
    expect([0, 1, HOUR - 1].map((late) => judgedAt(of(THROUGH), THROUGH + late))).toEqual([THROUGH - 1, THROUGH - 1, THROUGH - 1]);
    expect(judgedAt(of(THROUGH), THROUGH + HOUR)).toBe(THROUGH + HOUR);
    for (const none of [null, of(null)]) expect(judgedAt(none, THROUGH + 1)).toBe(THROUGH + 1);
  });

  it('lets use through that is paid by time, to its last moment and not beyond', () => {
    const balance = addPaid(emptyBalance(), { units: null, days: 30, through: THROUGH }, THROUGH - 30 * 24 * HOUR);
    const isServed = (now: number, renewal: Renewal | null) => planConsume(balance, 1, now, judgedAt(renewal, now)).ok;
    fc.assert(
      fc.property(fc.integer({ min: -2 * HOUR, max: 2 * HOUR }), fc.boolean(), (late, isActive) => {
        const limit = isActive ? HOUR : 0;
        expect(isServed(THROUGH + late, isActive ? of(THROUGH) : of(null))).toBe(late < limit);
      }),
    );
  });

  it('moves an end of paid time that lies in it to its own end, and no other', () => {
    expect([THROUGH - 1, THROUGH, THROUGH + HOUR - 1, THROUGH + HOUR].map((end) => endCounts(of(THROUGH), end))).toEqual([
      THROUGH - 1,
      THROUGH + HOUR,
      THROUGH + HOUR,
      THROUGH + HOUR,
    ]);
    expect(endCounts(null, THROUGH)).toBe(THROUGH);
  });

  it('is told by the newest word alone, in whatever order words come', () => {
    const words = [of(THROUGH, 1), of(null, 2), of(THROUGH + 1, 3), of(THROUGH + 2, 1, 'nsa_2'), of(null, 2, 'nsa_2')];
    fc.assert(
      fc.property(fc.shuffledSubarray(words, { minLength: words.length }), (told) => {
        const known = told.reduce<Renewal | null>((before, word) => (isNewer(before, word) ? word : before), null);
        expect(known).toEqual(words.at(-1));
      }),
    );
  });
});
