import { beforeAll, describe, expect, it } from 'vitest';
import { DAY, MINUTE } from '#core/time.ts';
import { newKey, openShop, type Shop } from '../../support/people/agent.ts';
import { type CallOptions, World } from '../../support/world.ts';

describe('retention of answers under an Idempotency-Key', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
  });

  const post = (path: string, body: object, { key = shop.merchant.key, ...options }: CallOptions = {}) =>
    w.call('POST', path, { key, body, ...options });
  const under = (key: string): CallOptions => ({ headers: { 'Idempotency-Key': key } });
  const settle = async (key: string) => shop.settle(await shop.pay(), {}, { idempotencyKey: key });
  const paid = async () => {
    const payment = await w.connect(shop.product);
    return { payment, signature: await w.chain.pay(await w.chain.wallet(), payment) };
  };
  const confirm = async (key: string) => {
    const { payment, signature } = await paid();
    return post('/v1/pay/confirm', { payment_id: payment.payment_id, tx_signature: signature }, under(key));
  };
  const send = async (key: string) => {
    const buyer = await w.chain.wallet();
    const { payment_id: paymentId, transaction } = await w.connect(shop.product, { wallet_address: buyer.address });
    return post(`/v1/payments/${paymentId}/transaction`, { transaction: await w.chain.sign(buyer, transaction) }, under(key));
  };
  const claim = async (key: string) => post('/v1/receipt', { tx_sig: (await paid()).signature }, under(key));
  const accept = async (key: string) => {
    const { payment } = await w.purchase(shop.product, await w.chain.wallet());
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.confirm(payment.payment_id, signature);
    return post(`/v1/payments/${payment.payment_id}/accept-unmatched`, { tx_signature: signature }, under(key));
  };
  const makeApp = (key: string) => post('/v1/access/apps', { name: 'App' }, under(key));
  const makeProduct = (key: string) => post('/v1/products', { name: 'One', price: { asset: 'USDC', amount: '1' } }, under(key));
  const openSession = (key: string) => post('/v1/access/payment-sessions', { product_id: shop.product.product_id }, under(key));

  it.each([
    ['POST /v1/access/x402/settle', 30, settle],
    ['POST /v1/pay/confirm', 30, confirm],
    ['POST /v1/payments/{payment_id}/transaction', 30, send],
    ['POST /v1/receipt', 30, claim],
    ['POST /v1/payments/{payment_id}/accept-unmatched', 30, accept],
    ['POST /v1/access/apps', 1, makeApp],
    ['POST /v1/products', 1, makeProduct],
    ['POST /v1/access/payment-sessions', 1, openSession],
  ] as const)('the answer of %s is retained for %d days', async (_route, days, call) => {
    const key = newKey();
    expect([200, 201]).toContain((await call(key)).status);
    const until = await w.env.DB.prepare('SELECT expires_at FROM claims WHERE key = ?').bind(key).first<number>('expires_at');
    const lasts = until! - Date.now();
    expect([lasts > days * DAY - MINUTE, lasts <= days * DAY]).toEqual([true, true]);
  });
});
