import { address, createNoopSigner, type Instruction } from '@solana/kit';
import { getApproveInstruction } from '@solana-program/token';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { USDC } from '../../support/chain/chain.ts';
import { connectTo, SubscriptionBuyer } from '../../support/people/subscription-buyer.ts';
import { SubscriptionShop, subscriptionWorld } from '../../support/people/subscription-shop.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

const w = subscriptionWorld();

describe('checkout with a lost token approval', () => {
  let shop: SubscriptionShop;
  beforeAll(async () => {
    shop = await SubscriptionShop.openPublished(w);
  });
  afterAll(endSkips);

  /** Another app of the wallet overwrites the token delegate. */
  const loseApproval = async (buyer: SubscriptionBuyer) => {
    const approve = getApproveInstruction({
      source: address(await associatedTokenAccount(buyer.wallet.address, USDC)),
      delegate: shop.wallet.address,
      owner: createNoopSigner(buyer.wallet.address),
      amount: 1n,
    });
    const plain = { ...approve, accounts: approve.accounts.map(({ address: at, role }) => ({ address: at, role })) };
    await (await buyer.onChain()).send(plain as Instruction);
  };

  it('one approval resumes the subscription, and a paid period is not collected again', async () => {
    const buyer = await SubscriptionBuyer.connect(shop);
    await buyer.signAll();
    await buyer.confirm();
    await loseApproval(buyer);
    const path = `/v1/access/native-subscriptions/${buyer.bill.subscription.authorization_id}`;
    await w.call('GET', path, { key: shop.merchant.key });
    await w.deliver();
    expect((await w.call('GET', path, { key: shop.merchant.key })).body.status).toBe('requires_reapproval');
    const bill = (await connectTo(shop, { wallet_address: buyer.wallet.address })).body;
    expect(bill.subscription.steps.map(({ kind }: { kind: string }) => kind)).toEqual(['approve']);
    const again = new SubscriptionBuyer(shop, buyer.wallet, bill);
    expect((await again.send(bill.subscription.steps[0].transaction)).status).toBe(200);
    const authorizationId = buyer.bill.subscription.authorization_id;
    const manageUrl = `https://svc.test/s/${authorizationId}`;
    expect((await again.read()).subscription).toMatchObject({ steps: [], problem: 'subscribed', manage_url: manageUrl });
    await skipTime(w.chain, 11);
    await w.deliver();
    expect((await buyer.authorization()).status).toBe('active');
    expect(await w.chain.held(buyer.wallet.address)).toBe(95_000_000n);
    const { status, body } = await connectTo(shop, { wallet_address: buyer.wallet.address });
    expect([status, body.meta]).toEqual([409, { reason: 'subscribed', authorization_id: authorizationId, manage_url: manageUrl }]);
  });
});
