import { beforeAll, describe, expect, it } from 'vitest';
import { distantDatabase } from '../support/faults/faults.ts';
import { openShop, type Shop } from '../support/people/agent.ts';
import { World } from '../support/world.ts';

const TRIP_MS = 15;

/** Trips to the database that a caller waits for, one after the other. Each costs a distant caller the way there and back. */
describe('trips to the database', () => {
  const w = new World();
  let shop: Shop;
  let product: { slug: string };

  beforeAll(async () => {
    shop = await openShop(w);
    product = await w.product(shop.merchant, { access_period_days: 30 });
    await w.purchase(product, await w.chain.wallet());
    const denied = await shop.consume({});
    await shop.settle(await shop.agent.pay(denied.headers.get('PAYMENT-REQUIRED')!));
  });

  async function waitsFor<T>(run: (env: typeof w.env) => Promise<T>): Promise<{ answer: T; waits: number }> {
    const { database, traffic } = distantDatabase(w.env.DB, TRIP_MS);
    const answer = await run({ ...w.env, DB: database });
    return { answer, waits: traffic.waits };
  }

  it.each([
    ['names its wallet', true, 2],
    ['pays with a wallet that nobody named', false, 3],
  ])('a connect waits for two, a confirm of a buyer who %s for %s', async (_, isNamed, confirm) => {
    const buyer = await w.chain.wallet();
    const body = isNamed ? { wallet_address: buyer.address } : {};
    const connected = await waitsFor((env) => w.call('POST', `/v1/products/p/${product.slug}/connect`, { body, env }));
    const signature = await w.chain.pay(buyer, connected.answer.body);
    const confirmed = await waitsFor((env) => w.confirm(connected.answer.body.payment_id, signature, { env }));
    expect(confirmed.answer.body.payment.status).toBe('CONFIRMED');
    expect({ connect: connected.waits, confirm: confirmed.waits }).toEqual({ connect: 2, confirm });
  });

  it('a settle waits for four: its facts, the claim, the payment and the answer', async () => {
    const denied = await shop.consume({ customer: { customer_ref: 'far' } });
    const payment = await shop.agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
    const settled = await waitsFor((env) => shop.settle(payment, { customer: { customer_ref: 'far' } }, { env }));
    expect(settled.answer.status).toBe(200);
    expect(settled.waits).toBe(4);
  });
});
