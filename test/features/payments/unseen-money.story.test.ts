import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { sweepReference } from '#features/payments/watch/reference-scan.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { ctxOf } from '../../support/runner/shards.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import { type Merchant, World } from '../../support/world.ts';

const CONFIRMED = ['payment.created', 'payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'];

describe('reference sweep over many pages', REPEATED, () => {
  let w: World;
  let merchant: Merchant;
  beforeAll(async () => {
    w = new World({ SERVICE_REFERENCE: (await generateKeyPairSigner()).address });
    merchant = await w.merchant();
    await w.env.DB.prepare('DELETE FROM cursors').run();
  });
  const walk = (env = w.env) => sweepReference(ctxOf(env), 0, 2);
  const pay = async (count: number) => {
    const product = await w.product(merchant);
    const buyer = await w.chain.wallet();
    const ids: string[] = [];
    for (let i = 0; i < count; i++) {
      const payment = await w.connect(product, { customer_ref: `page-${i}` });
      await w.chain.pay(buyer, payment);
      ids.push(payment.payment_id);
    }
    return ids;
  };
  const finish = async (ids: string[]) => {
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = 0').run();
    await w.sweepEach(PAYMENT_SWEEPS);
    for (const id of ids) expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  };

  it('a sweep over several pages finds every payment', async () => {
    const ids = await pay(7);
    await walk();
    await finish(ids);
  });

  it('a sweep resumes after a crash between two pages', async () => {
    const ids = await pay(7);
    const { env } = withFaults(w.env, { before: ({ number }) => number >= 5 });
    await walk(env).catch(() => undefined);
    const cursor = await w.env.DB.prepare('SELECT walk_before FROM cursors').first<{ walk_before: string | null }>();
    expect(cursor!.walk_before).not.toBeNull();
    await walk();
    await finish(ids);
  });

  it('a walk with an unknown cursor starts over and fails no session meanwhile', async () => {
    const ids = await pay(5);
    const { env } = withFaults(w.env, { before: ({ number }) => number >= 3 });
    await walk(env).catch(() => undefined);
    const before = await w.env.DB.prepare('SELECT passed_at FROM cursors').first('passed_at');
    await w.env.DB.prepare(
      "UPDATE cursors SET walk_before = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'",
    ).run();
    const { env: once } = withFaults(w.env, { before: ({ number }) => number >= 3 });
    await walk(once).catch(() => undefined);
    expect(await w.env.DB.prepare('SELECT passed_at FROM cursors').first('passed_at')).toBe(before);
    await walk();
    await finish(ids);
  });
});

describe('payments of ended sessions', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const view = async (id: string, key = merchant.key) => (await w.call('GET', `/v1/payments/${id}`, { key })).body;

  it('a payment named during a node outage is recovered although its session failed meanwhile', async () => {
    const payment = await w.connect(await w.product(merchant));
    const signature = await w.chain.pay(await w.chain.wallet(), { ...payment, references: [] });
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 2 });
    expect((await w.confirm(payment.payment_id, signature)).status).toBe(503);
    await w.env.DB.prepare("UPDATE payments SET status = 'FAILED', failure_code = 'session_expired' WHERE id = ?")
      .bind(payment.payment_id)
      .run();
    await w.deliver();
    const recovered = await w.env.DB.prepare('SELECT id FROM payments WHERE recovers_payment_id = ?')
      .bind(payment.payment_id)
      .first<{ id: string }>();
    expect(await view(recovered!.id)).toMatchObject({ status: 'CONFIRMED', tx_signature: signature });
  });

  it('a second payment that the chain does not show yet is recorded later', async () => {
    const buyer = await w.chain.wallet();
    const { payment } = await w.purchase(await w.product(merchant), buyer);
    const second = await w.chain.pay(buyer, { ...payment, references: [] }, { units: 6_000_000n });
    await w.chain.fault({ kind: 'null_first', method: 'getSignatureStatuses', times: 1 });
    expect((await w.confirm(payment.payment_id, second)).status).toBe(409);
    await w.deliver();
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ tx_signature: second, reason: 'second_payment' }]);
  });

  it('a payment older than its session is refused with too_early and recorded as late', async () => {
    const payment = await w.connect(await w.product(merchant));
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.env.DB.prepare('UPDATE payments SET created_at = created_at + 600000, expires_at = expires_at + 600000 WHERE id = ?')
      .bind(payment.payment_id)
      .run();
    expect((await w.confirm(payment.payment_id, signature)).body.meta.reason).toBe('too_early');
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ tx_signature: signature, reason: 'late' }]);
  });

  it('two on-time payments of a failed session make one recovered payment and one unmatched', async () => {
    const buyer = await w.chain.wallet();
    const payment = await w.connect(await w.product(merchant));
    const signatures = [await w.chain.pay(buyer, payment), await w.chain.pay(buyer, payment, { units: 5_000_001n })];
    await w.env.DB.prepare("UPDATE payments SET status = 'FAILED', failure_code = 'session_expired' WHERE id = ?")
      .bind(payment.payment_id)
      .run();
    for (const signature of signatures) expect((await w.confirm(payment.payment_id, signature)).status).toBe(410);
    expect(
      await w.env.DB.prepare('SELECT count(*) AS n FROM payments WHERE recovers_payment_id = ?').bind(payment.payment_id).first('n'),
    ).toBe(1);
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ tx_signature: signatures[1], reason: 'second_payment' }]);
  });

  it('dust on a confirmed session is recorded each time', async () => {
    const buyer = await w.chain.wallet();
    const { payment } = await w.purchase(await w.product(merchant), buyer);
    for (let i = 1; i <= 22; i++) await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment, { units: BigInt(i) }));
    expect(await w.count('unmatched_payments', payment.payment_id)).toBe(22);
    expect((await view(payment.payment_id)).unmatched).toHaveLength(10);
  });

  it('a payment without its fee is recovered with fee_owed, and the receipt shows no fee', async () => {
    const feeWallet = (await generateKeyPairSigner()).address;
    const f = new World({ FEE_BPS: '1000', FEE_WALLET: feeWallet });
    const seller = await f.merchant();
    const payment = await f.connect(await f.product(seller));
    const signature = await f.chain.pay(await f.chain.wallet(), payment);
    await f.env.DB.prepare("UPDATE payments SET status = 'FAILED', failure_code = 'session_expired' WHERE id = ?")
      .bind(payment.payment_id)
      .run();
    const { body } = await f.confirm(payment.payment_id, signature);
    const recovered = (await f.call('GET', `/v1/payments/${body.meta.recovered_payment_id}`, { key: seller.key })).body;
    expect(recovered).toMatchObject({ fee: { amount: '0.5' }, fee_owed: { amount: '0.5' }, net: { amount: '4.5' } });
    const receipt = await f.call('GET', `/v1/receipt/${recovered.receipt_id}`, { key: seller.key });
    expect(receipt.body.document.fee).toBeUndefined();
  });
});
