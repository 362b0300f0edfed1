import { beforeAll, describe, expect, it } from 'vitest';
import { testEnv } from '../../support/runner/env.ts';
import { WEBHOOK_SWEEPS } from '../../support/runner/sweeps.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const RECEIVER = testEnv.TEST_RECEIVER_URL;
const received = async (box: string): Promise<{ body: string }[]> => (await fetch(`${RECEIVER}/_box/${box}`)).json();

describe('product filter of an endpoint', () => {
  let ada: Merchant;
  let product: { product_id: string; slug: string };
  let other: { product_id: string; slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    [product, other] = [await w.product(ada), await w.product(ada)];
  });
  const create = (body: object, key = ada.key) =>
    w.call('POST', '/v1/webhooks/endpoints', { key, body: { url: 'https://shop.example.com/hooks', ...body } });

  it('product_ids must be the merchant’s own in the mode of the endpoint, on creation and on change', async () => {
    const foreign = (await w.product(await w.merchant())).product_id;
    const sandbox = await w.call('POST', '/v1/products', {
      key: ada.sandboxKey,
      body: { name: 'X', price: { asset: 'USDC', amount: '1' } },
    });
    const { body: endpoint } = await create({ product_ids: [product.product_id, other.product_id] });
    expect(endpoint.product_ids).toEqual([product.product_id, other.product_id]);
    for (const id of [crypto.randomUUID(), foreign, sandbox.body.product_id]) {
      const refused = await create({ product_ids: [product.product_id, id] });
      expect([refused.status, refused.body.detail]).toEqual([
        422,
        [expect.objectContaining({ loc: ['body', 'product_ids', 1], type: 'unknown_product' })],
      ]);
      const path = `/v1/webhooks/endpoints/${endpoint.endpoint_id}`;
      expect((await w.call('PATCH', path, { key: ada.key, body: { product_ids: [id] } })).status).toBe(422);
      const unknown = `/v1/webhooks/endpoints/${crypto.randomUUID()}`;
      expect((await w.call('PATCH', unknown, { key: ada.key, body: { product_ids: [id] } })).status).toBe(404);
    }
    expect((await create({ product_ids: [sandbox.body.product_id] }, ada.sandboxKey)).status).toBe(201);
  });

  it('the filter passes support events with a ticket for one of its products or none', async () => {
    const box = `filter-${crypto.randomUUID()}`;
    const url = `${RECEIVER}/ok/${box}`;
    const created = await create({ url, event_types: ['support.*'], product_ids: [product.product_id] });
    expect(created.status).toBe(201);
    const pay = async (of: typeof product) => (await w.purchase(of, await w.chain.wallet())).payment.payment_id;
    const open = async (about: object) =>
      (
        await w.call('POST', '/v1/support/tickets', {
          key: ada.key,
          body: { subject: 'Help', body: 'Please look', category: 'other', ...about },
        })
      ).body.ticket_id;
    const [ofIt, ofOther, ofNone] = [
      await open({ payment_id: await pay(product) }),
      await open({ payment_id: await pay(other) }),
      await open({}),
    ];
    await w.deliver();
    await w.sweepEach(WEBHOOK_SWEEPS);
    await w.attempt();
    const tickets = (await received(box)).map(({ body }) => JSON.parse(body).subject.id);
    expect(new Set(tickets)).toEqual(new Set([ofIt, ofNone]));
    expect(tickets).not.toContain(ofOther);
  });
});
