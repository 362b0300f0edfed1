import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sightAddresses } from '#solana/programs/subscriptions/subscription-state.ts';
import type { RawAccount } from '../../support/chain/chain.ts';
import { FIRST_CHECK, SECOND_PROOF } from '../../support/faults/finality.ts';
import { collectingWorld, PRICE, run, type SubscriptionLife, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { newKey } from '../../support/people/agent.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const PERIOD_MS = 30 * 86_400_000;

describe('collection dropped by the chain', () => {
  const w = collectingWorld();
  let seller: SubscriptionSeller;
  beforeAll(async () => {
    seller = await SubscriptionSeller.open(w);
  });
  afterAll(endSkips);

  const readAccounts = ({ subscriber }: SubscriptionLife): Promise<RawAccount[]> => w.chain.accounts(sightAddresses(subscriber.route));
  /** Drops a transaction with its fork and restores the accounts before it. */
  const lose = async (signature: string, before: RawAccount[] = []) => {
    await w.chain.fault({ kind: 'vanish', signature });
    await w.chain.putAccounts(before);
  };
  const believe = async () => {
    for (const seconds of [FIRST_CHECK, SECOND_PROOF]) {
      await skipTime(w.chain, seconds);
      await w.sweepAlone('finality');
    }
    await w.deliver();
  };
  const toNextPeriod = async (life: SubscriptionLife) => {
    const { paidThrough } = await life.read();
    await skipTime(w.chain, Math.ceil((paidThrough! - Date.now()) / 1000) + 660);
  };
  const collectNext = async (life: SubscriptionLife) => {
    await toNextPeriod(life);
    const before = await readAccounts(life);
    await run(w);
    await life.settle();
    return { before, signature: (await life.payments()).at(-1)!.txSignature };
  };
  const consume = (life: SubscriptionLife) =>
    w.call('POST', '/v1/access/entitlements/consume', {
      key: seller.merchant.key,
      headers: { 'Idempotency-Key': newKey() },
      body: { product_id: seller.productId, customer: { wallet_address: life.subscriber.wallet.address } },
    });

  it('a drop removes the paid time, access continues for the grace hour, and the period is collected once more', async () => {
    const life = await seller.subscribe();
    const { startedAt } = await life.read();
    const { before, signature } = await collectNext(life);
    expect(await life.read()).toMatchObject({ paidThrough: startedAt! + 2 * PERIOD_MS });
    await lose(signature, before);
    await believe();
    expect(await life.read()).toMatchObject({
      status: 'active',
      paidThrough: startedAt! + PERIOD_MS,
      periodEndsAt: startedAt! + PERIOD_MS,
      lastCollection: { status: 'failed', txSignature: signature },
    });
    expect((await life.show()).body.paid_through).toBe(new Date(startedAt! + PERIOD_MS).toISOString());
    expect((await consume(life)).status).toBe(200);
    await Promise.all([run(w), run(w)]);
    await life.settle();
    const periods = (await life.payments()).map(({ periodEndsAt }) => (periodEndsAt - startedAt!) / PERIOD_MS);
    expect(periods).toEqual([1, 2, 2]);
    expect(await life.read()).toMatchObject({ status: 'active', paidThrough: startedAt! + 2 * PERIOD_MS });
    expect(await life.membership()).toMatchObject({ paid_through: new Date(startedAt! + 2 * PERIOD_MS).toISOString() });
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(998n * PRICE);
    expect((await consume(life)).status).toBe(200);
    await toNextPeriod(life);
    await run(w);
    await life.settle();
    expect(await life.payments()).toHaveLength(4);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(997n * PRICE);
  });

  it('a dropped first period leaves an active authorization without paid time, collected again within the period', async () => {
    const life = await seller.checkout();
    await life.sign();
    const before = await readAccounts(life);
    await life.collectFirst();
    await life.settle();
    const { startedAt } = await life.read();
    await lose((await life.payments())[0]!.txSignature, before);
    await believe();
    expect(await life.read()).toMatchObject({ status: 'active', paidThrough: null, periodEndsAt: null });
    await run(w);
    await life.settle();
    expect(await life.read()).toMatchObject({ status: 'active', startedAt, paidThrough: startedAt! + PERIOD_MS });
    expect(await life.membership()).toMatchObject({ status: 'active', paid_through: new Date(startedAt! + PERIOD_MS).toISOString() });
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(999n * PRICE);
  });

  it('a dropped collection that lands again pays the period, and no other transfer was made meanwhile', async () => {
    const life = await seller.subscribe();
    const { startedAt } = await life.read();
    const { signature } = await collectNext(life);
    await lose(signature);
    await believe();
    expect(await life.read()).toMatchObject({ paidThrough: startedAt! + PERIOD_MS });
    await run(w);
    await w.chain.call('local_landAgain', signature);
    await skipTime(w.chain, 660);
    await w.sweepAlone('finality');
    await w.deliver();
    await life.settle();
    expect(await life.read()).toMatchObject({
      status: 'active',
      paidThrough: startedAt! + 2 * PERIOD_MS,
      lastCollection: { status: 'collected', txSignature: signature },
    });
    expect(await life.payments()).toHaveLength(2);
    expect(await life.eventTypes()).toEqual(['subscription.authorized', 'subscription.renewed']);
    expect(await w.chain.held(life.subscriber.wallet.address)).toBe(998n * PRICE);
  });

  it('a drop ends a subscription at once that its buyer has already cancelled', async () => {
    const life = await seller.subscribe();
    const { before, signature } = await collectNext(life);
    const transaction = await w.chain.sign(life.subscriber.wallet, (await life.cancelIntent()).body.transaction);
    await life.cancelConfirm({ transaction });
    const cancelled = await readAccounts(life);
    // The transfer is undone. The cancellation is in a surviving block.
    await lose(signature, [...before.slice(3), cancelled[0]!]);
    await believe();
    await run(w);
    expect(await life.read()).toMatchObject({ status: 'cancelled', nextAttemptAt: null });
    expect(await life.eventTypes()).toEqual([
      'subscription.authorized',
      'subscription.renewed',
      'subscription.cancel_requested',
      'subscription.cancelled',
    ]);
  });
});
