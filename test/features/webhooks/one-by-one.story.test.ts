import { expect, it } from 'vitest';
import { consumer, deliveries, emit, received } from '../../support/people/consumer.ts';
import { AttemptQueues } from '../../support/runner/queues.ts';
import { World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const get = (key: string, path: string) => w.call('GET', path, { key });

it('a delivery has its request and each attempt, with the body and the ids that the endpoint received', async () => {
  const merchant = await w.merchant();
  const mine = await consumer(w, merchant, 'ok', { event_types: ['payout.*'] });
  await w.deliver(await emit(w, merchant, 1));
  await new AttemptQueues(w, w.env).end();
  const [row] = await deliveries(mine);
  const { status, body } = await get(merchant.key, `/v1/webhooks/deliveries/${row!.id}`);
  expect(status).toBe(200);
  expect(body.attempts).toEqual([{ at: body.completed_at, response_status: 200, response_ms: expect.any(Number) }]);
  const [sent] = await received(mine);
  expect(body.request.body).toBe(sent!.body);
  expect(body.request.headers['webhook-id']).toBe(sent!.headers['webhook-id']);
  expect(body.request.headers['X-Svc-Attempt']).toBe('1');
  expect(JSON.stringify(body)).not.toContain('whsec_');
});

it('each failed attempt of a delivery is listed with its time and its result', async () => {
  const merchant = await w.merchant();
  const mine = await consumer(w, merchant, 'fail', { event_types: ['payout.*'] });
  await w.deliver(await emit(w, merchant, 1));
  const due = w.env.DB.prepare("UPDATE webhook_deliveries SET next_attempt_at = 1 WHERE merchant_id = ? AND status = 'retrying'").bind(
    merchant.userId,
  );
  for (let attempt = 1; attempt <= 3; attempt++) {
    await w.attempt();
    const [row] = await deliveries(mine);
    const { body } = await get(merchant.key, `/v1/webhooks/deliveries/${row!.id}`);
    expect([body.status, body.attempts.length, body.request.headers['X-Svc-Attempt']]).toEqual(['retrying', attempt, String(attempt)]);
    expect(body.attempts[0]).toEqual({ at: expect.any(String), response_status: 500, response_ms: expect.any(Number) });
    await due.run();
    w.attempts.length = 0;
    await w.sweepAlone('deliveries');
  }
});

it('a delivery shows the signature that a slow endpoint received, of a test too', async () => {
  const merchant = await w.merchant();
  const mine = await consumer(w, merchant, 'pause', { event_types: ['payout.*'] });
  const tested = await w.call('POST', `/v1/webhooks/endpoints/${mine.id}/test`, { key: merchant.key, body: {} });
  const { body } = await get(merchant.key, `/v1/webhooks/deliveries/${tested.body.delivery_id}`);
  const [sent] = await received(mine);
  expect(body.attempts[0].response_ms).toBeGreaterThan(900);
  expect(body.request.headers['X-Svc-Signature']).toBe(sent!.headers['x-svc-signature']);
});

it('an event, a delivery and a membership are found by their ids, and answer 404 to another merchant and in the other mode', async () => {
  const [merchant, other] = [await w.merchant(), await w.merchant()];
  const mine = await consumer(w, merchant, 'ok', { event_types: ['*'] });
  const product = await w.product(merchant);
  const payment = await w.connect(product);
  await w.confirm(payment.payment_id, await w.chain.pay(await w.chain.wallet(), payment));
  await w.deliver();
  const [listed] = (await get(merchant.key, '/v1/webhooks/events?event_type=payment.confirmed')).body.items;
  const [row] = await deliveries(mine);
  const [membership] = (await get(merchant.key, '/v1/memberships')).body.items;
  const found = [
    [`/v1/webhooks/events/${listed.id}`, listed],
    [`/v1/webhooks/deliveries/${row!.id}`, { delivery_id: row!.id }],
    [`/v1/memberships/${membership.membership_id}`, membership],
  ] as const;
  for (const [path, expected] of found) {
    expect([path, (await get(merchant.key, path)).body]).toEqual([path, expect.objectContaining(expected)]);
    for (const key of [other.key, merchant.sandboxKey]) expect([path, (await get(key, path)).status]).toEqual([path, 404]);
  }
  expect((await get(merchant.key, '/v1/webhooks/events/evt_01KAJ3V5Y7H2Q8M4N6P9R1S3T5')).status).toBe(404);
});
