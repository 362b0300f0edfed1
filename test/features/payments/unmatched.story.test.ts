import { beforeAll, describe, expect, it } from 'vitest';
import { withFaults } from '../../support/faults/faults.ts';
import { FIRST_CHECK, letTimePass, SECOND_PROOF, sweepUntilBelieved } from '../../support/faults/finality.ts';
import { openSession } from '../../support/people/sale.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('unmatched payments', REPEATED, () => {
  const w = new World();
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant, { access_period_days: 30 });
  });
  const view = async (id: string) => (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
  const accept = (id: string, signature: string, key = merchant.key) =>
    w.call('POST', `/v1/payments/${id}/accept-unmatched`, { key, body: { tx_signature: signature } });

  async function late() {
    const payment = await w.connect(product);
    await w.env.DB.prepare(
      "UPDATE payments SET status = 'FAILED', failure_code = 'session_expired', expires_at = expires_at - 1100000 WHERE id = ?",
    )
      .bind(payment.payment_id)
      .run();
    const buyer = await w.chain.wallet();
    const signature = await w.chain.pay(buyer, payment);
    const answer = await w.confirm(payment.payment_id, signature);
    expect(answer).toMatchObject({ status: 410, body: { code: 'session_expired' } });
    return { id: payment.payment_id as string, signature, buyer };
  }

  it('a late payment is recorded once, and the session stays failed', async () => {
    const { id, signature, buyer } = await late();
    await w.confirm(id, signature);
    const payment = await view(id);
    expect(payment.status).toBe('FAILED');
    expect(payment.unmatched).toEqual([
      expect.objectContaining({
        tx_signature: signature,
        reason: 'late',
        status: 'open',
        payer_wallet: buyer.address,
        amount: { asset: 'USDC', amount: '5', base_units: '5000000' },
      }),
    ]);
    expect(await w.eventTypes(id)).toEqual(['payment.created', 'payment.unmatched']);
  });

  it('the list of unmatched money has what is open, newest first, and nothing of another merchant or mode', async () => {
    const other = await w.merchant();
    const [first, second] = [await late(), await late()];
    const list = async (query = '', key = merchant.key) => (await w.call('GET', `/v1/payments/unmatched${query}`, { key })).body;
    const open = await list();
    expect(open.items.slice(0, 2).map(({ payment_id }: { payment_id: string }) => payment_id)).toEqual([second.id, first.id]);
    expect(open.items[0]).toMatchObject({ tx_signature: second.signature, reason: 'late', status: 'open' });
    expect((await list('?per_page=1')).items).toHaveLength(1);
    for (const nothing of [await list('', other.key), await list('', merchant.sandboxKey)])
      expect(nothing).toMatchObject({ items: [], total: 0 });
    await accept(second.id, second.signature);
    expect((await list()).items[0].payment_id).toBe(first.id);
    expect((await list('?status=accepted')).items[0]).toMatchObject({ payment_id: second.id, status: 'accepted' });
  });

  it('an underpayment is recorded, and a full payment still confirms the session', async () => {
    const payment = await w.connect(product);
    const buyer = await w.chain.wallet();
    const short = await w.chain.pay(buyer, payment, { units: 4_000_000n });
    expect(await w.confirm(payment.payment_id, short)).toMatchObject({ status: 422, body: { meta: { reason: 'underpaid' } } });
    expect((await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment))).body.payment.status).toBe('CONFIRMED');
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ reason: 'underpaid', amount: { amount: '4' } }]);
  });

  it('the buyer sees amount, signature and reason of unmatched money, and the merchant all of it', async () => {
    const session = await openSession(w, merchant, { product_id: product.product_id });
    const connect = async () => {
      const held = { payment_session_id: session.body.payment_session_id };
      return (await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: held })).body;
    };
    const payment = await connect();
    expect(payment).toMatchObject({ now: expect.any(String) });
    expect(payment.seen).toBeUndefined();
    const buyer = await w.chain.wallet();
    const signature = await w.chain.pay(buyer, payment, { units: 3_000_000n });
    await w.confirm(payment.payment_id, signature);
    const seen = [{ amount: { asset: 'USDC', amount: '3', base_units: '3000000' }, tx_signature: signature, reason: 'underpaid' }];
    const path = `/v1/payments/${payment.payment_id}`;
    expect(await connect()).toMatchObject({ payment_id: payment.payment_id, now: expect.any(String), seen });
    expect((await w.call('GET', path)).body).toMatchObject({ now: expect.any(String), seen });
    const fullPayment = await w.chain.pay(buyer, payment);
    const confirmed = await w.confirm(payment.payment_id, fullPayment);
    expect(confirmed.body).toMatchObject({ now: expect.any(String), payment: { status: 'CONFIRMED', seen } });
    expect(confirmed.body.payment.unmatched).toBeUndefined();
    const unmatched = [{ ...seen[0], payer_wallet: buyer.address, status: 'open' }];
    const again = { key: merchant.key, body: { payment_id: payment.payment_id, tx_signature: fullPayment } };
    expect((await w.call('POST', '/v1/pay/confirm', again)).body.payment).toMatchObject({ unmatched });
    await accept(payment.payment_id, signature);
    expect((await w.call('GET', path)).body.seen).toBeUndefined();
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ tx_signature: signature, status: 'accepted' }]);
  });

  it('a second payment is recorded and does not change the confirmed payment', async () => {
    const buyer = await w.chain.wallet();
    const { payment, signature } = await w.purchase(product, buyer);
    const second = await w.chain.pay(buyer, payment, { units: 5_000_001n });
    expect(await w.confirm(payment.payment_id, second)).toMatchObject({ status: 409, body: { code: 'payment_transaction_conflict' } });
    expect(await view(payment.payment_id)).toMatchObject({
      tx_signature: signature,
      unmatched: [{ tx_signature: second, reason: 'second_payment' }],
    });
  });

  it('unmatched is hidden from buyers, and the payment from other merchants', async () => {
    const { id } = await late();
    expect((await w.call('GET', `/v1/payments/${id}`)).body.unmatched).toBeUndefined();
    const other = await w.merchant();
    expect((await w.call('GET', `/v1/payments/${id}`, { key: other.key })).status).toBe(404);
  });

  it('an accepted payment becomes a new confirmed payment with its own membership and receipt', async () => {
    const { id, signature, buyer } = await late();
    const { status, body } = await accept(id, signature);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'CONFIRMED', recovers_payment_id: id, tx_signature: signature, payer_wallet: buyer.address });
    expect((await view(id)).unmatched).toMatchObject([{ status: 'accepted', recovered_payment_id: body.payment_id }]);
    expect((await w.call('GET', `/v1/receipt/${body.receipt_id}/verify`)).body.valid).toBe(true);
    const membership = await w.call('GET', `/v1/memberships/lookup?wallet_address=${buyer.address}`, { key: merchant.key });
    expect(membership.body.last_payment_id).toBe(body.payment_id);
    expect(await w.eventTypes(body.payment_id)).toEqual(['payment.confirmed', 'membership.activated', 'receipt.created']);
  });

  it('an accepted underpayment is recorded with the amount that arrived', async () => {
    const payment = await w.connect(product);
    const short = await w.chain.pay(await w.chain.wallet(), payment, { units: 3_000_000n });
    await w.confirm(payment.payment_id, short);
    const { body } = await accept(payment.payment_id, short);
    expect(body).toMatchObject({ status: 'CONFIRMED', price: { amount: '3' }, net: { amount: '3' } });
    expect(body.overpaid).toBeUndefined();
  });

  it('twenty concurrent accepts make one payment', async () => {
    const { id, signature } = await late();
    const answers = await Promise.all(Array.from({ length: 20 }, () => accept(id, signature)));
    const ids = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.payment_id));
    expect(ids.size).toBe(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect((await accept(id, signature)).body.payment_id).toBe([...ids][0]);
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM payments WHERE recovers_payment_id = ?').bind(id).first('n')).toBe(1);
  });

  it('an accept with a lost commit answer makes one claim', async () => {
    const { id, signature } = await late();
    let batches = 0;
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' && ++batches === 3 });
    const body = { tx_signature: signature };
    expect((await w.call('POST', `/v1/payments/${id}/accept-unmatched`, { key: merchant.key, body, env })).status).toBe(200);
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM tx_claims WHERE tx_signature = ?').bind(signature).first('n')).toBe(1);
  });

  it('accept is 404 for another merchant, another payment and a confirmed transaction', async () => {
    const { id, signature } = await late();
    const other = await w.merchant();
    const sibling = await w.connect(product);
    expect((await accept(id, signature, other.key)).status).toBe(404);
    expect((await accept(sibling.payment_id, signature)).status).toBe(404);
    const confirmed = await w.purchase(product, await w.chain.wallet());
    expect((await accept(confirmed.payment.payment_id, confirmed.signature)).status).toBe(404);
  });

  it('dust is recorded and emitted each time, and the list shows the ten largest without hiding a full payment', async () => {
    const payment = await w.connect(product);
    const spammer = await w.chain.wallet();
    const dust: string[] = [];
    for (let i = 1; i <= 23; i++) {
      dust.push(await w.chain.pay(spammer, payment, { units: BigInt(i) }));
      await w.confirm(payment.payment_id, dust.at(-1)!);
    }
    const shown = async () =>
      (await view(payment.payment_id)).unmatched.map(({ amount }: { amount: { base_units: string } }) => Number(amount.base_units));
    expect(await shown()).toEqual([14, 15, 16, 17, 18, 19, 20, 21, 22, 23]);
    expect((await w.eventTypes(payment.payment_id)).filter((type) => type === 'payment.unmatched')).toHaveLength(23);
    await w.confirm(payment.payment_id, await w.chain.pay(spammer, payment));
    await w.confirm(payment.payment_id, await w.chain.pay(spammer, payment, { units: 5_000_001n }));
    for (const units of [1n, 2n]) await w.confirm(payment.payment_id, await w.chain.pay(spammer, payment, { units: units + 100n }));
    expect(await shown()).toEqual([17, 18, 19, 20, 21, 22, 23, 5_000_001, 101, 102]);
    expect((await accept(payment.payment_id, dust[0]!)).status).toBe(200);
  });

  describe('unmatched payment dropped by the chain', () => {
    const drop = async (signature: string) => {
      await w.chain.fault({ kind: 'vanish', signature });
      await sweepUntilBelieved(w);
    };
    const readRow = (signature: string) =>
      w.env.DB.prepare('SELECT * FROM unmatched_payments WHERE tx_signature = ?').bind(signature).first<{
        final_at: number | null;
        dropped_at: number | null;
        next_check_at: number | null;
      }>();

    it('a dropped transaction is hidden and cannot be accepted until it returns', async () => {
      const { id, signature } = await late();
      await drop(signature);
      expect((await view(id)).unmatched).toBeUndefined();
      const gone = await accept(id, signature);
      expect([gone.status, gone.body.code, gone.body.meta.reason]).toEqual([409, 'state_conflict', 'transaction_orphaned']);
      await w.chain.call('local_landAgain', signature);
      await letTimePass(w, 601);
      await w.sweepAlone('finality');
      expect((await view(id)).unmatched).toMatchObject([{ tx_signature: signature, status: 'open' }]);
      expect((await accept(id, signature)).body).toMatchObject({ status: 'CONFIRMED', recovers_payment_id: id });
    });

    it('a transaction without history at any node stays open', async () => {
      const { id, signature } = await late();
      await w.chain.fault({ kind: 'no_history', times: 0 });
      for (let i = 0; i < 3; i++) await sweepUntilBelieved(w);
      await w.chain.call('local_clearFaults');
      expect(await readRow(signature)).toMatchObject({ final_at: null, dropped_at: null });
      expect((await accept(id, signature)).status).toBe(200);
    });

    it('finality checks run until the transaction is final, or until its accepted payment is', async () => {
      const [left, taken] = [await late(), await late()];
      const { body } = await accept(taken.id, taken.signature);
      await letTimePass(w, FIRST_CHECK);
      await w.sweepAlone('finality');
      expect([await readRow(left.signature), await readRow(taken.signature)]).toMatchObject([
        { final_at: expect.any(Number), next_check_at: null },
        { final_at: null, next_check_at: null },
      ]);
      expect(await view(body.payment_id)).toMatchObject({ finalized_at: expect.any(String) });
    });

    it('a returned transaction that confirmed its own session is closed, and accept answers that payment', async () => {
      const payment = await w.connect(product);
      const id = payment.payment_id as string;
      const askWhoBuys = (provider: string | null) =>
        w.env.DB.prepare('UPDATE products SET requires_identity = ? WHERE slug = ?').bind(provider, product.slug).run();
      const signature = await w.chain.pay(await w.chain.wallet(), payment);
      await askWhoBuys('telegram');
      await w.confirm(id, signature);
      expect((await view(id)).unmatched).toMatchObject([{ reason: 'identity_missing', status: 'open' }]);
      await drop(signature);
      await w.chain.call('local_landAgain', signature);
      await askWhoBuys(null);
      expect((await w.confirm(id, signature)).body.payment.status).toBe('CONFIRMED');
      const accepted = await accept(id, signature);
      expect([accepted.status, accepted.body.payment_id, accepted.body.status]).toEqual([200, id, 'CONFIRMED']);
      expect((await view(id)).unmatched).toMatchObject([{ status: 'accepted', recovered_payment_id: id }]);
    });

    it('accept racing a drop ends in exactly one of the two', async () => {
      for (let round = 0; round < 3; round++) {
        const { id, signature } = await late();
        await w.chain.fault({ kind: 'vanish', signature });
        await letTimePass(w, FIRST_CHECK);
        await w.sweepAlone('finality');
        await letTimePass(w, SECOND_PROOF);
        const [accepted] = await Promise.all([accept(id, signature), w.sweepAlone('finality')]);
        const isDropped = (await readRow(signature))!.dropped_at !== null;
        expect([accepted.status === 200, isDropped]).toEqual([!isDropped, isDropped]);
      }
    });
  });
});
