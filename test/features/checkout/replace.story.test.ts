import { beforeAll, describe, expect, it } from 'vitest';
import { sweepEndedSessions } from '#features/payments/watch/ended-sessions.ts';
import { shardOf } from '../../support/runner/shards.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;

describe('replaces_payment_id', () => {
  const w = new World();
  let merchant: Merchant;
  let product: { slug: string; product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant, {
      price: { asset: 'USDC', amount: '15' },
      accepted_assets: ['USDC', 'SOL'],
      access_period_days: 30,
    });
  });
  const view = async (id: string) => {
    const { now: _, ...payment } = (await w.call('GET', `/v1/payments/${id}`, { key: merchant.key })).body;
    return payment;
  };
  const replace = (id: string, input: Record<string, unknown> = {}, slug = product.slug, headers: Record<string, string> = {}) =>
    w.call('POST', `/v1/products/p/${slug}/connect`, { body: { replaces_payment_id: id, ...input }, headers });
  const patch = (body: object) => w.call('PATCH', `/v1/products/${product.product_id}`, { key: merchant.key, body });

  it('a replacement continues in another asset for the same buyer and purchase', async () => {
    const first = await w.connect(product, { asset: 'USDC', customer_ref: 'customer-1', email: 'ada@example.com', locale: 'de' });
    const { status, body: second } = await replace(first.payment_id, { asset: 'SOL' });
    expect(status).toBe(200);
    expect(second).toMatchObject({ status: 'PENDING_SIGNATURE', price: { asset: 'SOL', amount: '0.1' } });
    expect([second.payment_id, second.memo, second.references[0]]).not.toContain(first.payment_id);
    expect(second.memo).not.toBe(first.memo);
    expect(await view(first.payment_id)).toMatchObject({ status: 'FAILED', failure_code: 'replaced', poll_after_ms: null });
    expect(await w.eventTypes(first.payment_id)).toEqual(['payment.created', 'payment.failed']);
    expect(await w.eventTypes(second.payment_id)).toEqual(['payment.created']);
    expect(await view(second.payment_id)).toMatchObject({ customer_ref: 'customer-1', price_quote: { rate: expect.any(String) } });

    const buyer = await w.chain.wallet();
    const { body } = await w.confirm(second.payment_id, await w.chain.paySol(buyer, second));
    expect(body.payment.status).toBe('CONFIRMED');
    const held = await w.call('GET', '/v1/memberships/lookup?customer_ref=customer-1', { key: merchant.key });
    expect(held.body.customer).toMatchObject({ customer_ref: 'customer-1', email: 'ada@example.com' });
  });

  it('a replacement preserves price and terms, there and back, and restarts the time', async () => {
    const first = await w.connect(product, { asset: 'USDC' });
    await w.env.DB.prepare('UPDATE payments SET expires_at = expires_at - 600000 WHERE id = ?').bind(first.payment_id).run();
    const inSol = (await replace(first.payment_id, { asset: 'SOL' })).body;
    await patch({ price: { asset: 'USDC', amount: '99' }, access_period_days: 7, name: 'Dearer' });
    const back = (await replace(inSol.payment_id, { asset: 'USDC' })).body;
    expect(back.price).toEqual(first.price);
    expect('price_quote' in back).toBe(false);
    expect(Date.parse(back.expires_at) - Date.now()).toBeGreaterThan(14 * 60_000);
    const { body } = await w.confirm(back.payment_id, await w.chain.pay(await w.chain.wallet(), back));
    const receipt = await w.call('GET', `/v1/receipt/${body.receipt_id}`, { key: merchant.key });
    expect(receipt.body.document.product_name).toBe('Weather API');
    const bought = await w.call('GET', `/v1/memberships/lookup?payment_id=${back.payment_id}`, { key: merchant.key });
    expect(Date.parse(bought.body.paid_through) - Date.now()).toBeGreaterThan(29 * DAY);
    await patch({ price: { asset: 'USDC', amount: '15' }, access_period_days: 30, name: 'Weather API' });
  });

  it('money sent for the replaced payment is unmatched, and only the merchant can accept it', async () => {
    const first = await w.connect(product, { asset: 'USDC' });
    const { body: second } = await replace(first.payment_id);
    const buyer = await w.chain.wallet();
    const signature = await w.chain.pay(buyer, first);
    for (let times = 0; times < 2; times++) {
      const answer = await w.confirm(first.payment_id, signature);
      expect([answer.status, answer.body.code, answer.body.meta.reason]).toEqual([409, 'payment_failed', 'late']);
    }
    expect(await view(first.payment_id)).toMatchObject({ status: 'FAILED', unmatched: [{ reason: 'late', status: 'open' }] });
    expect((await w.confirm(second.payment_id, await w.chain.pay(buyer, second))).body.payment.status).toBe('CONFIRMED');
    const accepted = await w.call('POST', `/v1/payments/${first.payment_id}/accept-unmatched`, {
      key: merchant.key,
      body: { tx_signature: signature },
    });
    expect(accepted.body).toMatchObject({ status: 'CONFIRMED', recovers_payment_id: first.payment_id });
  });

  it('a replaced payment is still reported as replaced after its row was deleted', async () => {
    const first = await w.connect(product, { asset: 'USDC' });
    await replace(first.payment_id);
    await w.deliver();
    const signature = await w.chain.pay(await w.chain.wallet(), first);
    await w.env.DB.prepare('UPDATE payments SET expires_at = expires_at - ? WHERE id = ?')
      .bind(31 * DAY, first.payment_id)
      .run();
    await sweepEndedSessions(shardOf(w.env, first.payment_id));
    const rows = w.env.DB.prepare('SELECT id FROM payments WHERE id = ?').bind(first.payment_id);
    expect((await rows.all()).results).toEqual([]);
    expect(await view(first.payment_id)).toMatchObject({ status: 'FAILED', failure_code: 'replaced' });
    await w.confirm(first.payment_id, signature);
    expect(await view(first.payment_id)).toMatchObject({ status: 'FAILED', failure_code: 'replaced', unmatched: [{ reason: 'late' }] });
  });

  it('a replacement is refused once a transaction is known, and nothing changes', async () => {
    const buyer = await w.chain.wallet();
    const first = await w.connect(product, { asset: 'USDC', wallet_address: buyer.address });
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    const transaction = await w.chain.sign(buyer, first.transaction);
    await w.call('POST', `/v1/payments/${first.payment_id}/transaction`, { body: { transaction } });
    const before = await view(first.payment_id);
    const { status, body } = await replace(first.payment_id, { asset: 'SOL' });
    expect([status, body.code, body.meta.reason, body.retryable]).toEqual([409, 'state_conflict', 'in_flight', true]);
    expect(await view(first.payment_id)).toEqual(before);

    const paid = await w.purchase(product, buyer);
    expect((await replace(paid.payment.payment_id)).body).toMatchObject({ code: 'state_conflict', meta: { reason: 'confirmed' } });
  });

  it('a payment is replaced once, by one of the same product, and a repeated call gets the same answer', async () => {
    const first = await w.connect(product, { asset: 'USDC' });
    const other = await w.product(merchant);
    expect((await replace(first.payment_id, {}, other.slug)).status).toBe(404);
    expect((await replace(crypto.randomUUID())).status).toBe(404);
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    const { body } = await replace(first.payment_id, { asset: 'SOL' }, product.slug, headers);
    expect((await replace(first.payment_id, { asset: 'SOL' }, product.slug, headers)).body).toEqual(body);
    expect((await replace(first.payment_id)).body.code).toBe('payment_failed');
    expect((await replace(body.payment_id, { asset: 'USDC' })).status).toBe(200);
  });

  it('a replacement takes over the payment session and the hand-off', async () => {
    const opened = await w.call('POST', '/v1/access/payment-sessions', {
      key: merchant.key,
      headers: { 'Idempotency-Key': crypto.randomUUID() },
      body: { product_id: product.product_id, customer_ref: 'customer-2', metadata: { order: '7' } },
    });
    const session = opened.body.payment_session_id as string;
    const first = await w.connect(product, { payment_session_id: session });
    const second = (await replace(first.payment_id, { asset: 'SOL' })).body;
    expect((await w.connect(product, { payment_session_id: session })).payment_id).toBe(second.payment_id);
    expect(await view(second.payment_id)).toMatchObject({ customer_ref: 'customer-2', metadata: { order: '7' } });

    const handed = await w.call('POST', `/v1/products/${product.product_id}/handoffs`, {
      key: merchant.key,
      body: { customer_ref: 'customer-3' },
    });
    const connect = () => w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { handoff_token: handed.body.handoff_token } });
    const begun = (await connect()).body;
    const moved = (await replace(begun.payment_id)).body;
    expect((await connect()).body).toMatchObject({ code: 'handoff_expired', meta: { payment_id: moved.payment_id } });
    expect(await view(moved.payment_id)).toMatchObject({ customer_ref: 'customer-3' });
  });
});
