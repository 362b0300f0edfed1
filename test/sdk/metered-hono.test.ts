import { Hono } from 'hono';
import { beforeAll, describe, expect, it } from 'vitest';
import { protect, type SvcMeteredEnv } from '../../sdk/src/hono.ts';
import { ChannelBuyer, credential } from '../support/clients/metered.ts';
import { World } from '../support/world.ts';
import { clientOf } from './real-client.ts';

const ANNOUNCE = '/__402/session/deliveries';

describe('metered sale with Hono', () => {
  const w = new World();
  let app: Hono<SvcMeteredEnv>;
  beforeAll(async () => {
    const { sandboxKey } = await w.merchant();
    const body = { name: 'Text by the piece', price: { asset: 'USDC', amount: '1' } };
    const product = (await w.call('POST', '/v1/products', { key: sandboxKey, body })).body.product_id;
    const sell = protect({ client: clientOf(w, sandboxKey), product, metered: { unitPrice: '0.00001', cap: '0.001', unitsMax: 3 } });
    app = new Hono<SvcMeteredEnv>();
    app.use('/text', sell).post(ANNOUNCE, sell);
    app.get('/text', (c) => {
      c.header('Cache-Control', 'public, max-age=60');
      return c.get('svc').stream(['one', 'two', 'three', 'four']);
    });
  });

  it('the app asks for a session, streams the reserved pieces and takes the voucher for the usage', async () => {
    const asked = await app.request('/text');
    const challenge = asked.headers.get('WWW-Authenticate')!;
    expect([asked.status, asked.headers.get('Cache-Control')]).toEqual([402, 'private, no-store']);
    const buyer = new ChannelBuyer();
    const ask = (payload: object) => app.request('/text', { headers: { Authorization: credential(challenge, payload) } });
    const answer = await ask(buyer.ephemeralOpen('1000'));
    expect([answer.status, answer.headers.has('Payment-Receipt'), answer.headers.get('Cache-Control')]).toEqual([
      200,
      true,
      'private, no-store',
    ]);
    const text = await answer.text();
    expect(text.match(/^data: (one|two|three|four)$/gm)).toEqual(['data: one', 'data: two', 'data: three']);
    const usage = JSON.parse(/event: mpp.usage\ndata: (.*)/.exec(text)![1]!);
    const paid = await ask({ action: 'commit', deliveryId: usage.deliveryId, voucher: buyer.voucher(BigInt(usage.amount)) });
    expect([paid.status, await paid.json()]).toEqual([200, expect.objectContaining({ status: 'committed', amount: '30' })]);
    const said = { amount: '10', deliveryId: 'mpp-1', sessionId: buyer.channelId };
    const announced = await app.request(ANNOUNCE, { method: 'POST', body: JSON.stringify(said) });
    expect([announced.status, await announced.json()]).toEqual([201, expect.objectContaining({ deliveryId: 'mpp-1', amount: '10' })]);
  });
});
