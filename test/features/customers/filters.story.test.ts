import { describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { archiveAll } from '../../support/fixtures/old-books.ts';
import { openShop } from '../../support/people/agent.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('customer_id as a filter', () => {
  const w = new World();

  it('each list has what the customer has, and nothing of the same wallet under a reference, or of another account', async () => {
    const [ada, eve] = [await w.merchant(), await w.merchant()];
    const product = await w.product(ada, { access_period_days: 30 });
    const wallet = await w.chain.wallet();
    const storeCopy = await watchCopy(w, ada, product.product_id, { customerRef: 'user-1' });
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

  it('receipts of a customer are listed and exported, also from the archive, and read little more than they are', async () => {
    const [ada, eve] = [await w.merchant(), await w.merchant()];
    const product = await w.product(ada);
    const wallet = await w.chain.wallet();
    const sell = async (more: Record<string, unknown> = {}) => (await w.purchase(product, wallet, more)).confirmed.receipt_id as string;
    const ofRef = [await sell({ customer_ref: 'user-1' }), await sell({ customer_ref: 'user-1' })];
    const ofWallet = [await sell(), await sell()];
    const other = [await sell({ customer_ref: 'user-2' })];
    await w.sweepAlone('analytics');
    const [ref, payer] = [{ customerRef: 'user-1' }, { walletAddress: wallet.address }].map((key) => customerIdOf(ada.userId, true, key));
    const list = async (query: string, key = ada.key) => (await w.call('GET', `/v1/receipts?${query}`, { key })).body;
    const ids = async (query: string, key?: string) => (await list(query, key)).items.map((one: Body) => one.receipt_id);
    const check = async () => {
      for (const [id, expected] of [
        [ref, ofRef.toReversed()],
        [payer, ofWallet.toReversed()],
      ] as const) {
        for (const query of ['', '&direction=all', `&product_id=${product.product_id}`, `&wallet=${wallet.address}`, '&q=weather'])
          expect(await ids(`customer_id=${id}${query}`), query).toEqual(expected);
        expect(await ids(`customer_id=${id}&per_page=1&page=2`)).toEqual([expected[1]]);
        for (const query of ['&direction=paid', `&wallet=${ada.wallet.address}`, '&q=nothing'])
          expect((await list(`customer_id=${id}${query}`)).total, query).toBe(0);
        expect((await list(`customer_id=${id}`, eve.key)).total).toBe(0);
        const { body: csv } = await w.call('GET', `/v1/receipts/export.csv?customer_id=${id}`, { key: ada.key });
        expect(expected.map((receiptId) => csv.includes(receiptId))).toEqual([true, true]);
        expect(csv.trim().split('\r\n')).toHaveLength(1 + expected.length);
      }
    };
    await check();
    while (w.queue.sent.length > 0) await w.deliver();
    await w.env.DB.batch([
      w.env.DB.prepare('UPDATE payments SET finalized_at = confirmed_at + 20000 WHERE finalized_at IS NULL'),
      w.env.DB.prepare('UPDATE tx_claims SET final_at = confirmed_at + 20000, next_check_at = NULL WHERE final_at IS NULL'),
    ]);
    await archiveAll(w);
    const archived = 'SELECT count(*) AS n FROM archived_receipts WHERE merchant_id = ?';
    expect(await w.env.DB.prepare(archived).bind(ada.userId).first('n')).toBe(ofRef.length + ofWallet.length + other.length - 1);
    await check();
    const { env, readings } = withRowCount(w.env);
    await w.call('GET', `/v1/receipts?customer_id=${ref}`, { key: ada.key, env });
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(40);
  });
});
