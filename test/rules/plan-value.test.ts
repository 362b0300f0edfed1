import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extendPlan, foldPurchases, NO_PLAN, type PaidPlan, type PaidTime, type PlanPurchase, planAt, planRank } from '#rules/plans.ts';
import { seededRandom } from '../support/faults/faults.ts';
import { SEED } from '../support/runner/env.ts';

const START = 1_800_000_000_000;
const DAY = 86_400_000;
const PERIOD = BigInt(30 * DAY);
const LIST: Record<PaidPlan, bigint> = { starter: 19_000_000n, growth: 49_000_000n, scale: 199_000_000n };
const PLANS = ['starter', 'growth', 'scale'] as const;
const HISTORIES = 200_000;

/** Worth of a plan at an instant, in base units of USDC times milliseconds. */
const worthOf = (held: PaidTime, at: number): bigint =>
  planAt(held, at) === 'free' || held.planThrough === null ? 0n : BigInt(held.planThrough - at) * held.planPrice;

function newHistory(random: () => number, listChanges: boolean): PlanPurchase[] {
  let at = START;
  return Array.from({ length: 1 + Math.floor(random() * 8) }, () => {
    at += random() < 0.3 ? 0 : Math.floor(random() * random() * 60 * DAY);
    const plan = PLANS[Math.floor(random() * 3)]!;
    const change = listChanges && random() < 0.3 ? BigInt(Math.floor(random() * 9_000_000)) : 0n;
    return { plan, paidUnits: LIST[plan] + change, at };
  });
}

describe(`plan value over random purchase histories (seed ${SEED})`, () => {
  it.each([
    // Base units of USDC lost to rounding per purchase: one millisecond of the highest plan, or one unit of an averaged price per month
    // held.
    ['one price list', false, 0.08],
    ['price lists that change', true, 9],
  ])('the plan is never worth more than was paid, and at most a rounding less: %s', (_lists, listChanges, lossMax) => {
    const random = seededRandom(SEED);
    let worst = 0;
    for (let i = 0; i < HISTORIES / 2; i++) {
      let held = NO_PLAN;
      for (const purchase of newHistory(random, listChanges)) {
        const before = worthOf(held, purchase.at) + purchase.paidUnits * PERIOD;
        held = extendPlan(held, purchase);
        const lost = before - worthOf(held, purchase.at);
        if (lost < 0n) expect.fail(`gained ${-lost} with ${JSON.stringify({ ...purchase, paidUnits: String(purchase.paidUnits) })}`);
        worst = Math.max(worst, Number(lost) / Number(PERIOD));
      }
    }
    expect(worst).toBeLessThan(lossMax);
  });

  it('two purchases at the same instant give the same result in either order', () => {
    const random = seededRandom(SEED + 1);
    for (let i = 0; i < HISTORIES; i++) {
      const [first, ...before] = newHistory(random, false);
      const at = (before.at(-1) ?? first!).at;
      const other = { ...newHistory(random, false)[0]!, at };
      const one = foldPurchases([...before, { ...first!, at }, other]);
      const two = foldPurchases([...before, other, { ...first!, at }]);
      if (one.plan !== two.plan || Math.abs(one.planThrough! - two.planThrough!) > 1) expect.fail(JSON.stringify([one.plan, two.plan, i]));
    }
  });

  it('the plan equals the fold of its history, and is never lower than the last purchase', () => {
    const step = fc.record({
      plan: fc.constantFrom(...PLANS),
      waited: fc.integer({ min: 0, max: 60 * DAY }),
      paidUnits: fc.bigInt({ min: 1n, max: 10n ** 12n }),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 12 }), (steps) => {
        let running = NO_PLAN;
        const history = steps.map(({ plan, paidUnits }, i) => ({
          plan,
          paidUnits,
          at: START + steps.slice(0, i + 1).reduce((sum, { waited }) => sum + waited, 0),
        }));
        for (const purchase of history) {
          running = extendPlan(running, purchase);
          expect(planRank(running.plan)).toBeGreaterThanOrEqual(planRank(purchase.plan));
          expect(running.planThrough).toBeGreaterThanOrEqual(purchase.at);
        }
        expect(foldPurchases(history)).toEqual(running);
        for (let cut = 0; cut < history.length; cut++) {
          const base = foldPurchases(history.slice(0, cut));
          expect(foldPurchases(history.slice(cut), base)).toEqual(running);
        }
      }),
      { seed: SEED, numRuns: 2000 },
    );
  });
});
