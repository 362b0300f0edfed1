import { generateKeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { expireNow } from '../../support/faults/expire-now.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { REPEATED, SOAK } from '../../support/runner/env.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import { type Merchant, World } from '../../support/world.ts';

const CONFIRMED = ['payment.created', 'payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'];
const DROP_CURSOR = 'DELETE FROM cursors';

describe('reference sweep', REPEATED, () => {
  let w: World;
  let merchant: Merchant;
  beforeAll(async () => {
    w = new World({ SERVICE_REFERENCE: (await generateKeyPairSigner()).address });
    merchant = await w.merchant();
  });
  const pay = async (count: number) => {
    const product = await w.product(merchant);
    const buyer = await w.chain.wallet();
    const payments = [];
    for (let i = 0; i < count; i++) {
      const payment = await w.connect(product, { customer_ref: `c${i}` });
      await w.chain.pay(buyer, payment);
      payments.push(payment.payment_id as string);
    }
    return payments;
  };

  it('the sweep finds and confirms payments that were never reported', async () => {
    const payments = await pay(5);
    await w.sweepEach(PAYMENT_SWEEPS);
    for (const id of payments) expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('a sweep of a quiet chain lists at most two pages and reads no transaction', async () => {
    await w.sweepEach(PAYMENT_SWEEPS);
    await w.chain.call('local_resetCalls');
    await w.sweepEach(PAYMENT_SWEEPS);
    const calls = await w.chain.call<Record<string, number>>('local_calls');
    // The sweep lists the last moments again because a node may list late, then one empty page.
    expect(calls.getSignaturesForAddress).toBeLessThanOrEqual(2);
    expect(calls.getTransaction).toBeUndefined();
  });

  it('a sweep resumes after a crash at any step', async () => {
    const payments = await pay(3);
    for (const stop of [1, 2, 3, 5]) {
      const { env } = withFaults(w.env, { before: ({ number }) => number >= stop });
      await w.sweepEach(PAYMENT_SWEEPS, env);
    }
    const { env } = withFaults(w.env, { after: ({ kind, number }) => kind === 'batch' && number === 2 });
    await w.sweepEach(PAYMENT_SWEEPS, env);
    await w.sweepEach(PAYMENT_SWEEPS);
    for (const id of payments) expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('three concurrent sweeps confirm each payment once', async () => {
    const payments = await pay(4);
    await Promise.all([w.sweepEach(PAYMENT_SWEEPS), w.sweepEach(PAYMENT_SWEEPS), w.sweepEach(PAYMENT_SWEEPS)]);
    await w.sweepEach(PAYMENT_SWEEPS);
    for (const id of payments) expect(await w.eventTypes(id)).toEqual(CONFIRMED);
  });

  it('dust with unknown or malformed memos does not stop the sweep', async () => {
    const [payment] = await pay(1);
    const spammer = await w.chain.wallet();
    const bill = { recipient: merchant.wallet.address, price: { base_units: '1' }, references: [w.env.SERVICE_REFERENCE as string] };
    for (const memo of ['svc:nobodysnonce', 'svc:', 'hello', 'svc:0OIl', `svc:${'a'.repeat(300)}`, 'svc:a; [5] svc:b']) {
      await w.chain.pay(spammer, { ...bill, memo }, { units: 1n });
    }
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(payment!)).toEqual(CONFIRMED);
  });

  it('found transactions are retained if the node fails right afterwards', async () => {
    const [payment] = await pay(1);
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 2 });
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(payment!)).toEqual(['payment.created']);
    await w.env.DB.prepare('UPDATE payment_candidates SET next_check_at = 0').run();
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await w.eventTypes(payment!)).toEqual(CONFIRMED);
  });
});

describe('session expiry', () => {
  let w: World;
  let merchant: Merchant;
  beforeAll(async () => {
    w = new World({ SERVICE_REFERENCE: (await generateKeyPairSigner()).address });
    merchant = await w.merchant();
    await w.env.DB.prepare(DROP_CURSOR).run();
  });
  const age = (id: string, seconds: number) =>
    w.env.DB.prepare('UPDATE payments SET created_at = created_at - ?1, expires_at = expires_at - ?1 WHERE id = ?2')
      .bind(seconds * 1000, id)
      .run();
  const status = async (id: string) => (await w.call('GET', `/v1/payments/${id}`)).body;

  it('a session expires only after its grace and after the cursor has passed it', async () => {
    const payment = await w.connect(await w.product(merchant));
    await age(payment.payment_id, 900 + 170);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect((await status(payment.payment_id)).status).toBe('PENDING_SIGNATURE');
    await age(payment.payment_id, 30);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect(await status(payment.payment_id)).toMatchObject({ status: 'FAILED', failure_code: 'session_expired' });
    expect(await w.eventTypes(payment.payment_id)).toEqual(['payment.created', 'payment.failed']);
  });

  it('expiry waits at most a day while the node is down', async () => {
    const payment = await w.connect(await w.product(merchant));
    await age(payment.payment_id, 3 * 3600);
    await w.env.DB.prepare('UPDATE cursors SET passed_at = passed_at - ?')
      .bind(6 * 3_600_000)
      .run();
    await w.chain.fault({ kind: 'http_503', times: 0 });
    await w.sweepEach(PAYMENT_SWEEPS);
    expect((await status(payment.payment_id)).status).toBe('PENDING_SIGNATURE');
    await age(payment.payment_id, 24 * 3600);
    await w.sweepEach(PAYMENT_SWEEPS);
    expect((await status(payment.payment_id)).status).toBe('FAILED');
    await w.chain.call('local_clearFaults');
  });

  it('a payment made on time while the node was down confirms instead of expiring', async () => {
    const payment = await w.connect(await w.product(merchant));
    await w.chain.pay(await w.chain.wallet(), payment);
    await age(payment.payment_id, 900);
    await w.env.DB.prepare('UPDATE cursors SET passed_at = 0').run();
    await w.chain.fault({ kind: 'http_503', times: 0 });
    await w.sweepEach(PAYMENT_SWEEPS);
    await w.chain.call('local_clearFaults');
    await w.sweepEach(PAYMENT_SWEEPS);
    expect((await status(payment.payment_id)).status).toBe('CONFIRMED');
  });

  it('an on-time payment of an expired session is recovered as a new confirmed payment', async () => {
    const payment = await w.connect(await w.product(merchant));
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.env.DB.prepare("UPDATE payments SET status = 'FAILED', failure_code = 'session_expired' WHERE id = ?")
      .bind(payment.payment_id)
      .run();
    const answer = await w.confirm(payment.payment_id, signature);
    expect(answer).toMatchObject({ status: 410, body: { code: 'session_expired', meta: { recovered_payment_id: expect.any(String) } } });
    const recovered = await status(answer.body.meta.recovered_payment_id);
    expect(recovered).toMatchObject({
      status: 'CONFIRMED',
      recovers_payment_id: payment.payment_id,
      tx_signature: signature,
      memo: payment.memo,
    });
    const again = await w.confirm(payment.payment_id, signature);
    expect(again.body.meta.recovered_payment_id).toBe(answer.body.meta.recovered_payment_id);
  });

  const ROUNDS = 25 * SOAK;
  it.each([1, 2, 3, 4])(
    `expiry racing a confirmation ends in exactly one of the two without lost money: ${ROUNDS} rounds, part %i of 4`,
    async (part) => {
      const product = await w.product(merchant);
      const buyer = await w.chain.wallet(10_000_000_000n);
      for (let i = 0; i < ROUNDS; i++) {
        const payment = await w.connect(product, { customer_ref: `race-${part}-${i}` });
        const signature = await w.chain.pay(buyer, payment);
        const [confirmed] = await Promise.all([w.confirm(payment.payment_id, signature), expireNow(w, payment.payment_id)]);
        const recovered = await w.env.DB.prepare('SELECT count(*) AS n FROM payments WHERE recovers_payment_id = ?')
          .bind(payment.payment_id)
          .first('n');
        const final = (await status(payment.payment_id)).status;
        expect([final, confirmed.status, recovered]).toEqual(final === 'CONFIRMED' ? ['CONFIRMED', 200, 0] : ['FAILED', 410, 1]);
        expect(await w.env.DB.prepare('SELECT count(*) AS n FROM tx_claims WHERE tx_signature = ?').bind(signature).first('n')).toBe(1);
      }
    },
  );
});
