import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECOND } from '#core/time.ts';
import { endSkips, skipTime } from '../../world/clock.ts';
import { collectingWorld, PRICE, run, SubscriptionSeller } from '../../world/subscription-life.ts';

describe('the first period of a subscription', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  it('is collected once its buyer has subscribed, and confirms the checkout: payment, membership, receipt, authorization', async () => {
    const life = await seller.checkout();
    expect(await life.collectFirst()).toMatchObject({ kind: 'waiting', reason: 'not_subscribed' });
    expect(await life.payment()).toMatchObject({ status: 'PENDING_SIGNATURE' });
    await life.sign();
    expect(await life.collectFirst()).toMatchObject({ kind: 'sent' });
    await life.settle();
    const { subscription } = await life.subscriber.look();
    const startsAt = Number(subscription!.currentPeriodStartTs) * SECOND;
    const endsAt = startsAt + 30 * 86_400_000;
    expect(await life.payment()).toMatchObject({ status: 'CONFIRMED', payerWallet: life.subscriber.wallet.address });
    expect(await life.read()).toMatchObject({ status: 'active', paidThrough: endsAt, startedAt: startsAt, periodEndsAt: endsAt });
    expect(await life.eventTypes()).toEqual(['subscription.authorized']);
    expect(await life.membership()).toMatchObject({
      status: 'active',
      paid_through: new Date(endsAt).toISOString(),
      authorization_id: life.id,
      subscription_status: 'active',
      cancel_at_period_end: false,
    });
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(999n * PRICE);
    const [payment, ...more] = await life.payments();
    expect(more).toEqual([]);
    expect(payment).toMatchObject({ status: 'CONFIRMED', periodEndsAt: endsAt, receiptId: expect.any(String) });
  });

  it('is found by the sweep where the buyer subscribed with a library and told no one', async () => {
    const life = await seller.checkout();
    await life.sign();
    await skipTime(w.chain, 20);
    await run(w);
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'active' });
    expect(await life.payment()).toMatchObject({ status: 'CONFIRMED' });
  });

  it('that its plan’s owner collected first is the payment of the checkout, without a second transfer', async () => {
    const life = await seller.checkout();
    await life.sign();
    const signature = await seller.pull(life);
    expect(await life.collectFirst()).toMatchObject({ kind: 'collected', payment: { txSignature: signature } });
    expect(await life.read()).toMatchObject({ status: 'active' });
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(999n * PRICE);
  });

  it('that cannot be collected leaves the checkout waiting to its end, and then fails it with its authorization', async () => {
    const life = await seller.checkout({ usdc: PRICE - 1n });
    await life.sign();
    expect(await life.collectFirst()).toMatchObject({ kind: 'waiting', reason: 'insufficient_funds' });
    expect(await life.payment()).toMatchObject({ status: 'PENDING_CONFIRMATION' });
    expect(await life.read()).toMatchObject({ status: 'pending', lastCollection: { status: 'failed', code: 'insufficient_funds' } });
    await skipTime(w.chain, 40 * 60);
    await w.sweep();
    await life.settle();
    await skipTime(w.chain, 10 * 60);
    await run(w);
    expect(await life.payment()).toMatchObject({ status: 'FAILED', failureCode: 'collection_failed' });
    expect(await life.read()).toMatchObject({ status: 'expired', endedAt: expect.any(Number) });
    expect(await life.eventTypes()).toEqual([]);
  });

  it('is collected as soon as the money is there, while the checkout lasts', async () => {
    const life = await seller.checkout({ usdc: PRICE - 1n });
    await life.sign();
    await life.collectFirst();
    await w.chain.call('local_fundUsdc', life.subscriber.wallet.address, '1');
    await skipTime(w.chain, 20);
    await run(w);
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'active', lastCollection: { status: 'collected' } });
  });
});
