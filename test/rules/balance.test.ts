import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import {
  type Addition,
  assertBalance,
  type Balance,
  emptyBalance,
  entitlementStatusOf,
  nextEndOf,
  paidThroughOf,
  planAddition,
  planConsume,
  planGrant,
  planRefund,
  remainingOf,
  snapshotOf,
} from '#rules/balance.ts';
import { foldHistory, type HistoryEntry, useOf } from '#rules/history.ts';

const NOW = 1_800_000_000_000;
const identity = { entitlementId: 'e', merchantId: 'm', livemode: true, productId: 'p', customer: { customerRef: 'c' } };
const day = (days: number) => NOW + days * DAY;

function add(balance: Balance, addition: Addition, now = NOW): Balance {
  const planned = planAddition(balance, addition, now);
  if (!planned.ok) throw new Error(planned.reason);
  return planned.balance;
}
function consume(balance: Balance, units: number, now = NOW): Balance {
  const planned = planConsume(balance, units, now);
  if (!planned.ok) throw new Error(planned.reason);
  return planned.balance;
}
const fold = (balance: Balance, activeEntries: HistoryEntry[], now = NOW) => foldHistory(balance, emptyBalance(), activeEntries, now);
const having = (...additions: Addition[]) => additions.reduce((balance, addition) => add(balance, addition), emptyBalance());
const shown = (balance: Balance, now = NOW) => {
  const { status, grantedUnits, usedUnits, remaining, paidThrough } = snapshotOf(balance, identity, now);
  return [status, grantedUnits, usedUnits, remaining, paidThrough];
};
const reasonOf = (balance: Balance, units: number, now: number) => {
  const planned = planConsume(balance, units, now);
  return planned.ok ? 'ok' : planned.reason;
};

describe('planAddition', () => {
  it.each<[string, Addition[], Partial<Balance>]>([
    ['units without a word of time have no end', [{ units: 5 }], { grantedUnits: 5, unitsThrough: null, unlimitedThrough: 0 }],
    ['units with an end', [{ units: 5, days: 2 }], { grantedUnits: 5, unitsThrough: day(2), unlimitedThrough: 0 }],
    ['time without a word of units is uncounted', [{ days: 2 }], { grantedUnits: 0, unitsThrough: 0, unlimitedThrough: day(2) }],
    ['nothing said at all is uncounted without end', [{}], { unlimitedThrough: null }],
    [
      'units add up, days follow each other',
      [
        { units: 5, days: 2 },
        { units: 3, days: 4 },
      ],
      { grantedUnits: 8, unitsThrough: day(6) },
    ],
    ['more units leave the end as it is', [{ units: 5, days: 2 }, { units: 3 }], { grantedUnits: 8, unitsThrough: day(2) }],
    [
      'endless units make the others endless',
      [
        { units: 5, days: 2 },
        { units: 3, days: null },
      ],
      { unitsThrough: null },
    ],
    ['endless units stay endless', [{ units: 5 }, { units: 3, days: 2 }], { grantedUnits: 8, unitsThrough: null }],
    [
      'uncounted use follows uncounted use',
      [
        { units: null, days: 2 },
        { units: null, days: 3 },
      ],
      { unlimitedThrough: day(5) },
    ],
    ['endless use stays endless', [{ units: null }, { units: null, days: 3 }], { unlimitedThrough: null }],
    ['a few endless units are not endless use', [{ units: null, days: 2 }, { units: 3 }], { unitsThrough: null, unlimitedThrough: day(2) }],
    [
      'uncounted use does not prolong units',
      [
        { units: 3, days: 1 },
        { units: null, days: 9 },
      ],
      { unitsThrough: day(1), unlimitedThrough: day(9) },
    ],
    ['days alone prolong what is running', [{ units: 3, days: 1 }, { days: 9 }], { unitsThrough: day(10), unlimitedThrough: 0 }],
    ['a period ends when it ends, whatever days it has', [{ units: null, days: 30, through: day(29) }], { unlimitedThrough: day(29) }],
    [
      'a period that was paid before shortens nothing',
      [
        { units: null, days: 30 },
        { units: null, days: 30, through: day(3) },
      ],
      { unlimitedThrough: day(30) },
    ],
    [
      'days follow a period',
      [
        { units: null, days: 30, through: day(3) },
        { units: null, days: 2 },
      ],
      { unlimitedThrough: day(5) },
    ],
    ['endless use is ended by no period', [{ units: null }, { units: null, days: 30, through: day(3) }], { unlimitedThrough: null }],
    ['units of a period end with it', [{ units: 5, days: 30, through: day(3) }], { unitsThrough: day(3), unlimitedThrough: 0 }],
    ['days alone can be without end', [{ units: 3, days: 1 }, { days: null }], { unitsThrough: null, unlimitedThrough: 0 }],
  ])('%s', (_, additions, expected) => {
    expect(having(...additions)).toMatchObject(expected);
  });

  it('days count from now if the earlier time is over, and other time is not revived', () => {
    const both = having({ units: 3, days: 30 }, { units: null, days: 1 });
    expect(add(both, { units: null, days: 2 }, day(5))).toMatchObject({ unitsThrough: day(30), unlimitedThrough: day(7) });
    expect(add(both, { days: 2 }, day(5))).toMatchObject({ unitsThrough: day(32), unlimitedThrough: day(1) });
    expect(add(having({ units: 3, days: 1 }), { days: 2 }, day(5))).toMatchObject({ unitsThrough: day(7) });
  });

  it('an end beyond the calendar is cut to its last date', () => {
    const planned = planAddition(emptyBalance(), { units: 1, days: 100_000_000 }, NOW);
    expect(planned.ok && new Date(planned.balance.unitsThrough!).getUTCFullYear()).toBe(275_760);
  });

  it('units bought after earlier ones were used up have an end of their own', () => {
    const spent = consume(having({ units: 1, days: null }), 1);
    const pack = planAddition(spent, { units: 100, days: 30 }, NOW);
    expect(pack.ok && paidThroughOf(pack.balance)).toBe(NOW + 30 * DAY);
    const gift = planAddition(spent, { days: 30 }, NOW);
    expect(gift.ok && remainingOf(gift.balance, NOW)).toBe(null);
    expect(gift.ok && remainingOf(gift.balance, NOW + 30 * DAY)).toBe(0);
  });

  it('time paid for remains if its units are used up before it ends', () => {
    const spent = consume(having({ units: 1, days: 30 }), 1);
    expect(add(spent, { units: 1, days: 30 }, day(10))).toMatchObject({ unitsThrough: day(60) });
    expect(add(spent, { units: 1, days: 30 }, day(40)).unitsThrough).toBe(day(70));
    expect(remainingOf(add(spent, { days: 30 }, day(10)), day(10))).toBe(null);
  });

  it('grants of units and of days add up the same in every order', () => {
    const sold = { usageUnits: 5, accessPeriodDays: 30 };
    const grants = fc.array(fc.record({ units: fc.integer({ min: 1, max: 9 }), days: fc.integer({ min: 1, max: 9 }) }), { minLength: 1 });
    fc.assert(
      fc.property(grants, fc.infiniteStream(fc.nat()), (given, random) => {
        const alone = given.flatMap(({ units, days }) => [{ units }, { days }]);
        const shuffled = alone.toSorted(() => (random.next().value % 3) - 1);
        const [once, either] = [given, shuffled].map((list) => having(...list.map((one) => planGrant(sold, one) as Addition)));
        expect(shown(either!)).toEqual(shown(once!));
      }),
    );
  });

  it('an addition that could not be counted exactly is refused with too_many', () => {
    const full = having({ units: Number.MAX_SAFE_INTEGER });
    expect(planAddition(full, { units: 1 }, NOW)).toEqual({ ok: false, reason: 'too_many' });
    const used = consume(having({ units: null }), Number.MAX_SAFE_INTEGER - 1);
    expect(planAddition(used, { units: 2 }, NOW)).toEqual({ ok: false, reason: 'too_many' });
    expect(planConsume(used, 2, NOW).ok).toBe(false);
    expect(planConsume(used, 1, NOW).ok).toBe(true);
  });

  it('values that are no counts throw, as a programming error', () => {
    for (const units of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => planAddition(emptyBalance(), { units }, NOW)).toThrow('not numbers');
      expect(() => planAddition(emptyBalance(), { days: units }, NOW)).toThrow('not numbers');
      expect(() => planConsume(having({ units: 1 }), units, NOW)).toThrow('not a number');
    }
    expect(() => assertBalance({ ...having({ units: 1 }), drawnUnits: 2 })).toThrow('impossible');
  });
});

describe('snapshotOf', () => {
  const seven = having({ units: 7, days: 2 });
  const free = having({ units: null, days: 2 });
  it.each<[string, Balance, number, unknown[]]>([
    ['units', seven, NOW, ['active', 7, 0, 7, day(2)]],
    ['units in use', consume(seven, 5), day(1), ['active', 7, 5, 2, day(2)]],
    ['units used up', consume(seven, 7), day(1), ['exhausted', 7, 7, 0, day(2)]],
    ['units used up stay used up when their time is over', consume(seven, 7), day(3), ['exhausted', 7, 7, 0, day(2)]],
    ['units at their very end', seven, day(2), ['expired', 7, 0, 0, day(2)]],
    ['units a millisecond before', seven, day(2) - 1, ['active', 7, 0, 7, day(2)]],
    ['uncounted use', consume(free, 9), NOW, ['active', null, 9, null, day(2)]],
    ['uncounted use when it is over', consume(free, 9), day(2), ['expired', 0, 9, 0, day(2)]],
    ['endless use', having({}), NOW, ['active', null, 0, null, null]],
    ['units beside uncounted use end with the last', add(seven, { units: null, days: 9 }), NOW, ['active', null, 0, null, day(9)]],
    ['endless units beside uncounted use do not end', add(free, { units: 3 }), day(5), ['active', 3, 0, 3, null]],
    [
      'used-up units do not keep anything open',
      add(consume(having({ units: 3 }), 3), { units: null, days: 2 }),
      NOW,
      ['active', null, 3, null, day(2)],
    ],
    [
      'time that ended after the units were used up',
      add(consume(having({ units: 3 }), 3), { units: null, days: 2 }),
      day(2),
      ['expired', 3, 3, 0, day(2)],
    ],
    ['units used up after the time ended', consume(add(free, { units: 3 }), 3, day(5)), day(6), ['exhausted', 3, 3, 0, null]],
    ['everything taken back', fold(consume(seven, 2), []), NOW, ['revoked', 2, 2, 0, null]],
  ])('the snapshot is correct for %s', (_, balance, now, expected) => {
    expect(shown(balance, now)).toEqual(expected);
  });

  it('the balance changes by itself only at the ends of what it holds', () => {
    const both = having({ units: 3, days: 5 }, { units: null, days: 2 });
    expect([nextEndOf(both, NOW), nextEndOf(both, day(2)), nextEndOf(both, day(5))]).toEqual([day(2), day(5), null]);
    expect(nextEndOf(consume(seven, 7), NOW)).toBeNull();
    expect(nextEndOf(emptyBalance(), 0)).toBeNull();
  });
});

describe('planConsume', () => {
  it('consumption is all or nothing, and a refusal names its reason', () => {
    const balance = having({ units: 3, days: 2 });
    expect(reasonOf(balance, 4, NOW)).toBe('entitlement_missing');
    expect(reasonOf(balance, 3, NOW)).toBe('ok');
    expect(reasonOf(balance, 1, day(2))).toBe('subscription_expired');
    expect(reasonOf(consume(balance, 3), 1, day(1))).toBe('entitlement_missing');
    expect(reasonOf(emptyBalance(), 1, NOW)).toBe('entitlement_missing');
    expect(reasonOf(fold(balance, []), 1, NOW)).toBe('entitlement_missing');
  });

  it('use during uncounted time costs no units', () => {
    const both = having({ units: 3 }, { units: null, days: 2 });
    expect(consume(both, 100, day(1))).toMatchObject({ drawnUnits: 0, uncountedUnits: 100 });
    expect(consume(both, 2, day(2))).toMatchObject({ drawnUnits: 2, uncountedUnits: 0 });
  });

  it('a refund restores the units, but not those that were revoked meanwhile', () => {
    const used = consume(having({ units: 10 }), 6);
    expect(shown(planRefund(used, { units: 6, isCounted: true }, NOW))).toEqual(shown(having({ units: 10 })));
    const revoked = fold(used, []);
    expect(shown(planRefund(revoked, { units: 6, isCounted: true }, NOW))).toEqual(['revoked', 0, 0, 0, null]);
    const bought = add(revoked, { units: 3 });
    expect(shown(bought)).toEqual(['active', 9, 6, 3, null]);
    expect(shown(planRefund(bought, { units: 6, isCounted: true }, NOW))).toEqual(['active', 3, 0, 3, null]);
  });

  it('use of revoked units is not charged to a later purchase', () => {
    const revoked = fold(consume(having({ units: 10 }), 5), []);
    const [three, four] = [{ units: 3 }, { units: 4 }];
    const bought = add(add(revoked, three), four);
    expect(shown(fold(bought, [{ addition: three, at: NOW, use: useOf(revoked) }]))).toEqual(['active', 8, 5, 3, null]);
  });
});

const additions = fc.record(
  {
    units: fc.option(fc.integer({ min: 1, max: 20 }), { nil: null }),
    days: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }),
  },
  { requiredKeys: [] },
);
const times = fc.integer({ min: 0, max: 2 * DAY });

describe('balance over random histories', () => {
  const steps = fc.array(
    fc.record({
      wait: times,
      verb: fc.constantFrom('add', 'use', 'use', 'refund', 'revoke'),
      addition: additions,
      units: fc.integer({ min: 1, max: 9 }),
      pick: fc.nat(),
    }),
    { maxLength: 60 },
  );

  it('use never exceeds the grants, every use counts, and each change adds one version', () => {
    fc.assert(
      fc.property(steps, (history) => {
        let balance = emptyBalance();
        let now = NOW;
        let activeEntries: HistoryEntry[] = [];
        let uses: { units: number; isCounted: boolean }[] = [];
        for (const { wait, verb, addition, units, pick } of history) {
          now += wait;
          const before = balance;
          if (verb === 'add') {
            activeEntries.push({ addition, at: now, use: useOf(balance) });
            balance = add(balance, addition, now);
          } else if (verb === 'use') {
            const planned = planConsume(balance, units, now);
            const { remaining } = snapshotOf(balance, identity, now);
            expect(planned.ok).toBe(remaining === null || remaining >= units);
            if (planned.ok) uses.push({ units, isCounted: planned.isCounted });
            if (planned.ok) balance = planned.balance;
          } else if (verb === 'refund' && uses.length > 0) {
            const use = uses[pick % uses.length]!;
            uses = uses.filter((other) => other !== use);
            balance = planRefund(balance, use, now);
          } else if (verb === 'revoke' && activeEntries.length > 0) {
            const gone = activeEntries[pick % activeEntries.length];
            activeEntries = activeEntries.filter((other) => other !== gone);
            balance = fold(balance, activeEntries, now);
            if (activeEntries.length === 0) expect(entitlementStatusOf(balance, now)).toBe('revoked');
          }
          assertBalance(balance);
          const { usedUnits, remaining, status } = snapshotOf(balance, identity, now);
          expect(balance.drawnUnits).toBeLessThanOrEqual(balance.grantedUnits);
          expect(usedUnits).toBe(uses.reduce((sum, use) => sum + use.units, 0));
          expect(remaining === 0).toBe(status !== 'active');
          expect(balance.version - before.version).toBe(balance === before ? 0 : 1);
          // Only additions in force provide units. Refunds, revocations and use add none.
          const given = activeEntries.reduce((sum, { addition }) => sum + (addition.units ?? 0), 0);
          expect(remaining ?? 0).toBeLessThanOrEqual(given);
        }
      }),
      { numRuns: 2000 },
    );
  });
});
