import { beforeEach, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { followMerged } from '#features/customers/merge.ts';
import { sweepErasedCustomers } from '#features/privacy/erasure/sweep.ts';
import { newCtx } from '#platform/context.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import { runScenario } from '../../support/clients/sandbox.ts';
import { newKey, openShop } from '../../support/people/agent.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { completeErasures, ErasureCase, erasuresLeft, findWord } from '../../support/people/erased-customer.ts';
import { connectTo } from '../../support/people/subscription-buyer.ts';
import { SubscriptionShop, subscriptionWorld } from '../../support/people/subscription-shop.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

describe('races of an erasure', () => {
  let opened: ErasureCase;
  let w: World;
  let ada: Merchant;
  let product: Body;
  let ref: string;
  beforeEach(async () => {
    opened = await ErasureCase.open();
    ({ w, ada, product, ref } = opened);
  });
  const id = () => opened.idOf();
  const get = (path: string) => opened.get(path);
  const post = (path: string, body: object, key = ada.key) => opened.post(path, body, key);
  const erase = () => opened.erase();
  const settle = () => opened.settle();
  const buy = (...of: Parameters<ErasureCase['buy']>) => opened.buy(...of);
  const consumes = (customer?: object) => opened.consumes(customer);
  const listed = () => opened.listed();
  /** Erases a customer with an open checkout, for which the money is sent before or after the request. */
  const openCheckout = async (isPaidBefore: boolean) => {
    await post('customers', { customer_ref: ref });
    const open = await w.connect(product, { customer_ref: ref, email: `${ref}@example.com` });
    const pay = async () => w.chain.pay(await w.chain.wallet(), open);
    const before = isPaidBefore ? await pay() : null;
    await erase();
    return { open, confirm: async () => w.confirm(open.payment_id, before ?? (await pay())) };
  };
  /** Erases a reference that a wallet with a purchase was merged into. */
  const eraseMerged = async () => {
    const merged = await opened.mergeWallet();
    await erase();
    return merged;
  };

  it('money that was sent before the request and confirmed after it is the next customer’s, with payment and access', async () => {
    const { confirm } = await openCheckout(true);
    expect((await confirm()).body.payment.status).toBe('CONFIRMED');
    await settle();
    await completeErasures(w);
    await settle();
    expect([await consumes(), await listed()]).toEqual([true, { payments: [ref], memberships: [`active ${ref}`] }]);
  });

  it('money for a checkout that has ended is unmatched, and cannot be accepted for nobody', async () => {
    const { open, confirm } = await openCheckout(false);
    await completeErasures(w);
    expect((await confirm()).body.code).toBe('session_expired');
    const [{ tx_signature }] = (await get('payments/unmatched?status=open')).items;
    const accepted = await post(`payments/${open.payment_id}/accept-unmatched`, { tx_signature });
    expect([accepted.status, accepted.body.meta]).toEqual([409, { reason: 'customer_erased' }]);
    expect([await listed(), await findWord(ref)]).toEqual([{ payments: ['erased'], memberships: [] }, []]);
  });

  it('a confirmation that read its time before the request and was stored later is the next customer’s', async () => {
    await buy();
    await settle();
    await erase();
    await buy({ customer_ref: ref, email: 'next@example.com' });
    const until = "(SELECT erasure ->> '$.until' FROM customers WHERE erase_at IS NOT NULL)";
    await w.env.DB.batch([
      w.env.DB.prepare(`UPDATE memberships SET created_at = ${until} - 500 WHERE customer_ref = ?`).bind(ref),
      w.env.DB.prepare(
        `UPDATE payments SET created_at = created_at - 5000, confirmed_at = ${until} - 500 WHERE email = 'next@example.com'`,
      ),
    ]);
    await settle();
    await completeErasures(w);
    expect([await consumes(), await listed()]).toEqual([
      true,
      { payments: ['erased', ref], memberships: [`active ${ref}`, 'cancelled erased'] },
    ]);
  });

  it('a wallet that was merged has for itself what it buys before the first run', async () => {
    const { wallet, customer } = await eraseMerged();
    await buy({}, Promise.resolve(wallet));
    await settle();
    await completeErasures(w);
    await settle();
    expect([await consumes(customer), await consumes()]).toEqual([true, false]);
  });

  it('the event of a merge that comes again after the erasure moves nothing', async () => {
    const { wallet, customer, id: alias } = await eraseMerged();
    await completeErasures(w);
    const object = { customer_id: id(), merged_from: [alias] };
    const event = { merchantId: ada.userId, livemode: true, data: { object, previous: { merged_from: [] } } };
    const [shard] = shardsOf(newCtx(w.env, { requestId: 'req_again', defer: () => {} }));
    await buy({}, Promise.resolve(wallet));
    await settle();
    expect(await followMerged(shard!, [event as never])).toEqual([]);
    await buy({}, Promise.resolve(wallet));
    await settle();
    expect(await consumes(customer)).toBe(true);
  });

  it('a grant of which the copy comes between two passes is forgotten', async () => {
    await post('customers', { customer_ref: ref });
    const granted = { product_id: product.product_id, customer: { customer_ref: ref }, units: 5, reason: 'test' };
    expect((await post('access/entitlements/grant', granted)).status).toBe(200);
    await erase();
    await w.sweepAlone('erasedCustomers');
    await settle();
    await completeErasures(w);
    expect([await consumes(), await findWord(ref)]).toEqual([false, []]);
  });

  it('a pass that began while calls of before could end is not the last one', async () => {
    await buy();
    await settle();
    await w.env.DB.prepare(
      `INSERT INTO ended_sessions (id, merchant_id, livemode, product_id, nonce, reference, asset, price_amount, recipient_wallet, customer_ref,
        expires_at, late_grace_seconds, created_at, updated_at, version)
      SELECT randomblob(16), merchant_id, livemode, product_id, nonce || 'x', reference, asset, price_amount, recipient_wallet, customer_ref,
        expires_at, 0, created_at, updated_at, 1 FROM payments WHERE customer_ref = ? LIMIT 1`,
    )
      .bind(ref)
      .run();
    await erase();
    const stepOf = () =>
      w.env.DB.prepare("SELECT erasure ->> '$.step' AS step FROM customers WHERE erase_at IS NOT NULL").first<number>('step');
    while ((await stepOf())! < 7) {
      const [shard] = shardsOf(newCtx(w.env, { requestId: 'req_sweep', defer: () => {} }));
      let calls = 0;
      await sweepErasedCustomers({ ...shard!, elapsedMs: () => (calls++ < 1 ? 0 : MINUTE) });
    }
    await completeErasures(w);
    expect(await findWord(ref)).toEqual([]);
  });

  it('answers of the other mode with the same reference remain', async () => {
    const headers = { 'Idempotency-Key': newKey() };
    const body = { customer_ref: ref, email: 'test@example.com', name: 'Sandbox' };
    const make = () => w.call('POST', '/v1/customers', { key: ada.sandboxKey, headers, body });
    const first = await make();
    await post('customers', { customer_ref: ref });
    await erase();
    await completeErasures(w);
    expect((await make()).body).toEqual(first.body);
  });

  it('a customer with twenty wallets is erased', async () => {
    await post('customers', { customer_ref: ref });
    for (let count = 0; count < 20; count++) {
      const made = await post('customers', { wallet_address: (await w.chain.wallet(0n)).address });
      expect((await post(`customers/${id()}/merge`, { from: made.body.customer_id })).status).toBe(200);
    }
    await buy();
    await settle();
    await erase();
    await completeErasures(w);
    expect(await findWord(ref)).toEqual([]);
  });

  it('an erased customer is found by its reference', async () => {
    await buy();
    await settle();
    await erase();
    await completeErasures(w);
    const { customer_ref } = await get(`customers/${id()}`);
    const found = await get(`customers?customer_ref=${encodeURIComponent(customer_ref)}`);
    expect(found.items.map(({ customer_id }: Body) => customer_id)).toEqual([id()]);
    expect((await get(`customers/state?customer_ref=${encodeURIComponent(customer_ref)}`)).customer_id).toBe(id());
  });

  it('a late membership of a reference that was used again and merged is the survivor’s', async () => {
    await buy();
    await settle();
    await erase();
    await completeErasures(w);
    await buy();
    await settle();
    const into = (await post('customers', { customer_ref: 'survivor' })).body.customer_id;
    const from = (await get(`customers/state?customer_ref=${ref}`)).customer_id;
    expect((await post(`customers/${into}/merge`, { from })).status).toBe(200);
    await settle();
    await buy();
    await settle();
    expect((await listed()).memberships).toEqual(['active survivor', 'cancelled erased', `cancelled ${ref}`]);
  });

  it('an open checkout of a sandbox session, of which the clock does not advance, ends with the erasure', async () => {
    const { session_id } = await runScenario(w, ada, 'payment_confirmed', {});
    await w.sweepAlone('analytics');
    const customerRef = `${session_id}:buyer`;
    const { slug } = (await w.env.DB.prepare('SELECT slug FROM products WHERE livemode = 0 LIMIT 1').first<{ slug: string }>())!;
    await w.connect({ slug }, { customer_ref: customerRef });
    const path = `customers/${customerIdOf(ada.userId, false, { customerRef })}/erase?mode=sandbox`;
    expect((await post(path, { end_access: true }, ada.token)).status).toBe(202);
    await completeErasures(w);
    expect(await findWord(customerRef)).toEqual([]);
  });
});

describe('erasure of a customer who pays in other ways', () => {
  it.each(['reference', 'wallet'])(
    'an x402 payment of a %s gives nothing when it is repeated, and a new one pays as ever',
    async (kind) => {
      const w = new World();
      const shop = await openShop(w, { usage_units: 3 });
      const { address } = shop.agent.wallet;
      const [customer, key] =
        kind === 'wallet'
          ? [{ wallet_address: address as string }, { walletAddress: address as string }]
          : [{ customer_ref: 'settler' }, { customerRef: 'settler' }];
      const storeCopy = await watchCopy(w, shop.merchant, shop.product.product_id, key);
      const settle = async () => {
        for (let round = 0; round < 4; round++) {
          while (w.queue.sent.length > 0) await w.deliver();
          await storeCopy();
        }
        await w.sweepAlone('analytics');
      };
      const payment = await shop.pay({ customer });
      expect((await shop.settle(payment, { customer })).body).toMatchObject({ granted_units: 3, remaining: 2 });
      await settle();
      const path = `/v1/customers/${customerIdOf(shop.merchant.userId, true, key)}/erase`;
      const erase = (body: object) => w.call('POST', path, { key: shop.merchant.token, body });
      expect((await erase({})).body.meta).toEqual({ reason: 'active_access' });
      expect((await erase({ end_access: true })).status).toBe(202);
      await completeErasures(w);
      const again = await shop.settle(payment, { customer });
      expect([again.status, again.body.granted_units ?? 0]).toEqual(kind === 'wallet' ? [200, 0] : [409, 0]);
      expect((await shop.consume({ customer })).status).toBe(403);
      expect((await shop.settle(await shop.pay({ customer }), { customer })).body).toMatchObject({ granted_units: 3, remaining: 2 });
      const uses = [];
      for (let count = 0; count < 3; count++) uses.push((await shop.consume({ customer })).status);
      expect(uses).toEqual([200, 200, 403]);
    },
  );

  it('a stranger’s unpaid subscription checkout does not prevent an erasure', async () => {
    const shop = await SubscriptionShop.openPublished(subscriptionWorld());
    const { merchant, w } = shop;
    await w.call('POST', '/v1/customers', { key: merchant.key, body: { customer_ref: 'victim' } });
    const stranger = await w.chain.wallet(0n);
    expect((await connectTo(shop, { wallet_address: stranger.address, customer_ref: 'victim' })).status).toBe(200);
    const path = `/v1/customers/${customerIdOf(merchant.userId, true, { customerRef: 'victim' })}/erase`;
    expect((await w.call('POST', path, { key: merchant.token, body: {} })).status).toBe(202);
    for (let run = 0; run < 10 && (await erasuresLeft()) > 0; run++) {
      await completeErasures(w, w.env, 1);
      await w.env.DB.prepare('UPDATE subscription_authorizations SET next_check_at = 0 WHERE next_check_at IS NOT NULL').run();
      await w.sweepAlone('subscriptionCheckouts');
    }
    expect([await erasuresLeft(), await findWord('victim')]).toEqual([0, []]);
  });
});
