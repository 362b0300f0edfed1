import type { KeyPairSigner } from '@solana/kit';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TestChain } from '../../support/chain/chain.ts';
import { withTwoNodes } from '../../support/chain/two-nodes.ts';
import { FIRST_CHECK, letTimePass, readOutcome, sweepUntilBelieved } from '../../support/faults/finality.ts';
import { letDoubtsAge, ONE, openShop, type Shop, sweepAll } from '../../support/people/agent.ts';
import { REPEATED } from '../../support/runner/env.ts';
import type { Merchant } from '../../support/world.ts';

describe('two RPC nodes', REPEATED, () => {
  const { w, first, second } = withTwoNodes();
  let merchant: Merchant;
  let buyer: KeyPairSigner;
  let product: { slug: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    buyer = await w.chain.wallet();
    product = await w.product(merchant, { access_period_days: 30, session_seconds: 3600 });
  });
  afterEach(async () => {
    for (const node of [first, second]) await node.call('local_clearFaults');
  });
  const bought = async () => {
    const { payment, signature } = await w.purchase(product, buyer);
    return { id: payment.payment_id as string, signature };
  };
  const view = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  const expectPending = async (id: string) => {
    expect(await readOutcome(id)).toMatchObject({ final_at: null, dropped_at: null });
    expect((await view(id)).orphaned_at).toBeUndefined();
  };

  it('a payment unknown to the first node is final if the second shows it so', async () => {
    const { id } = await bought();
    await first.fault({ kind: 'no_history', times: 0 });
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality');
    expect(await view(id)).toMatchObject({ finalized_at: expect.any(String) });
  });

  it.each([
    ['keeps no history', { kind: 'no_history' }],
    ['is out of reach', { kind: 'http_503' }],
    ['shows the block with it', { kind: 'null_first', method: 'getSignatureStatuses' }],
    ['shows it, not final yet', null],
  ])('a payment that one node proves absent stays while the other %s', async (_why, fault) => {
    const { id, signature } = await bought();
    await first.fault({ kind: 'on_fork', signature, times: 0 });
    if (fault) await second.fault({ ...fault, times: 0 });
    else await first.call('local_commitment', { finalizedAfterSlots: 1_000_000 });
    await sweepUntilBelieved(w);
    await expectPending(id);
    await first.call('local_commitment', { finalizedAfterSlots: 32 });
  });

  it('a payment that both nodes prove absent is orphaned', async () => {
    const { id, signature } = await bought();
    await first.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
    expect(await view(id)).toMatchObject({ orphaned_at: expect.any(String) });
  });

  it('the second node serves while the first is away, and the first serves again afterwards', async () => {
    await first.fault({ kind: 'http_503', times: 0 });
    const payment = await w.connect(product);
    const signature = await buyerPays(payment);
    expect((await w.confirm(payment.payment_id, signature)).body.payment.status).toBe('CONFIRMED');
    await first.call('local_clearFaults');
    await first.call('local_resetCalls');
    // A failed node is asked last for a while, so that not every request waits for it.
    for (let i = 0; i < 25; i++) await w.confirm((await w.connect(product)).payment_id, signature);
    expect(Object.values(await first.call<Record<string, number>>('local_calls')).length).toBeGreaterThan(0);
  });
  const buyerPays = async (payment: Parameters<TestChain['pay']>[1]) => second.pay(buyer, payment);

  it('a node of another network is never trusted', async () => {
    const { id } = await bought();
    const foreign = first.node('c');
    await foreign.fault({ kind: 'wrong_genesis', times: 0 });
    const env = { ...w.env, RPC_URLS: `${foreign.url},${second.url}` };
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality', env);
    expect(await view(id)).toMatchObject({ finalized_at: expect.any(String) });
    const alone = { ...w.env, RPC_URLS: foreign.url };
    const payment = await w.connect(product);
    expect((await w.confirm(payment.payment_id, await buyerPays(payment), { env: alone })).body.code).toBe('misconfigured');
  });

  it('RPC_URL alone is a list of one, and RPC_URLS wins over it', async () => {
    const { RPC_URLS: _list, ...single } = w.env;
    const away = { ...w.env, RPC_URL: 'http://127.0.0.1:1' };
    for (const env of [single as typeof w.env, away]) {
      const payment = await w.connect(product);
      expect((await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment), { env })).body.payment.status).toBe('CONFIRMED');
    }
  });
});

describe('x402 payment that one node hides', REPEATED, () => {
  const { w, first, second } = withTwoNodes();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });

  it('the settlement stays pending while the other node knows it, and settles once it is visible', async () => {
    const payment = await shop.pay();
    for (const method of ['getSignatureStatuses', 'getTransaction']) await first.fault({ kind: 'null_first', method, times: 0 });
    expect((await shop.settle(payment)).status).toBe(202);
    await first.call('local_warp', 600);
    for (let i = 0; i < 3; i++) {
      await sweepAll(w);
      await letDoubtsAge(w);
    }
    const status = () =>
      w.env.DB.prepare('SELECT status FROM settlements WHERE product_id = ?').bind(shop.product.product_id).first('status');
    expect(await status()).toBe('pending');
    await first.call('local_clearFaults');
    await sweepAll(w);
    expect(await shop.books()).toEqual(ONE);
    expect(await second.call('local_calls')).toMatchObject({ getSignatureStatuses: expect.any(Number) });
  });
});
