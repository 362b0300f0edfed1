import { beforeAll, describe, expect, it } from 'vitest';
import { seededRandom, shuffled } from '../../support/faults/faults.ts';
import { SEED, SOAK } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const PAYMENTS = 100 * SOAK;
const CALLERS = 8;
const TOGETHER = 5;

describe(`confirm under races (seed ${SEED})`, () => {
  const w = new World();
  const random = seededRandom(SEED);
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });

  it(`${PAYMENTS} payments with ${CALLERS} shuffled callers each are confirmed exactly once`, async () => {
    const product = await w.product(merchant, { access_period_days: 30 });
    const buyers = await Promise.all(Array.from({ length: 20 }, () => w.chain.wallet()));
    const paid = [];
    for (let i = 0; i < PAYMENTS; i++) {
      const payment = await w.connect(product, { customer_ref: `customer-${i}` });
      paid.push({ id: payment.payment_id as string, signature: await w.chain.pay(buyers[i % buyers.length]!, payment) });
    }
    const answers = [];
    for (let from = 0; from < PAYMENTS; from += TOGETHER) {
      const calls = paid.slice(from, from + TOGETHER).flatMap((payment) => Array.from({ length: CALLERS }, () => payment));
      const confirmed = shuffled(calls, random).map(async (call) => ({ call, answer: await w.confirm(call.id, call.signature) }));
      answers.push(...(await Promise.all(confirmed)));
    }
    for (const { call, answer } of answers)
      expect(answer, call.id).toMatchObject({ status: 200, body: { payment: { status: 'CONFIRMED', tx_signature: call.signature } } });
    for (const { id } of paid) {
      const first = answers.filter(({ call, answer }) => call.id === id && !answer.body.already_confirmed);
      expect(first.length, id).toBeLessThanOrEqual(1);
      expect(await w.eventTypes(id)).toEqual([
        'payment.created',
        'payment.submitted',
        'payment.confirmed',
        'membership.activated',
        'receipt.created',
      ]);
      expect([await w.count('tx_claims', id), await w.count('receipts', id), await w.count('payment_candidates', id)]).toEqual([1, 1, 0]);
    }
  });

  it('two concurrent first purchases make one membership with the period of both', async () => {
    const product = await w.product(merchant, { access_period_days: 10 });
    const buyer = await w.chain.wallet();
    const payments = [await w.connect(product), await w.connect(product)];
    const signatures: string[] = [];
    for (const payment of payments) signatures.push(await w.chain.pay(buyer, payment));
    const answers = await Promise.all(payments.map((payment, i) => w.confirm(payment.payment_id, signatures[i]!)));
    expect(answers.map(({ body }) => body.payment.status)).toEqual(['CONFIRMED', 'CONFIRMED']);
    expect(answers[0]!.body.membership_id).toBe(answers[1]!.body.membership_id);
    const { body } = await w.call('GET', `/v1/memberships/lookup?wallet_address=${buyer.address}&product_id=${product.product_id}`, {
      key: merchant.key,
    });
    expect((Date.parse(body.paid_through) - Date.parse(body.created_at)) / 86_400_000).toBeCloseTo(20, 3);
  });

  it('twelve concurrent purchases of one customer are all confirmed, contended ones through the queue', async () => {
    const product = await w.product(merchant, { access_period_days: 1 });
    const buyer = await w.chain.wallet();
    const paid = [];
    for (let i = 0; i < 12; i++) {
      const payment = await w.connect(product);
      paid.push({ payment, signature: await w.chain.pay(buyer, payment) });
    }
    const answers = await Promise.all(paid.map(({ payment, signature }) => w.confirm(payment.payment_id, signature)));
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    for (let round = 0; round < 8 && w.queue.sent.length > 0; round++) await w.deliver();
    const states = await Promise.all(
      paid.map(async ({ payment }) => (await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status),
    );
    expect(new Set(states)).toEqual(new Set(['CONFIRMED']));
    const { body } = await w.call('GET', `/v1/memberships/lookup?wallet_address=${buyer.address}&product_id=${product.product_id}`, {
      key: merchant.key,
    });
    expect(body.version).toBe(12);
    expect((Date.parse(body.paid_through) - Date.parse(body.created_at)) / 86_400_000).toBeCloseTo(12, 2);
  });

  it('a repeated confirm is answered from the stored state while the node is down', async () => {
    const { payment, signature } = await w.purchase(await w.product(merchant), await w.chain.wallet());
    await w.chain.fault({ kind: 'http_503', times: 4 });
    const again = await w.confirm(payment.payment_id, signature);
    expect(again).toMatchObject({ status: 200, body: { already_confirmed: true } });
    await w.chain.call('local_clearFaults');
  });
});
