import { describe, expect, it } from 'vitest';
import { planProductIdOf, SERVICE_ACCOUNT_ID } from '../../worker/core/ids.ts';
import { extendPlan, PAID_PLANS, PLANS, planAt, planPrice } from '../../worker/plans.ts';

const NOW = 1_800_000_000_000;
const DAY = 86_400_000;

describe('a plan and its end', () => {
  it('counts until its very instant, and is free from then on', () => {
    const held = { plan: 'growth', planThrough: NOW } as const;
    expect([planAt(held, NOW - 1), planAt(held, NOW), planAt(held, NOW + DAY)]).toEqual(['growth', 'free', 'free']);
    expect(planAt({ plan: 'scale', planThrough: null }, NOW)).toBe('scale');
    // An object that was stored before plans had an end.
    expect(planAt({ plan: 'scale' } as { plan: 'scale'; planThrough: null }, NOW)).toBe('scale');
  });

  it('has the price that is written once', () => {
    expect(PAID_PLANS.map(planPrice)).toEqual([19_000_000n, 49_000_000n, 199_000_000n]);
    expect(planPrice('free')).toBe(0n);
  });

  it.each([
    ['the first', { plan: 'free', planThrough: null }, 'starter', { plan: 'starter', planThrough: NOW + 30 * DAY }],
    ['the same again', { plan: 'starter', planThrough: NOW + 5 * DAY }, 'starter', { plan: 'starter', planThrough: NOW + 35 * DAY }],
    ['a higher one', { plan: 'starter', planThrough: NOW + 5 * DAY }, 'scale', { plan: 'scale', planThrough: NOW + 35 * DAY }],
    ['one after another has ended', { plan: 'scale', planThrough: NOW - DAY }, 'starter', { plan: 'starter', planThrough: NOW + 30 * DAY }],
    ['one at its last instant', { plan: 'scale', planThrough: NOW }, 'starter', { plan: 'starter', planThrough: NOW + 30 * DAY }],
    ['more of what never ends', { plan: 'growth', planThrough: null }, 'growth', { plan: 'growth', planThrough: null }],
    ['less than what never ends', { plan: 'growth', planThrough: null }, 'starter', { plan: 'growth', planThrough: null }],
    ['more than what never ends', { plan: 'growth', planThrough: null }, 'scale', { plan: 'scale', planThrough: NOW + 30 * DAY }],
  ] as const)('adds %s', (_which, held, bought, after) => {
    expect(extendPlan(held, bought, planPrice(bought), NOW)).toEqual(after);
  });

  it('loses no money to a plan that has become the lower one: time at the price of the higher, in whole seconds', () => {
    for (const [running, bought] of [
      ['growth', 'starter'],
      ['scale', 'starter'],
      ['scale', 'growth'],
    ] as const) {
      const after = extendPlan({ plan: running, planThrough: NOW + DAY }, bought, planPrice(bought), NOW);
      const seconds = Math.floor((30 * 86_400 * Number(PLANS[bought].priceUsdc)) / Number(PLANS[running].priceUsdc));
      expect(after).toEqual({ plan: running, planThrough: NOW + DAY + seconds * 1000 });
    }
  });
});

describe('the names of what the service sells', () => {
  it('are UUIDs of their own, the same for ever', () => {
    const ids = PAID_PLANS.map(planProductIdOf);
    expect(new Set(ids).size).toBe(3);
    for (const id of [...ids, SERVICE_ACCOUNT_ID])
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(ids).toEqual(PAID_PLANS.map(planProductIdOf));
  });
});
