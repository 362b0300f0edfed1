import { beforeAll, describe, expect, it } from 'vitest';
import { withFaults } from '../../support/faults/faults.ts';
import { FIRST_LOOK, letTimePass, SECOND_PROOF, sweepUntilBelieved } from '../../support/faults/finality.ts';
import { openSession } from '../../support/people/sale.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('money that missed its session', REPEATED, () => {
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

  /** A session that failed before the payment reached the chain. */
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

  it('late is kept in sight, once, and the session stays failed', async () => {
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

  it('short is kept in sight while the session waits for the rest, and a whole payment still confirms', async () => {
    const payment = await w.connect(product);
    const buyer = await w.chain.wallet();
    const short = await w.chain.pay(buyer, payment, { units: 4_000_000n });
    expect(await w.confirm(payment.payment_id, short)).toMatchObject({ status: 422, body: { meta: { reason: 'underpaid' } } });
    expect((await w.confirm(payment.payment_id, await w.chain.pay(buyer, payment))).body.payment.status).toBe('CONFIRMED');
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ reason: 'underpaid', amount: { amount: '4' } }]);
  });

  it('the buyer is shown what arrived in every answer, by amount, signature and reason, and the merchant in full', async () => {
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
    const whole = await w.chain.pay(buyer, payment);
    const confirmed = await w.confirm(payment.payment_id, whole);
    expect(confirmed.body).toMatchObject({ now: expect.any(String), payment: { status: 'CONFIRMED', seen } });
    expect(confirmed.body.payment.unmatched).toBeUndefined();
    const unmatched = [{ ...seen[0], payer_wallet: buyer.address, status: 'open' }];
    const again = { key: merchant.key, body: { payment_id: payment.payment_id, tx_signature: whole } };
    expect((await w.call('POST', '/v1/pay/confirm', again)).body.payment).toMatchObject({ unmatched });
    await accept(payment.payment_id, signature);
    expect((await w.call('GET', path)).body.seen).toBeUndefined();
    expect((await view(payment.payment_id)).unmatched).toMatchObject([{ tx_signature: signature, status: 'accepted' }]);
  });

  it('a second time is kept in sight, and the confirmed payment does not change', async () => {
    const buyer = await w.chain.wallet();
    const { payment, signature } = await w.purchase(product, buyer);
    const second = await w.chain.pay(buyer, payment, { units: 5_000_001n });
    expect(await w.confirm(payment.payment_id, second)).toMatchObject({ status: 409, body: { code: 'payment_transaction_conflict' } });
    expect(await view(payment.payment_id)).toMatchObject({
      tx_signature: signature,
      unmatched: [{ tx_signature: second, reason: 'second_payment' }],
    });
  });

  it('is not shown to a buyer, nor to another merchant', async () => {
    const { id } = await late();
    expect((await w.call('GET', `/v1/payments/${id}`)).body.unmatched).toBeUndefined();
    const other = await w.merchant();
    expect((await w.call('GET', `/v1/payments/${id}`, { key: other.key })).status).toBe(404);
  });

  it('is accepted into a new confirmed payment with membership and receipt of its own', async () => {
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

  it('counts what really arrived when less than the price is accepted', async () => {
    const payment = await w.connect(product);
    const short = await w.chain.pay(await w.chain.wallet(), payment, { units: 3_000_000n });
    await w.confirm(payment.payment_id, short);
    const { body } = await accept(payment.payment_id, short);
    expect(body).toMatchObject({ status: 'CONFIRMED', price: { amount: '3' }, net: { amount: '3' } });
    expect(body.overpaid).toBeUndefined();
  });

  it('accepted twenty times at once is one payment, and every answer is the same', async () => {
    const { id, signature } = await late();
    const answers = await Promise.all(Array.from({ length: 20 }, () => accept(id, signature)));
    const ids = new Set(answers.filter(({ status }) => status === 200).map(({ body }) => body.payment_id));
    expect(ids.size).toBe(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect((await accept(id, signature)).body.payment_id).toBe([...ids][0]);
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM payments WHERE recovers_payment_id = ?').bind(id).first('n')).toBe(1);
  });

  it('is accepted once although the answer of the commit was lost', async () => {
    const { id, signature } = await late();
    let batches = 0;
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' && ++batches === 3 });
    const body = { tx_signature: signature };
    expect((await w.call('POST', `/v1/payments/${id}/accept-unmatched`, { key: merchant.key, body, env })).status).toBe(200);
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM tx_claims WHERE tx_signature = ?').bind(signature).first('n')).toBe(1);
  });

  it('of another merchant, another payment, or nobody cannot be accepted', async () => {
    const { id, signature } = await late();
    const other = await w.merchant();
    const sibling = await w.connect(product);
    expect((await accept(id, signature, other.key)).status).toBe(404);
    expect((await accept(sibling.payment_id, signature)).status).toBe(404);
    const confirmed = await w.purchase(product, await w.chain.wallet());
    expect((await accept(confirmed.payment.payment_id, confirmed.signature)).status).toBe(404);
  });

  it('as dust is recorded and told every time; the ten largest are shown, so that it hides no whole payment', async () => {
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

  describe('that the cluster dropped before the merchant decided', () => {
    const drop = async (signature: string) => {
      await w.chain.fault({ kind: 'vanish', signature });
      await sweepUntilBelieved(w);
    };
    const rowOf = (signature: string) =>
      w.env.DB.prepare('SELECT * FROM unmatched_payments WHERE tx_signature = ?').bind(signature).first<{
        final_at: number | null;
        dropped_at: number | null;
        next_look_at: number | null;
      }>();

    it('is not shown and cannot be accepted; when it is there after all, it is and can', async () => {
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

    it('stands where no node can tell of it', async () => {
      const { id, signature } = await late();
      await w.chain.fault({ kind: 'no_history', times: 0 });
      for (let i = 0; i < 3; i++) await sweepUntilBelieved(w);
      await w.chain.call('local_clearFaults');
      expect(await rowOf(signature)).toMatchObject({ final_at: null, dropped_at: null });
      expect((await accept(id, signature)).status).toBe(200);
    });

    it('is looked for until it is final, or accepted: then its claim is, and made final with its payment', async () => {
      const [left, taken] = [await late(), await late()];
      const { body } = await accept(taken.id, taken.signature);
      await letTimePass(w, FIRST_LOOK);
      await w.sweepAlone('finality');
      expect([await rowOf(left.signature), await rowOf(taken.signature)]).toMatchObject([
        { final_at: expect.any(Number), next_look_at: null },
        { final_at: null, next_look_at: null },
      ]);
      expect(await view(body.payment_id)).toMatchObject({ finalized_at: expect.any(String) });
    });

    it('and that paid its own session when it was there again is no open question: the answer is the payment', async () => {
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

    it('and accepted at the same moment is one or the other', async () => {
      for (let round = 0; round < 3; round++) {
        const { id, signature } = await late();
        await w.chain.fault({ kind: 'vanish', signature });
        await letTimePass(w, FIRST_LOOK);
        await w.sweepAlone('finality');
        await letTimePass(w, SECOND_PROOF);
        const [accepted] = await Promise.all([accept(id, signature), w.sweepAlone('finality')]);
        const isDropped = (await rowOf(signature))!.dropped_at !== null;
        expect([accepted.status === 200, isDropped]).toEqual([!isDropped, isDropped]);
      }
    });
  });
});
