import { describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { openShop } from '../../support/people/agent.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('customer_id as a filter', () => {
  const w = new World();

  it('each list has what the customer has, and nothing of the same wallet under a reference, or of another account', async () => {
    const [ada, eve] = [await w.merchant(), await w.merchant()];
    const product = await w.product(ada, { access_period_days: 30 });
    const wallet = await w.chain.wallet();
    const storeCopy = await watchCopy(w, ada, product.product_id, 'user-1');
    const named = await w.purchase(product, wallet, { customer_ref: 'user-1' });
    const plain = await w.purchase(product, wallet);
    await storeCopy();
    await w.sweepAlone('analytics');
    const ids = [{ customerRef: 'user-1' }, { walletAddress: wallet.address }].map((key) => customerIdOf(ada.userId, true, key));
    const list = async (path: string, query: string, key = ada.key) => (await w.call('GET', `/v1/${path}?${query}`, { key })).body;
    const paths = ['payments', 'memberships', 'access/entitlements', 'access/native-subscriptions'];
    for (const [i, { payment, confirmed }] of [named, plain].entries()) {
      const query = `customer_id=${ids[i]}`;
      expect((await list('payments', query)).items.map((one: Body) => one.payment_id)).toEqual([payment.payment_id]);
      expect((await list('memberships', query)).items.map((one: Body) => one.membership_id)).toEqual([confirmed.membership_id]);
      // The copy of the other one is not stored yet.
      expect((await list('access/entitlements', query)).total).toBe(i === 0 ? 1 : 0);
      expect((await list('access/native-subscriptions', query)).total).toBe(0);
      for (const path of paths) expect((await list(path, query, eve.key)).total).toBe(0);
      expect((await list('payments', `${query}&customer_ref=user-2`)).total).toBe(0);
    }
    expect((await list('memberships', `customer_id=${ids[0]}&wallet_address=${wallet.address}&status=active`)).total).toBe(1);
    expect((await list('memberships', `customer_id=${ids[0]}&wallet_address=${ada.wallet.address}`)).total).toBe(0);
  });

  it('payments that a wallet makes for another are those of the other, and payments for itself its own', async () => {
    const shop = await openShop(w);
    const [payer, friend] = [shop.agent.wallet.address, (await w.chain.wallet(0n)).address];
    const named = { wallet_address: friend };
    expect((await shop.settle(await shop.pay({ customer: named }), { customer: named })).status).toBe(200);
    expect((await shop.settle(await shop.pay())).status).toBe(200);
    const key = shop.merchant.key;
    for (const wallet of [payer, friend])
      expect((await w.call('GET', `/v1/customers/state?wallet_address=${wallet}`, { key })).body.products).toHaveLength(1);
    await w.sweepAlone('analytics');
    const list = async (query: string) => (await w.call('GET', `/v1/payments?${query}`, { key })).body;
    expect((await list(`wallet=${payer}`)).total).toBe(2);
    const idFor = (walletAddress: string) => customerIdOf(shop.merchant.userId, true, { walletAddress });
    const [forFriend, forPayer] = [await list(`customer_id=${idFor(friend)}`), await list(`customer_id=${idFor(payer)}`)];
    expect([forFriend.total, forPayer.total]).toEqual([1, 1]);
    expect(forFriend.items[0].payment_id).not.toBe(forPayer.items[0].payment_id);
    for (const [query, total] of [
      [`wallet=${payer}`, 1],
      [`wallet=${friend}`, 0],
      ['status=CONFIRMED', 1],
      ['status=FAILED', 0],
      ['asset=USDC', 1],
    ] as const)
      expect((await list(`customer_id=${idFor(friend)}&${query}`)).total, query).toBe(total);
  });

  it('a reference that another’s wallet paid for gives that wallet nothing of it', async () => {
    const [ada, stranger] = [await w.merchant(), await w.chain.wallet()];
    const product = await w.product(ada, { access_period_days: 30 });
    await w.purchase(product, stranger, { customer_ref: 'user-1' });
    await w.sweepAlone('analytics');
    const get = async (path: string) => w.call('GET', `/v1/${path}`, { key: ada.key });
    expect((await get(`customers/state?wallet_address=${stranger.address}`)).status).toBe(404);
    const { wallets } = (await get(`customers/${customerIdOf(ada.userId, true, { customerRef: 'user-1' })}`)).body;
    expect(wallets).toEqual([{ address: stranger.address, source: 'payment' }]);
    await w.purchase(product, stranger);
    const { body } = await get(`customers/state?wallet_address=${stranger.address}`);
    expect(body).not.toHaveProperty('customer_ref');
    expect(body.products).toHaveLength(1);
  });
});
