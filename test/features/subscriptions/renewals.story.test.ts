import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { collectingWorld, PRICE, passDays, run, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const DAY_MS = 86_400_000;

describe('renewals', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  it('24 periods are collected once each, to the second, over a leap day, with two racing sweeps', async () => {
    const life = await seller.subscribe();
    const { startedAt } = await life.read();
    for (let period = 1; period < 24; period++) {
      await passDays(w, 30);
      await skipTime(w.chain, 600);
      await Promise.all([run(w), run(w)]);
      await life.settle();
    }
    const payments = await life.payments();
    expect(payments.map(({ periodEndsAt }) => periodEndsAt)).toEqual(
      Array.from({ length: 24 }, (_, n) => startedAt! + (n + 1) * 30 * DAY_MS),
    );
    expect(new Set(payments.map(({ receiptId }) => receiptId)).size).toBe(24);
    expect(new Set(payments.map(({ txSignature }) => txSignature)).size).toBe(24);
    expect(payments.every(({ status }) => status === 'CONFIRMED')).toBe(true);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe((1_000n - 24n) * PRICE);
    expect(await life.read()).toMatchObject({ status: 'active', paidThrough: startedAt! + 24 * 30 * DAY_MS });
    expect(await life.eventTypes()).toEqual(['subscription.authorized', ...Array(23).fill('subscription.renewed')]);
    expect(await life.membership()).toMatchObject({
      status: 'active',
      paid_through: new Date(startedAt! + 24 * 30 * DAY_MS).toISOString(),
    });
    // Two years of 30-day periods include the leap day of 2028.
    expect(startedAt! + 24 * 30 * DAY_MS).toBeGreaterThan(Date.UTC(2028, 1, 29));
  });

  it('a suspended merchant’s periods are not collected until the suspension ends', async () => {
    const other = await SubscriptionSeller.open(w);
    const life = await other.subscribe();
    const setStatus = (status: string) =>
      w.env.DB.prepare('UPDATE accounts SET status = ? WHERE id = ?').bind(status, other.merchant.userId).run();
    const nextPeriod = async () => {
      await passDays(w, 30);
      await skipTime(w.chain, 600);
      await run(w);
      await life.settle();
    };
    await setStatus('suspended');
    await nextPeriod();
    expect(await life.payments()).toHaveLength(1);
    await setStatus('active');
    await nextPeriod();
    expect(await life.payments()).toHaveLength(2);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(998n * PRICE);
  });
});
