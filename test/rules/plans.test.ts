import { describe, expect, it } from 'vitest';
import { planProductIdOf, SERVICE_ACCOUNT_ID } from '#core/ids.ts';
import {
  extendPlan,
  foldPurchases,
  NO_PLAN,
  PAID_PLANS,
  type PaidPlan,
  type PaidTime,
  type PlanName,
  planAt,
  planPrice,
} from '#rules/plans.ts';

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;

describe('paid plans', () => {
  it('a plan applies until its end, and the account is free from that instant', () => {
    const held = { plan: 'growth', planThrough: NOW } as const;
    expect([planAt(held, NOW - 1), planAt(held, NOW), planAt(held, NOW + DAY)]).toEqual(['growth', 'free', 'free']);
    expect(planAt({ plan: 'scale', planThrough: null }, NOW)).toBe('scale');
    expect(planAt({ plan: 'scale' } as { plan: 'scale'; planThrough: null }, NOW)).toBe('scale');
  });

  it('plan prices are 19, 49 and 199 USDC, and free costs nothing', () => {
    expect(PAID_PLANS.map(planPrice)).toEqual([19_000_000n, 49_000_000n, 199_000_000n]);
    expect(planPrice('free')).toBe(0n);
  });

  const priceOf = (plan: PlanName) => ({ free: 0n, starter: 19_000_000n, growth: 49_000_000n, scale: 199_000_000n })[plan];
  const held = (plan: PlanName, planThrough: number | null): PaidTime => ({ plan, planThrough, planPrice: priceOf(plan) });
  const bought = (plan: PaidPlan, at = NOW) => ({ plan, paidUnits: priceOf(plan), at });

  it.each([
    ['the first', held('free', null), 'starter', held('starter', NOW + 30 * DAY)],
    ['the same again', held('starter', NOW + 5 * DAY), 'starter', held('starter', NOW + 35 * DAY)],
    ['one after another has ended', held('scale', NOW - DAY), 'starter', held('starter', NOW + 30 * DAY)],
    ['one at its last instant', held('scale', NOW), 'starter', held('starter', NOW + 30 * DAY)],
    ['more of what never ends', held('growth', null), 'growth', held('growth', null)],
    ['less than what never ends', held('growth', null), 'starter', held('growth', null)],
    ['more than what never ends', held('growth', null), 'scale', held('growth', null)],
  ] as const)('extendPlan adds %s', (_which, before, plan, after) => {
    expect(extendPlan(before, bought(plan))).toEqual(after);
  });

  it('an upgrade starts now, and lasts 30 days plus the remaining time converted at the two prices', () => {
    for (const [from, to] of [
      ['starter', 'growth'],
      ['starter', 'scale'],
      ['growth', 'scale'],
    ] as const) {
      const left = Number((BigInt(5 * DAY) * priceOf(from)) / priceOf(to));
      expect(extendPlan(held(from, NOW + 5 * DAY), bought(to))).toEqual(held(to, NOW + 30 * DAY + left));
    }
  });

  it('cheap months before an upgrade are worth their price, not months of the higher plan', () => {
    const steps = [bought('starter'), bought('starter'), bought('starter'), bought('scale')];
    const { plan, planThrough } = foldPurchases(steps);
    const days = (planThrough! - NOW) / DAY;
    expect([plan, days.toFixed(3)]).toEqual(['scale', '38.593']);
    expect((days / 30) * 199).toBeCloseTo(3 * 19 + 199, 6);
  });

  it('a lower plan bought during a higher one extends the higher at its price', () => {
    for (const [running, lower] of [
      ['growth', 'starter'],
      ['scale', 'starter'],
      ['scale', 'growth'],
    ] as const) {
      const more = Number((BigInt(30 * DAY) * priceOf(lower)) / priceOf(running));
      expect(extendPlan(held(running, NOW + DAY), bought(lower))).toEqual(held(running, NOW + DAY + more));
    }
  });

  it('a new price list does not change the value of sold time', () => {
    const cheap = { ...held('starter', NOW + 30 * DAY), planPrice: 10_000_000n };
    const upgraded = extendPlan(cheap, bought('scale'));
    expect(upgraded.planThrough! - NOW - 30 * DAY).toBe(Math.floor((30 * DAY * 10) / 199));
    const longer = extendPlan(cheap, bought('starter'));
    expect(longer).toEqual({ plan: 'starter', planThrough: NOW + 60 * DAY, planPrice: 14_500_000n });
  });

  it('purchases extend a plan that was held before', () => {
    expect(foldPurchases([bought('growth')], held('growth', NOW + 10 * DAY))).toEqual(held('growth', NOW + 40 * DAY));
    expect(foldPurchases([])).toEqual(NO_PLAN);
  });
});

describe('plan product ids', () => {
  it('each plan and the service account have a fixed UUID of their own', () => {
    const ids = PAID_PLANS.map(planProductIdOf);
    expect(new Set(ids).size).toBe(3);
    for (const id of [...ids, SERVICE_ACCOUNT_ID])
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids).toEqual(PAID_PLANS.map(planProductIdOf));
  });
});
