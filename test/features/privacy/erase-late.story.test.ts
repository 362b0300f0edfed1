import { beforeEach, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { creditPayment, retellPayment } from '#features/entitlements/credit-payments.ts';
import { listPaid } from '#features/entitlements/store.ts';
import { planReinstatement } from '#features/memberships/membership.ts';
import { getPayment } from '#features/payments/store.ts';
import { sweepErasedCustomers } from '#features/privacy/erasure/sweep.ts';
import { newCtx, type Shard } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import { openShop } from '../../support/people/agent.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { completeErasures, ErasureCase, findWord } from '../../support/people/erased-customer.ts';
import { World } from '../../support/world.ts';

describe('payments of before an erasure', () => {
  let opened: ErasureCase;
  beforeEach(async () => {
    opened = await ErasureCase.open();
  });
  const shard = (): Shard => shardsOf(newCtx(opened.w.env, { requestId: 'req_late', defer: () => {} }))[0]!;
  /** Forgets that a payment was credited, as if its object had been silent. */
  const uncredit = async (paymentId: string) => {
    const [paid] = await listPaid(shard().db, [paymentId as never]);
    return () => creditPayment(shard(), paid!);
  };
  const creditAgain = async (paymentId: string) => {
    const [paid] = await listPaid(shard().db, [paymentId as never]);
    await retellPayment(shard(), paid!);
  };
  const statuses = async () => (await opened.get('memberships')).items.map(({ status }: { status: string }) => status);

  it('a wallet gets nothing for a payment that is credited late or again', async () => {
    const { sale, customer, id } = await opened.buyByWallet();
    await opened.erase(id);
    await completeErasures(opened.w);
    await creditAgain(sale.payment.payment_id);
    expect([await opened.consumes(customer), await statuses()]).toEqual([false, ['cancelled']]);
  });

  it('money that comes late for a failed checkout of a wallet buys as ever, and a second payment for a paid one is left', async () => {
    const { wallet, sale, customer, id } = await opened.buyByWallet();
    const { w, product } = opened;
    const open = await w.connect(product, { wallet_address: wallet.address });
    await w.env.DB.prepare(
      "UPDATE payments SET status = 'FAILED', failure_code = 'session_expired' WHERE status = 'PENDING_SIGNATURE'",
    ).run();
    await opened.erase(id);
    await completeErasures(w);
    const again = await w.chain.pay(await w.chain.wallet(), sale.payment);
    await w.confirm(sale.payment.payment_id, again);
    const accepted = await opened.post(`payments/${sale.payment.payment_id}/accept-unmatched`, { tx_signature: again });
    expect([accepted.body.meta, await opened.consumes(customer)]).toEqual([{ reason: 'customer_erased' }, false]);
    await w.confirm(open.payment_id, await w.chain.pay(wallet, open));
    await opened.settle();
    expect(await opened.consumes(customer)).toBe(true);
  });

  it('a payment of a merged wallet that the survivor’s object credited is not credited to the wallet', async () => {
    const { wallet, customer } = await opened.mergeWallet();
    const late = await opened.buy({}, Promise.resolve(wallet));
    await opened.settle();
    await opened.erase();
    await completeErasures(opened.w);
    await opened.settle();
    await creditAgain(late.payment.payment_id);
    expect([await opened.consumes(), await opened.consumes(customer)]).toEqual([false, false]);
  });

  it('a credit between the steps of the first pass is forgotten by the next one, also if the calls of before have ended', async () => {
    const sale = await opened.buy();
    await opened.settle();
    const credit = await uncredit(sale.payment.payment_id);
    await opened.erase();
    await opened.w.env.DB.prepare("UPDATE customers SET erasure = json_set(erasure, '$.callsEndAt', 0) WHERE erase_at IS NOT NULL").run();
    let calls = 0;
    await sweepErasedCustomers({ ...shard(), elapsedMs: () => (calls++ < 1 ? 0 : MINUTE) });
    await credit();
    await completeErasures(opened.w);
    await opened.settle();
    expect(await opened.consumes()).toBe(false);
  });

  it('a message of an object that comes again after the erasure stores no copy, and the next customer has one', async () => {
    const { w, ref, product } = opened;
    await opened.buy();
    const sent: Parameters<World['deliver']>[0] = [];
    const deliver = w.deliver.bind(w);
    w.deliver = async (jobs) => {
      sent!.push(...(jobs ?? []).filter(({ kind }) => kind === 'projectEntitlement'));
      return deliver(jobs);
    };
    await opened.settle();
    expect(sent!.length).toBeGreaterThan(0);
    await opened.erase();
    await completeErasures(w);
    await deliver(sent);
    const listed = async () => (await opened.get(`access/entitlements?product_id=${product.product_id}`)).items;
    expect(await listed()).toEqual([]);
    await opened.buy();
    await opened.settle();
    await deliver(sent);
    expect(await listed()).toMatchObject([{ customer: { customer_ref: ref }, status: 'active' }]);
  });

  it('a refund of what a wallet bought since ends its access', async () => {
    const w = new World();
    const payout = await w.chain.wallet();
    opened = await ErasureCase.open({ payout_wallet: payout.address }, w);
    const { ada } = opened;
    const { wallet, customer, id } = await opened.buyByWallet();
    await opened.erase(id);
    await completeErasures(w);
    const next = await opened.buy({}, Promise.resolve(wallet));
    await opened.settle();
    const path = `/v1/payments/${next.payment.payment_id}`;
    const prepared = await w.call('POST', `${path}/refund-transaction`, { key: ada.key, body: { revoke_access: true } });
    const wire = await w.chain.sign(payout, (prepared.body as { transaction: string }).transaction);
    const tx_signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    expect((await w.call('POST', `${path}/refund-confirm`, { key: ada.key, body: { tx_signature } })).status).toBe(200);
    await opened.settle();
    expect([await statuses(), await opened.consumes(customer)]).toEqual([['cancelled'], false]);
  });

  it('a payment that is on the chain after all makes the erased customer no member again', async () => {
    const first = await opened.buy();
    await opened.settle();
    await opened.erase();
    await completeErasures(opened.w);
    await commit(shard(), await planReinstatement(shard(), await getPayment(shard(), first.payment.payment_id)));
    expect(await statuses()).toEqual(['cancelled']);
  });

  it('a wallet that buys without an address during the erasure has none of before', async () => {
    const email = `${opened.ref}@example.com`;
    const { wallet, id } = await opened.buyByWallet({ email });
    await opened.erase(id);
    await opened.buy({}, Promise.resolve(wallet));
    await opened.settle();
    await completeErasures(opened.w);
    expect([await findWord(email), await statuses()]).toEqual([[], ['active']]);
  });

  it('a reference that is used again is not erased while the erasure of its former customer is under way', async () => {
    await opened.buy();
    await opened.settle();
    await opened.erase();
    await opened.buy();
    await opened.settle();
    const { customer_id: next } = await opened.get(`customers/state?customer_ref=${opened.ref}`);
    const again = () => opened.post(`customers/${next}/erase`, { end_access: true }, opened.ada.token);
    expect((await again()).body.meta).toEqual({ reason: 'erasing' });
    await completeErasures(opened.w);
    expect((await again()).status).toBe(202);
    await completeErasures(opened.w);
    expect(await opened.listed()).toEqual({ payments: ['erased', 'erased'], memberships: ['cancelled erased', 'cancelled erased'] });
  });

  it('a failed settlement that is checked again has the erased reference', async () => {
    await opened.post('customers', { customer_ref: opened.ref });
    const { DB } = opened.w.env;
    const { results } = await DB.prepare('PRAGMA table_info(settlements)').all<{ name: string; type: string; notnull: number }>();
    const given: Record<string, string> = {
      ...{
        payment_id: 'randomblob(16)',
        merchant_id: `unhex('${opened.ada.userId.replaceAll('-', '')}')`,
        livemode: '1',
        purpose: "'access'",
      },
      ...{
        customer_ref: `'${opened.ref}'`,
        status: "'failed'",
        next_check_at: String(Date.now() + 600_000),
        terms: "'{}'",
        created_at: '1',
      },
      asset: "'USDC'",
    };
    const columns = results.filter(({ name, notnull }) => given[name] || notnull);
    const values = columns.map(({ name, type }) => given[name] ?? (type === 'INTEGER' ? '0' : "'x'"));
    await DB.prepare(`INSERT INTO settlements (${columns.map(({ name }) => name).join()}) VALUES (${values.join()})`).run();
    await opened.erase();
    await completeErasures(opened.w);
    expect(await findWord(opened.ref)).toEqual([]);
  });
});

describe('x402 payment of a wallet that was merged', () => {
  it('gives nothing when it is sent again after the erasure', async () => {
    const w = new World();
    const shop = await openShop(w, { usage_units: 3 });
    const { merchant, product } = shop;
    const address = shop.agent.wallet.address as string;
    const customer = { wallet_address: address };
    const keys = [{ walletAddress: address }, { customerRef: 'survivor' }];
    const copies = await Promise.all(keys.map((key) => watchCopy(w, merchant, product.product_id, key)));
    const settle = async () => {
      for (let round = 0; round < 4; round++) {
        while (w.queue.sent.length > 0) await w.deliver();
        for (const storeCopy of copies) await storeCopy();
      }
      await w.sweepAlone('analytics');
    };
    const post = (path: string, body: object, key = merchant.key) => w.call('POST', `/v1/customers${path}`, { key, body });
    const [first, second] = [await shop.pay({ customer }), await shop.pay({ customer })];
    await shop.settle(first, { customer });
    await settle();
    const [from, into] = keys.map((key) => customerIdOf(merchant.userId, true, key));
    await post('', { customer_ref: 'survivor' });
    expect((await post(`/${into}/merge`, { from })).status).toBe(200);
    await settle();
    expect((await shop.settle(second, { customer })).status).toBe(200);
    await settle();
    expect((await post(`/${into}/erase`, { end_access: true }, merchant.token)).status).toBe(202);
    await completeErasures(w);
    for (const payment of [first, second]) await shop.settle(payment, { customer });
    expect((await shop.consume({ customer })).status).toBe(403);
  });
});
