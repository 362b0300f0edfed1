import { describe, expect, it } from 'vitest';
import { openTill } from '../../support/clients/facilitator-shop.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { newKey, openShop, sellToAgents, stall } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const PAUSED = { status: 409, body: { code: 'setup_not_ready', meta: { reason: 'paused' } } };

describe('sales_paused', () => {
  const w = new World();
  const pause = (key: string, sales_paused: boolean) => w.call('PATCH', '/v1/account/me', { key, body: { sales_paused } });
  const connect = (slug: string) => w.call('POST', `/v1/products/p/${slug}/connect`, { body: {} });

  it('starts no checkout, session or metered session in any mode, and confirms what has begun', async () => {
    const shop = await openShop(w);
    const { merchant, product } = shop;
    const trial = await w.product({ ...merchant, key: merchant.sandboxKey });
    const begun = await w.connect(product);
    const buyer = await w.chain.wallet();
    expect((await pause(merchant.key, true)).body.updated_fields).toEqual(['sales_paused']);
    expect((await pause(merchant.key, true)).body.updated_fields).toEqual([]);
    expect((await w.call('GET', '/v1/account/me', { key: merchant.key })).body.sales_paused).toBe(true);
    for (const { slug } of [product, trial]) expect(await connect(slug)).toMatchObject(PAUSED);
    const ask = (path: string, body: object) => w.call('POST', path, { key: merchant.key, body, headers: { 'Idempotency-Key': newKey() } });
    expect(await ask('/v1/access/payment-sessions', { product_id: product.product_id })).toMatchObject(PAUSED);
    expect(await ask('/v1/access/metered-sessions', { product_id: product.product_id, cap: { asset: 'USDC', amount: '1' } })).toMatchObject(
      PAUSED,
    );
    expect((await w.confirm(begun.payment_id, await w.chain.pay(buyer, begun))).body.payment.status).toBe('CONFIRMED');
    expect((await pause(merchant.token, false)).body.updated_fields).toEqual(['sales_paused']);
    for (const { slug } of [product, trial]) expect((await connect(slug)).status).toBe(200);
  });

  it('settles no x402 payment for an earlier challenge, and units already paid for can be used', async () => {
    const shop = await openShop(w);
    const own = stall(w, shop.merchant, await sellToAgents(w, shop.merchant), shop.agent);
    const payment = await own.pay();
    await pause(shop.merchant.token, true);
    expect(await own.settle(payment)).toMatchObject(PAUSED);
    expect((await own.consume()).headers.get('PAYMENT-REQUIRED')).toBeNull();
    expect((await own.books()).payments).toBe(0);
    await pause(shop.merchant.token, false);
    expect((await own.settle(payment)).status).toBe(200);
    await pause(shop.merchant.token, true);
    expect((await own.settle(payment)).status).toBe(200);
    expect((await own.books()).payments).toBe(1);
  });

  it('the facilitator settles nothing for the shop', async () => {
    const till = await openTill(w);
    const body = await till.bodyFor();
    await pause(till.merchant.token, true);
    expect(await till.ask('settle', body)).toMatchObject(PAUSED);
    await pause(till.merchant.token, false);
    expect((await till.ask('settle', body)).body.success).toBe(true);
  });

  it('resumes only after a recent sign-in, and never by a key', async () => {
    const { merchant } = await openShop(w);
    await pause(merchant.key, true);
    for (const caller of [merchant.key, await tokenSignedIn(w, merchant.userId, 60)])
      expect(await pause(caller, false)).toMatchObject({ status: 403, body: { meta: { reason: 'sign_in_required' } } });
    expect((await w.call('GET', '/v1/account/me', { key: merchant.key })).body.sales_paused).toBe(true);
    expect((await pause(merchant.token, false)).status).toBe(200);
  });

  it('readiness names the pause and the call that ends it', async () => {
    const { merchant, product } = await openShop(w);
    await pause(merchant.token, true);
    const read = async (query: string) => (await w.call('GET', `/v1/access/setup/readiness${query}`, { key: merchant.key })).body;
    const named = await read(`?product_id=${product.product_id}`);
    expect(named).toMatchObject({ ready: false, blocking: expect.arrayContaining(['product_active', 'rail_enabled']) });
    expect(named.checks.find(({ code }: { code: string }) => code === 'product_active').fix).toMatchObject({
      method: 'PATCH',
      path: '/v1/account/me',
      body: { sales_paused: false },
    });
    await pause(merchant.token, false);
    expect((await read(`?product_id=${product.product_id}`)).blocking).not.toContain('product_active');
  });
});
