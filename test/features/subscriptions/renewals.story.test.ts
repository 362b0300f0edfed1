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

  describe('24 periods over a leap day, with two racing sweeps', () => {
    let life: Awaited<ReturnType<SubscriptionSeller['subscribe']>>;
    let startedAt: number;
    const endOf = (periods: number): number => startedAt + periods * 30 * DAY_MS;
    beforeAll(async () => {
      life = await seller.subscribe();
      startedAt = (await life.read()).startedAt!;
    });

    it.each([6, 12, 18, 24])('each of the first %i is collected once, to the second', async (periods) => {
      for (let period = (await life.payments()).length; period < periods; period++) {
        await passDays(w, 30);
        await skipTime(w.chain, 600);
        await Promise.all([run(w), run(w)]);
        await life.settle();
      }
      const payments = await life.payments();
      expect(payments.map(({ periodEndsAt }) => periodEndsAt)).toEqual(Array.from({ length: periods }, (_, n) => endOf(n + 1)));
      expect(new Set(payments.map(({ receiptId }) => receiptId)).size).toBe(periods);
      expect(new Set(payments.map(({ txSignature }) => txSignature)).size).toBe(periods);
      expect(payments.every(({ status }) => status === 'CONFIRMED')).toBe(true);
      expect(await w.chain.held(life.subscriber.wallet.address)).toBe((1_000n - BigInt(periods)) * PRICE);
      expect(await life.read()).toMatchObject({ status: 'active', paidThrough: endOf(periods) });
      expect(await life.eventTypes()).toEqual(['subscription.authorized', ...Array(periods - 1).fill('subscription.renewed')]);
      expect(await life.membership()).toMatchObject({ status: 'active', paid_through: new Date(endOf(periods)).toISOString() });
    });

    it('two years of 30-day periods include the leap day of 2028', () => {
      expect(startedAt).toBeLessThan(Date.UTC(2028, 1, 29));
      expect(endOf(24)).toBeGreaterThan(Date.UTC(2028, 1, 29));
    });
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
