import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  collectingWorld,
  PRICE,
  passDays,
  run,
  type SubscriptionLife,
  SubscriptionSeller,
} from '../../support/models/subscription-life.ts';
import { newKey } from '../../support/people/agent.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const HOUR = 3600;

describe('grace hour after paid time', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  const consume = (life: SubscriptionLife) =>
    w.call('POST', '/v1/access/entitlements/consume', {
      key: seller.merchant.key,
      headers: { 'Idempotency-Key': newKey() },
      body: { product_id: seller.productId, customer: { wallet_address: life.subscriber.wallet.address } },
    });
  const passTo = async (life: SubscriptionLife, seconds: number) => {
    const { paidThrough } = await life.read();
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + seconds);
  };

  it('an active authorization is served for one hour after its paid time and not longer', async () => {
    const life = await seller.subscribe();
    expect((await consume(life)).body).toMatchObject({ consumed: true, remaining: null });
    await passTo(life, 5);
    expect(await consume(life)).toMatchObject({ status: 200, body: { remaining: null } });
    await w.sweepAlone('memberships');
    expect(await life.membership()).toMatchObject({ status: 'active' });
    await passTo(life, HOUR - 60);
    expect((await consume(life)).status).toBe(200);
    await passTo(life, HOUR + 60);
    expect(await consume(life)).toMatchObject({
      status: 403,
      body: { code: 'subscription_expired', meta: { subscription_status: 'active' } },
    });
    await w.sweepAlone('memberships');
    expect(await life.membership()).toMatchObject({ status: 'grace' });
    await run(w);
    await life.settle();
    expect((await consume(life)).status).toBe(200);
    expect(await life.membership()).toMatchObject({ status: 'active' });
  });

  it('a past_due authorization is not served, and consume returns its subscription status', async () => {
    const life = await seller.subscribe({ usdc: PRICE });
    await passDays(w, 30);
    await skipTime(w.chain, 660);
    await run(w);
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'past_due', lastCollection: { code: 'insufficient_funds' } });
    expect(await consume(life)).toMatchObject({
      status: 403,
      body: { code: 'subscription_expired', meta: { subscription_status: 'past_due' } },
    });
    expect(await life.membership()).toMatchObject({ subscription_status: 'past_due' });
    await w.sweepAlone('memberships');
    expect(await life.membership()).toMatchObject({ status: 'grace' });
    await w.chain.call('local_fundUsdc', life.subscriber.wallet.address, PRICE.toString());
    await skipTime(w.chain, HOUR);
    await run(w);
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'active', failures: 0 });
    expect((await consume(life)).status).toBe(200);
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.past_due', 'subscription.renewed']);
  });
});
