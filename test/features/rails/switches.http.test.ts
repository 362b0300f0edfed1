import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openShop, type Shop, sellToAgents, stall } from '../../support/people/agent.ts';
import { World } from '../../support/world.ts';

const SECRET = 'the secret of an operator in a test';

describe('POST /v1/operator/switches', () => {
  const w = new World({ OPERATOR_SECRET: SECRET });
  let shop: Shop;
  const turn = (subject: string, to: 'on' | 'off', secret = SECRET) =>
    w.call('POST', '/v1/operator/switches', { body: { subject, to }, headers: { 'X-Svc-Operator-Secret': secret } });
  const connect = (slug: string) => w.call('POST', `/v1/products/p/${slug}/connect`, { body: {} });
  const readState = async (rail: string) =>
    (await w.call('GET', '/v1/access/rails')).body.items.find(({ rail_id }: { rail_id: string }) => rail_id === rail);
  beforeAll(async () => {
    shop = await openShop(w);
  });
  afterEach(() => w.env.DB.prepare('DELETE FROM switched_off').run());

  it('a switched-off rail starts no sale, confirms running ones, and sells again once it is on', async () => {
    const begun = await w.connect(shop.product);
    const buyer = await w.chain.wallet();
    expect((await turn('rail:solana_usdc', 'off')).body).toEqual({ switched_off: ['rail:solana_usdc'] });
    const refused = await connect(shop.product.slug);
    expect(refused).toMatchObject({ status: 409, body: { code: 'setup_not_ready', meta: { reason: 'rail_unavailable' } } });
    expect(await readState('solana_usdc')).toMatchObject({ status: 'unavailable', reason: 'switched_off' });
    expect((await readState('x402_solana_usdc')).status).toBe('available');
    // A session that was open before still confirms, because its money may be on its way.
    expect((await w.confirm(begun.payment_id, await w.chain.pay(buyer, begun))).body.payment.status).toBe('CONFIRMED');
    expect((await turn('rail:solana_usdc', 'on')).body).toEqual({ switched_off: [] });
    expect((await connect(shop.product.slug)).status).toBe(200);
  });

  it('a switched-off x402 rail makes no challenge and settles no earlier one', async () => {
    const own = stall(w, shop.merchant, await sellToAgents(w, shop.merchant), shop.agent);
    const payment = await own.pay();
    await turn('rail:x402_solana_usdc', 'off');
    const settled = await own.settle(payment);
    expect(settled).toMatchObject({ status: 409, body: { code: 'setup_not_ready', meta: { reason: 'rail_unavailable' } } });
    expect((await own.consume()).headers.get('PAYMENT-REQUIRED')).toBeNull();
    expect((await own.books()).settlements).toBe(0);
    await turn('rail:x402_solana_usdc', 'on');
    expect((await own.settle(payment)).status).toBe(200);
  });

  it('a switched-off product is off on every rail, and readiness names the operator', async () => {
    const [off, other] = [await sellToAgents(w, shop.merchant), await w.product(shop.merchant)];
    const own = stall(w, shop.merchant, off, shop.agent);
    const payment = await own.pay();
    for (let i = 0; i < 2; i++) expect((await turn(`product:${off.product_id}`, 'off')).status).toBe(200);
    expect((await connect(off.slug)).status).toBe(404);
    expect((await own.settle(payment)).body).toMatchObject({ code: 'setup_not_ready', meta: { reason: 'product_active' } });
    const { body } = await w.call('GET', `/v1/access/setup/readiness?product_id=${off.product_id}`, { key: shop.merchant.key });
    expect(body.blocking).toContain('product_active');
    expect(JSON.stringify(body.checks)).toContain('The operator disabled the product');
    expect((await connect(other.slug)).status).toBe(200);
    expect((await w.call('GET', `/v1/products/${off.product_id}`, { key: shop.merchant.key })).body.status).toBe('active');
  });

  it('an unknown subject and a wrong secret are 404', async () => {
    for (const subject of ['rail:paper', `product:${crypto.randomUUID()}`, 'account:x', 'rail', ''])
      expect((await turn(subject, 'off')).status, subject).toBe(404);
    expect((await turn('rail:solana_usdc', 'off', 'a guess')).status).toBe(404);
    expect((await readState('solana_usdc')).status).toBe('available');
  });
});
