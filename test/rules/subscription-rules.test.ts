import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';
import { AUTHORIZATION } from '#rules/states.ts';
import {
  type AuthorizationFacts,
  type AuthorizationStatus,
  type ConsentSeen,
  isCollected,
  stepAfterCollection,
  stepAfterReading,
  stepAfterShortage,
} from '#rules/subscriptions/authorization.ts';
import { firstAttemptAt, isInPeriod, nextAttemptAt, periodIn } from '#rules/subscriptions/schedule.ts';
import { servedUntil } from '#rules/subscriptions/served.ts';

const START = 1_800_000_000_000;
const lucks = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('collection schedule', () => {
  it('the first attempt is 30 seconds to ten minutes after the start of the period', () => {
    fc.assert(
      fc.property(lucks, (jitter) => {
        const at = firstAttemptAt(START, jitter) - START;
        expect(at).toBeGreaterThanOrEqual(30 * SECOND);
        expect(at).toBeLessThan(10 * MINUTE);
      }),
    );
  });

  it('retries follow after 1 h, 6 h and 24 h, then daily, until the period ends', () => {
    const tried = (days: number) => {
      const period = periodIn(START, days * DAY, START);
      const attempts = [firstAttemptAt(START, 0)];
      for (let failures = 1; attempts.at(-1)! < period.endsAt; failures += 1)
        attempts.push(nextAttemptAt(period, { failures, now: attempts.at(-1)!, jitter: 0 }));
      return attempts.map((at) => (at - START - 30 * SECOND) / HOUR);
    };
    expect(tried(1)).toEqual([0, 1, 7, 24]);
    expect(tried(5)).toEqual([0, 1, 7, 31, 55, 79, 103, 120]);
    expect(tried(30)).toHaveLength(33);
    expect(tried(30).at(-1)).toBe(720);
  });

  it('every attempt is inside its period or is the first of the next, however late a sweep comes', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 365 }),
        fc.integer({ min: 1, max: 400 }),
        fc.nat(400 * DAY),
        lucks,
        (days, failures, late, jitter) => {
          const period = periodIn(START, days * DAY, START + late);
          const now = Math.max(START + late, period.startsAt + 30 * SECOND);
          expect([period.startsAt <= START + late, START + late < period.endsAt]).toEqual([true, true]);
          const next = nextAttemptAt(period, { failures, now, jitter: jitter });
          expect(next).toBeGreaterThan(now);
          const following = periodIn(START, days * DAY, next);
          expect(isInPeriod(following, next)).toBe(true);
          expect([period.startsAt, period.endsAt]).toContain(following.startsAt);
        },
      ),
    );
  });

  it('a period starts at the second at which the previous one ended, over years and leap days', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 365 }), fc.integer({ min: 1, max: 500 }), (days, count) => {
        const { startsAt } = periodIn(START, days * DAY, START + count * days * DAY);
        expect(startsAt).toBe(START + count * days * DAY);
        expect(periodIn(START, days * DAY, startsAt - 1).endsAt).toBe(startsAt);
        expect(periodIn(startsAt, days * DAY, startsAt + 1)).toEqual(periodIn(START, days * DAY, startsAt + 1));
      }),
    );
  });

  it('a collection has one hour to land, in which the buyer is served', () => {
    expect(servedUntil(START) - START).toBe(HOUR);
    expect(servedUntil(START)).toBeGreaterThan(firstAttemptAt(START, 0.999));
  });
});

type Happening = { passed: number } & ({ kind: 'look'; seen: ConsentSeen } | { kind: 'collected' } | { kind: 'short' });

const happenings: fc.Arbitrary<Happening[]> = fc.array(
  fc.record({ passed: fc.constantFrom(0, HOUR, DAY, 29 * DAY, 30 * DAY, 95 * DAY) }).chain(({ passed }) =>
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          passed: fc.constant(passed),
          kind: fc.constant('look' as const),
          seen: fc.constantFrom<ConsentSeen>('given', 'given', 'cancelled', 'lost'),
        }),
      },
      { weight: 3, arbitrary: fc.constantFrom<Happening>({ passed, kind: 'collected' }, { passed, kind: 'short' }) },
    ),
  ),
  { maxLength: 30 },
);

const PERIOD = 30 * DAY;
/** Independent model of the status: over, cancelled, approval lost, short of money. */
class PlainAuthorization {
  now = START;
  paidThrough: number | null = null;
  #isOver = false;
  #isCancelled = false;
  #hadTimeAtRead = false;
  #isLost = false;
  #isShort = false;

  take(happening: Happening): void {
    this.now += happening.passed;
    if (this.#isOver) return;
    if (happening.kind === 'collected') {
      this.paidThrough = periodIn(START, PERIOD, this.now).endsAt;
      this.#isLost = this.#isShort = false;
      if (this.#isCancelled) this.#hadTimeAtRead = true;
    } else if (happening.kind === 'short') this.#isShort ||= !this.#isCancelled && !this.#isLost;
    else this.#read(happening.seen);
  }

  #read(seen: ConsentSeen): void {
    const hasTime = this.paidThrough !== null && this.paidThrough > this.now;
    if (seen === 'cancelled' || (this.#isCancelled && seen === 'lost')) {
      this.#hadTimeAtRead = this.#isCancelled ? this.#hadTimeAtRead && hasTime : hasTime;
      this.#isCancelled = true;
    } else if (this.now >= (this.paidThrough ?? START) + 3 * PERIOD) this.#isOver = !this.#isCancelled;
    else if (this.#isCancelled) this.#isCancelled = this.#isLost = this.#isShort = false;
    else {
      if (seen === 'lost' || this.#isLost) this.#isShort = false;
      this.#isLost = seen === 'lost';
    }
  }

  get status(): AuthorizationStatus {
    if (this.#isOver) return 'expired';
    if (this.#isCancelled) return this.#hadTimeAtRead ? 'cancel_requested' : 'cancelled';
    if (this.#isLost) return 'requires_reapproval';
    return this.#isShort ? 'past_due' : 'active';
  }
}

describe('authorization steps', () => {
  it('the status equals that of a plain second model after any history', () => {
    fc.assert(
      fc.property(happenings, (history) => {
        const plain = new PlainAuthorization();
        let facts: AuthorizationFacts = { status: 'active', paidThrough: null, startedAt: START, periodMs: PERIOD };
        let now = START;
        for (const happening of history) {
          plain.take(happening);
          now += happening.passed;
          const step =
            happening.kind === 'look'
              ? stepAfterReading(facts, happening.seen, now)
              : happening.kind === 'short'
                ? stepAfterShortage(facts.status)
                : stepAfterCollection(facts.status);
          const status = step === null ? facts.status : AUTHORIZATION.next(facts.status, step);
          facts = { ...facts, status, paidThrough: plain.paidThrough };
          expect([happening, facts.status]).toEqual([happening, plain.status]);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it('a repeated reading of the same state makes no step', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<AuthorizationStatus>('active', 'past_due', 'cancel_requested', 'cancelled', 'requires_reapproval'),
        fc.constantFrom<ConsentSeen>('given', 'cancelled', 'lost'),
        fc.option(fc.integer({ min: -95, max: 30 })),
        (status, seen, paidDays) => {
          const facts = { status, paidThrough: paidDays === null ? null : START + paidDays * DAY, startedAt: START, periodMs: PERIOD };
          const step = stepAfterReading(facts, seen, START);
          if (step === null) return;
          expect(stepAfterReading({ ...facts, status: AUTHORIZATION.next(status, step) }, seen, START)).toBeNull();
        },
      ),
    );
  });

  it('only active and past_due are collected, and pending and expired ignore readings', () => {
    expect(AUTHORIZATION.states.filter(isCollected)).toEqual(['active', 'past_due']);
    for (const status of ['pending', 'expired'] as const)
      for (const seen of ['given', 'cancelled', 'lost'] as const)
        expect(stepAfterReading({ status, paidThrough: null, startedAt: START, periodMs: PERIOD }, seen, START + 400 * DAY)).toBeNull();
    expect(stepAfterCollection('expired')).toBeNull();
  });
});
