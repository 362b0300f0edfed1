import { describe, expect, it } from 'vitest';
import { consumer, deliveries, emit, flip, received } from '../../support/people/consumer.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const on = (m: Merchant, method: string, endpointId: string, body?: unknown, action = '') =>
  w.call(method, `/v1/webhooks/endpoints/${endpointId}${action}`, { key: m.key, body });
const SINCE = new Date(Date.now() - 3_600_000).toISOString();

describe('recovery of deliveries', () => {
  it('a recovery schedules undelivered events in the time range once, and none of another endpoint', async () => {
    const m = await w.merchant();
    const product = await w.product(m);
    const mine = await consumer(w, m, 'flip', { event_types: ['payment.*'] });
    await w.connect(product);
    await w.deliver();
    await w.attempt();
    const other = await consumer(w, m, 'ok', { event_types: ['webhook.endpoint_disabled'] });
    await on(m, 'POST', other.id, {}, '/test');
    await testEnv.DB.prepare("UPDATE webhook_deliveries SET status = 'failed', next_attempt_at = NULL WHERE endpoint_id = ?")
      .bind(mine.id)
      .run();
    const recover = async (body: unknown, id = mine.id) =>
      (await on(m, 'POST', id, body, '/recover')) as { status: number; body: { scheduled: number } };
    expect((await recover({ since: SINCE, until: new Date(Date.now() - 1_800_000).toISOString() })).body).toEqual({ scheduled: 0 });
    const answer = await recover({ since: SINCE });
    expect([answer.status, answer.body]).toEqual([202, { scheduled: 1 }]);
    expect((await recover({ since: SINCE })).body).toEqual({ scheduled: 0 });
    await flip(mine, 200);
    await w.attempt();
    const got = await received(mine);
    expect(got.map(({ headers }) => headers['x-svc-event-id'])).toEqual(Array(2).fill(got[0]!.headers['x-svc-event-id']));
    for (const bad of [{}, { since: 'yesterday' }, { since: SINCE, until: 5 }]) expect((await recover(bad)).status).toBe(422);
    await on(m, 'DELETE', mine.id);
    expect((await recover({ since: SINCE })).status).toBe(409);
  });

  it('a recovery with since in the future gets 422 at since', async () => {
    const m = await w.merchant();
    const mine = await consumer(w, m, 'ok');
    const since = new Date(Date.now() + 3_600_000).toISOString();
    for (const body of [{ since }, { since, until: new Date(Date.now() + 7_200_000).toISOString() }]) {
      const answer = (await on(m, 'POST', mine.id, body, '/recover')) as { status: number; body: { detail: { loc: string[] }[] } };
      expect([answer.status, answer.body.detail[0]?.loc]).toEqual([422, ['body', 'since']]);
    }
  });

  it('a recovery finds events behind any number that the endpoint does not want', async () => {
    const m = await w.merchant();
    const product = await w.product(m);
    // A call reads at most 40 pages of 500 events.
    for (let i = 0; i < 21; i++) await emit(w, m, 1000);
    await w.connect(product);
    await w.connect(await w.product(m));
    const mine = await consumer(w, m, 'ok', { event_types: ['payment.*'], product_ids: [product.product_id] });
    expect((await on(m, 'POST', mine.id, { since: SINCE }, '/recover')).body).toEqual({ scheduled: 1 });
    expect((await on(m, 'POST', mine.id, { since: SINCE }, '/recover')).body).toEqual({ scheduled: 0 });
    expect(await deliveries(mine)).toMatchObject([{ status: 'pending', max_attempts: 10 }]);
  });
});

describe('webhook URLs on the service’s own host', () => {
  it('an own host is refused when saved, and at delivery if it became the own host later', async () => {
    const env = { ...w.env, BASE_URL: 'https://pay.svc.dev' };
    const m = await w.merchant();
    for (const url of ['https://pay.svc.dev/hooks', 'https://PAY.svc.dev./', 'https://a.pay.svc.dev:8443/']) {
      const { status, body } = await w.call('POST', '/v1/webhooks/endpoints', { key: m.key, body: { url }, env });
      expect([status, body.detail[0].type]).toEqual([422, 'own_host']);
    }
    const { body: saved } = await w.call('POST', '/v1/webhooks/endpoints', { key: m.key, body: { url: 'https://pay.svc.dev/hooks' } });
    const { body } = await w.call('POST', `/v1/webhooks/endpoints/${saved.endpoint_id}/test`, { key: m.key, body: {}, env });
    expect([body.succeeded, body.error]).toEqual([false, 'refused: own_host']);
  });
});
