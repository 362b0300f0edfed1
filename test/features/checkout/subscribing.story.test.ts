import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { connectTo, SubscriptionBuyer, subscribeElsewhere, sweepThrough } from '../../support/people/subscription-buyer.ts';
import { SubscriptionShop, subscriptionWorld } from '../../support/people/subscription-shop.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const w = subscriptionWorld();
const DAY = 86_400;

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
const reasonOf = ({ status, body }: Body) => [status, body.code, body.meta?.reason];

describe('subscription checkout', () => {
  let shop: SubscriptionShop;
  beforeAll(async () => {
    shop = await SubscriptionShop.openPublished(w);
  });
  afterAll(endSkips);

  it('a new subscriber signs two steps in order, then the first period is collected', async () => {
    const buyer = await SubscriptionBuyer.connect(shop);
    expect(buyer.bill).toMatchObject({
      status: 'PENDING_SIGNATURE',
      price: { amount: '5' },
      subscription: { period_hours: 720, steps: [{ kind: 'approve', transaction: expect.any(String) }, { kind: 'subscribe' }] },
    });
    expect('solana_pay_url' in buyer.bill || 'transaction' in buyer.bill.subscription.steps[1]).toBe(false);
    const { authorization_id: id } = buyer.bill.subscription;
    expect((await buyer.authorization()).status).toBe('pending');
    // The memo makes a signed step valid for this checkout only.
    expect(atob(buyer.bill.subscription.steps[0].transaction)).toContain(buyer.bill.memo.replace('svc:', 'svc-consent:'));
    expect(await buyer.signAll()).toEqual(['approve', 'subscribe']);
    const waiting = await buyer.read();
    expect(waiting).toMatchObject({ status: 'PENDING_CONFIRMATION', authorization_id: id, subscription: { steps: [] } });
    const confirmed = await buyer.confirm();
    expect(confirmed.status).toBe(200);
    expect(confirmed.body).toMatchObject({
      already_confirmed: false,
      payment: { status: 'CONFIRMED', rail_id: 'solana_usdc_subscription', payer_wallet: buyer.wallet.address },
    });
    expect(confirmed.body.receipt_id).toEqual(expect.any(String));
    expect(await w.chain.held(buyer.wallet.address)).toBe(95_000_000n);
    const { status, membership_id } = await buyer.authorization();
    expect([status, membership_id]).toEqual(['active', confirmed.body.membership_id]);
    expect('subscription' in (await buyer.read())).toBe(false);
    expect((await buyer.confirm()).body.already_confirmed).toBe(true);
    expect(reasonOf(await connectTo(shop, { wallet_address: buyer.wallet.address }))).toEqual([409, 'state_conflict', 'subscribed']);
  });

  it('a wallet that has approved before signs one step', async () => {
    const first = await SubscriptionBuyer.connect(shop);
    await first.signAll();
    await first.confirm();
    const other = await SubscriptionShop.openPublished(w);
    const bill = (await connectTo(other, { wallet_address: first.wallet.address })).body;
    expect(bill.subscription.steps.map(({ kind }: Body) => kind)).toEqual(['subscribe']);
  });

  it('the checkout needs a wallet and a published plan with the current terms', async () => {
    const nameless = await connectTo(shop, {});
    expect([nameless.status, nameless.body.detail[0].loc]).toEqual([422, ['body', 'wallet_address']]);
    const { address } = await w.chain.wallet();
    const early = await SubscriptionShop.open(w);
    expect(reasonOf(await connectTo(early, { wallet_address: address }))).toEqual([409, 'setup_not_ready', 'subscription_plan_published']);
    const changed = await SubscriptionShop.openPublished(w);
    await changed.change({ access_period_days: 7 });
    expect(reasonOf(await connectTo(changed, { wallet_address: address }))).toEqual([
      409,
      'setup_not_ready',
      'subscription_plan_published',
    ]);
    await changed.publish();
    expect((await connectTo(changed, { wallet_address: address })).body.subscription.period_hours).toBe(168);
    expect((await connectTo(shop, { wallet_address: address, asset: 'SOL' })).status).toBe(422);
  });

  it('the sweep collects a subscription that was made outside the checkout and not reported', async () => {
    const buyer = await SubscriptionBuyer.connect(shop);
    await subscribeElsewhere(shop, buyer.wallet);
    await sweepThrough(w);
    expect(await buyer.read()).toMatchObject({ status: 'CONFIRMED' });
    expect((await buyer.authorization()).status).toBe('active');
  });

  it('a subscription of a wallet without funds waits and is confirmed once the wallet is funded', async () => {
    const buyer = await SubscriptionBuyer.connect(shop, { usdc: 1_000_000n });
    await buyer.signAll();
    const waiting = await buyer.confirm();
    expect([waiting.status, waiting.body.payment.status]).toEqual([200, 'PENDING_CONFIRMATION']);
    await w.chain.call('local_fundUsdc', buyer.wallet.address, '10000000');
    expect((await buyer.confirm()).body.payment.status).toBe('CONFIRMED');
  });

  it('a cancelled subscriber resumes in the same period with one step', async () => {
    const buyer = await SubscriptionBuyer.connect(shop);
    await buyer.signAll();
    await buyer.confirm();
    const subscriber = await buyer.onChain();
    await subscriber.send(cancelInstruction(subscriber.route));
    await skipTime(w.chain, DAY + 60);
    await sweepThrough(w);
    expect((await buyer.authorization()).status).toBe('cancel_requested');
    const again = (await connectTo(shop, { wallet_address: buyer.wallet.address })).body;
    expect(again.subscription.steps.map(({ kind }: Body) => kind)).toEqual(['resume']);
  });
});
