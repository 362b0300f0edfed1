import { generateKeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareSteps } from '#features/subscriptions/prepare-consent.ts';
import { newCtx } from '#platform/context.ts';
import {
  confirmSubscription,
  connectTo,
  SubscriptionBuyer,
  subscribeElsewhere,
  sweepThrough,
} from '../../support/people/subscription-buyer.ts';
import { SubscriptionShop, subscriptionWorld } from '../../support/people/subscription-shop.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const w = subscriptionWorld();
afterAll(endSkips);

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
const reasonOf = ({ status, body }: Body) => [status, body.code, body.meta?.reason];

describe('signed subscription step', () => {
  let shop: SubscriptionShop;
  beforeAll(async () => {
    shop = await SubscriptionShop.openPublished(w);
  });

  it('a step of another wallet, another plan or with other instructions is refused and not broadcast', async () => {
    const [buyer, other] = [
      await SubscriptionBuyer.connect(shop),
      await SubscriptionBuyer.connect(await SubscriptionShop.openPublished(w)),
    ];
    const theirs = other.bill.subscription.steps[0].transaction;
    const foreign = await w.call('POST', `/v1/payments/${buyer.id}/transaction`, {
      body: { transaction: await w.chain.sign(other.wallet, theirs) },
    });
    expect(reasonOf(foreign)).toEqual([422, 'payment_mismatch', 'foreign_wallet']);
    const plain = await SubscriptionShop.openPublished(w);
    const oneOff = await w.product(plain.merchant, { product_type: 'link' });
    const { transaction } = await w.connect(oneOff, { wallet_address: buyer.wallet.address });
    expect(reasonOf(await buyer.send(transaction))[2]).toBe('foreign_instruction');
    expect(reasonOf(await buyer.confirm())).toEqual([200, undefined, undefined]);
    expect(await buyer.read()).toMatchObject({
      status: 'PENDING_SIGNATURE',
      subscription: { steps: [{ kind: 'approve' }, { kind: 'subscribe' }] },
    });
  });

  it('a step can be sent twice, and no transfer can be requested instead', async () => {
    const buyer = await SubscriptionBuyer.connect(shop);
    const { transaction } = buyer.bill.subscription.steps[0];
    const [first, second] = [await buyer.send(transaction), await buyer.send(transaction)];
    expect([first.status, second.status, second.body.tx_signature]).toEqual([200, 200, first.body.tx_signature]);
    const asked = await w.call('POST', `/v1/pay/${buyer.id}/solana-pay`, { body: { account: buyer.wallet.address } });
    expect(reasonOf(asked)).toEqual([409, 'state_conflict', 'subscription']);
  });

  it('no step is prepared for a wallet that cannot pay the network fee', async () => {
    const { address } = await generateKeyPairSigner();
    const { status, body } = await connectTo(shop, { wallet_address: address });
    expect([status, body.subscription]).toMatchObject([200, { steps: [], problem: 'refused' }]);
  });
});

describe('customer reference of a subscription', () => {
  let shop: SubscriptionShop;
  beforeAll(async () => {
    shop = await SubscriptionShop.openPublished(w);
  });

  it('the reference of the session in which the wallet signed is used, or of the only waiting session', async () => {
    const signed = await SubscriptionBuyer.connect(shop, { customer_ref: 'ref-1' });
    await signed.signAll();
    expect((await signed.confirm()).body.payment.status).toBe('CONFIRMED');
    const elsewhere = await SubscriptionBuyer.connect(shop, { customer_ref: 'ref-2' });
    await subscribeElsewhere(shop, elsewhere.wallet);
    expect((await elsewhere.confirm()).body.payment.status).toBe('CONFIRMED');
  });

  it('a reference that came after the subscription is not used', async () => {
    const wallet = await w.chain.wallet();
    await subscribeElsewhere(shop, wallet);
    await skipTime(w.chain, 120);
    const late = (await connectTo(shop, { wallet_address: wallet.address, customer_ref: 'ref-3' })).body;
    const { body } = await confirmSubscription(w, late.payment_id);
    expect(body.payment.status).toBe('PENDING_SIGNATURE');
    const own = (await connectTo(shop, { wallet_address: wallet.address })).body;
    expect(own.subscription.steps).toEqual([]);
    const confirmed = await confirmSubscription(w, own.payment_id);
    expect(confirmed.body.payment.status).toBe('CONFIRMED');
  });

  it('a stranger who names the wallet with their own reference gains nothing', async () => {
    const victim = await SubscriptionBuyer.connect(shop);
    const stranger = (await connectTo(shop, { wallet_address: victim.wallet.address, customer_ref: 'stranger' })).body;
    await victim.signAll();
    const tried = await confirmSubscription(w, stranger.payment_id);
    expect(tried.body.payment.status).toBe('PENDING_SIGNATURE');
    await sweepThrough(w);
    expect((await victim.read()).status).toBe('CONFIRMED');
    expect((await w.call('GET', `/v1/payments/${stranger.payment_id}`)).body.status).toBe('PENDING_SIGNATURE');
  });

  it('the signed reference wins over other open sessions for the same wallet', async () => {
    const victim = await SubscriptionBuyer.connect(shop, { customer_ref: 'ref-4' });
    const nameless = (await connectTo(shop, { wallet_address: victim.wallet.address })).body;
    await victim.signAll();
    const tried = await confirmSubscription(w, nameless.payment_id);
    expect(tried.body.payment.status).toBe('PENDING_SIGNATURE');
    await sweepThrough(w);
    expect(await victim.read()).toMatchObject({ status: 'CONFIRMED' });
    expect((await w.call('GET', `/v1/payments/${nameless.payment_id}`)).body.status).toBe('PENDING_SIGNATURE');
    expect(await w.chain.held(victim.wallet.address)).toBe(95_000_000n);
  });

  it('a stranger who replays signed transactions of the wallet gains nothing', async () => {
    const victim = await SubscriptionBuyer.connect(shop, { usdc: 1_000_000n });
    const stranger = (await connectTo(shop, { wallet_address: victim.wallet.address, customer_ref: 'replays' })).body;
    const replay = (transaction: string) => w.call('POST', `/v1/payments/${stranger.payment_id}/transaction`, { body: { transaction } });
    const approve = await w.chain.sign(victim.wallet, victim.bill.subscription.steps[0].transaction);
    expect(reasonOf(await replay(approve))).toEqual([422, 'payment_mismatch', 'foreign_instruction']);
    await victim.signAll();
    // A transaction of the same wallet from a public library: without a memo, and public on the chain.
    const { route } = await victim.onChain();
    const unmarked = await prepareSteps(newCtx(w.env, { requestId: 'req_replay', defer: () => {} }), route, { isUnproven: true });
    const transaction = unmarked.ok ? unmarked.value[0]!.transaction! : unmarked.reason;
    expect((await replay(await w.chain.sign(victim.wallet, transaction))).status).toBe(200);
    await w.chain.call('local_fundUsdc', victim.wallet.address, '10000000');
    const tried = await confirmSubscription(w, stranger.payment_id);
    expect(tried.body.payment.status).toBe('PENDING_SIGNATURE');
    expect((await victim.confirm()).body.payment.status).toBe('CONFIRMED');
  });

  it('a new approval after a failed first payment proves the wallet and makes the reference valid', async () => {
    const failed = await SubscriptionBuyer.connect(shop, { usdc: 1_000_000n, customer_ref: 'ref-5' });
    await failed.signAll();
    await failed.confirm();
    await skipTime(w.chain, 40 * 60);
    await sweepThrough(w);
    expect(await failed.read()).toMatchObject({ status: 'FAILED', failure_code: 'collection_failed' });
    await w.chain.call('local_fundUsdc', failed.wallet.address, '10000000');
    const bill = (await connectTo(shop, { wallet_address: failed.wallet.address, customer_ref: 'ref-5' })).body;
    expect(bill.subscription.steps).toMatchObject([{ kind: 'approve', transaction: expect.any(String) }]);
    const again = new SubscriptionBuyer(shop, failed.wallet, bill);
    expect(await again.signAll()).toEqual(['approve']);
    const { body } = await again.confirm();
    expect(body.payment.status).toBe('CONFIRMED');
    const membership = await w.call('GET', `/v1/memberships/lookup?payment_id=${again.id}`, { key: shop.merchant.key });
    expect(membership.body).toMatchObject({ status: 'active', customer: { customer_ref: 'ref-5' } });
    expect(await w.chain.held(failed.wallet.address)).toBe(6_000_000n);
  });
});
