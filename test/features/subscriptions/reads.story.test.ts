import { address, createNoopSigner, type Instruction } from '@solana/kit';
import { getApproveInstruction } from '@solana-program/token';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { forgetAll } from '#core/isolate/memory.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { USDC } from '../../support/chain/chain.ts';
import { listTables } from '../../support/fixtures/database-dump.ts';
import { sellRenewing, subscribeRenewing } from '../../support/fixtures/renewing.ts';
import { connectTo, SubscriptionBuyer } from '../../support/people/subscription-buyer.ts';
import { SubscriptionShop, subscriptionWorld } from '../../support/people/subscription-shop.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const w = subscriptionWorld();
/** Returns every row of every table except search indexes, which cannot be read by row. */
const rows = async () => {
  const tables = (await listTables(w.env.DB)).filter((name) => !name.endsWith('_words'));
  const found = await w.env.DB.batch(tables.map((table) => w.env.DB.prepare(`SELECT * FROM ${table}`)));
  return Object.fromEntries(tables.map((table, at) => [table, found[at]!.results]));
};

describe('GET of a subscription', () => {
  let shop: SubscriptionShop;
  beforeAll(async () => {
    shop = await SubscriptionShop.openPublished(w);
  });
  afterAll(endSkips);

  const subscribed = async () => {
    const buyer = await SubscriptionBuyer.connect(shop);
    await buyer.signAll();
    await buyer.confirm();
    await w.deliver();
    return buyer;
  };
  const pathOf = (id: string) => `/v1/access/native-subscriptions/${id}`;
  const readStatus = async (buyer: SubscriptionBuyer): Promise<string> =>
    (await w.call('GET', pathOf(buyer.bill.subscription.authorization_id), { key: shop.merchant.key })).body.status;

  it('a GET with a newer chain state changes no row, and the queued read stores that state', async () => {
    const buyer = await subscribed();
    const onChain = await buyer.onChain();
    await onChain.send(cancelInstruction(onChain.route));
    w.queue.sent.splice(0);
    const before = await rows();
    expect([await readStatus(buyer), await readStatus(buyer)]).toEqual(['active', 'active']);
    expect(await rows()).toEqual(before);
    await w.deliver();
    expect(await readStatus(buyer)).toBe('cancel_requested');
  });

  it('a GET of an ended subscription queues nothing', async () => {
    const buyer = await subscribed();
    const id = buyer.bill.subscription.authorization_id;
    expect((await w.call('POST', `${pathOf(id)}/stop`, { key: shop.merchant.token })).status).toBe(200);
    w.queue.sent.splice(0);
    expect(await readStatus(buyer)).toBe('cancelled');
    expect(w.queue.sent).toEqual([]);
  });

  it('repeated GETs cause one chain read in ten seconds, by one message of each isolate', async () => {
    const buyer = await subscribed();
    w.queue.sent.splice(0);
    const { subscription } = buyer.bill;
    const path = pathOf(subscription.authorization_id);
    const readTimes = async (times: number) => {
      for (let i = 0; i < times; i++) expect((await w.call('GET', path, { key: shop.merchant.key })).status).toBe(200);
    };
    const chainReads = async (run: () => Promise<unknown>): Promise<number> => {
      const spied = vi.spyOn(globalThis, 'fetch');
      await run();
      const bodies = spied.mock.calls.map(([, init]) => String(init?.body));
      spied.mockRestore();
      return bodies.filter((body) => body.includes('getMultipleAccounts')).length;
    };
    const delays = (sent: typeof w.queue.sent) => sent.map(({ delaySeconds }) => delaySeconds);
    await readTimes(10);
    // Two other isolates do not know of these messages.
    forgetAll();
    await readTimes(10);
    forgetAll();
    await readTimes(10);
    expect(delays(w.queue.sent)).toEqual([0, 10, 0, 10, 0, 10]);
    expect(await chainReads(() => w.deliver())).toBe(1);
    w.queue.sent.splice(0);
    forgetAll();
    await readTimes(10);
    expect(delays(w.queue.sent.splice(0))).toEqual([10]);
    await skipTime(w.chain, 21);
    await readTimes(1);
    expect(delays(w.queue.sent)).toEqual([0]);
    expect(await chainReads(() => w.deliver())).toBe(1);
  });

  it('a GET of the checkout payment changes no row, and the queued read stores a renewed approval', async () => {
    const buyer = await subscribed();
    const approve = getApproveInstruction({
      source: address(await associatedTokenAccount(buyer.wallet.address, USDC)),
      delegate: shop.wallet.address,
      owner: createNoopSigner(buyer.wallet.address),
      amount: 1n,
    });
    const plain = { ...approve, accounts: approve.accounts.map(({ address: at, role }) => ({ address: at, role })) };
    await (await buyer.onChain()).send(plain as Instruction);
    await readStatus(buyer);
    await w.deliver();
    expect(await readStatus(buyer)).toBe('requires_reapproval');
    await skipTime(w.chain, 11);
    const bill: Body = (await connectTo(shop, { wallet_address: buyer.wallet.address })).body;
    const again = new SubscriptionBuyer(shop, buyer.wallet, bill);
    expect((await again.send(bill.subscription.steps[0].transaction)).status).toBe(200);
    w.queue.sent.splice(0);
    const before = await rows();
    expect((await again.read()).subscription).toMatchObject({ steps: [], problem: 'subscribed' });
    expect(await rows()).toEqual(before);
    await w.deliver();
    expect(await readStatus(buyer)).toBe('active');
  });

  it('a GET in the sandbox changes no row, neither of the subscription nor of its payment', async () => {
    const ada = await w.merchant();
    const plan = await sellRenewing(w, ada);
    const { authorization_id } = await subscribeRenewing(w, ada, plan, 'reader');
    const begun = await w.connect(await w.product({ ...ada, key: ada.sandboxKey }));
    await w.deliver();
    w.queue.sent.splice(0);
    const before = await rows();
    for (const path of [pathOf(authorization_id), `/v1/payments/${begun.payment_id}`])
      expect((await w.call('GET', path, { key: ada.sandboxKey })).status).toBe(200);
    expect((await w.call('GET', `/v1/payments/${begun.payment_id}`)).body.status).toBe('PENDING_SIGNATURE');
    expect(await rows()).toEqual(before);
    expect(w.queue.sent).toEqual([]);
  });
});
