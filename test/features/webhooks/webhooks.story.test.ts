import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  attemptDue,
  consumer,
  type DeliveryRow,
  deliveries,
  emit,
  endpoint,
  flip,
  pass,
  received,
  waiting,
} from '../../support/people/consumer.ts';
import { type Merchant, World } from '../../support/world.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SCHEDULE = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
let merchant: Merchant;
/** Runs its fifteen seconds concurrently with the other tests, in its own world. */
let timedOut: Promise<(DeliveryRow | undefined)[]>;
async function attemptSilent(): Promise<(DeliveryRow | undefined)[]> {
  const own = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const owner = await own.merchant();
  const both = await Promise.all([consumer(own, owner, 'hang'), consumer(own, owner, 'slow')]);
  await emit(own, owner);
  await own.deliver();
  await own.attempt();
  return Promise.all(both.map(async (mine) => (await deliveries(mine))[0]));
}
beforeAll(async () => {
  merchant = await w.merchant();
  timedOut = attemptSilent();
});
const forget = () => {
  w.queue.sent.length = 0;
  w.attempts.length = 0;
};
async function announce(owner: Merchant, count = 1): Promise<void> {
  forget();
  await emit(w, owner, count);
  await w.deliver();
}
const disabledEvents = async (owner: Merchant): Promise<{ subject: { id: string } }[]> =>
  (await w.call('GET', '/v1/webhooks/events?event_type=webhook.endpoint_disabled', { key: owner.key })).body.items;

describe('event of a real purchase', () => {
  it('the official libraries accept the signature, and the body is byte-equal to the event list', async () => {
    const mine = await consumer(w, merchant, 'ok', { event_types: ['payment.confirmed'] });
    const { payment } = await w.purchase(await w.product(merchant), await w.chain.wallet());
    await w.deliver();
    await w.attempt();
    const [got, ...more] = await received(mine);
    expect(more).toEqual([]);
    const { body, headers } = got!;
    const stripe = new Stripe('sk_test_unused', { httpClient: Stripe.createFetchHttpClient() });
    const event = await stripe.webhooks.constructEventAsync(body, headers['x-svc-signature']!, mine.secret);
    expect(event).toMatchObject({ type: 'payment.confirmed', livemode: true, data: { object: { payment_id: payment.payment_id } } });
    expect(new Webhook(mine.secret).verify(body, headers)).toEqual(event);
    expect(() => new Webhook(mine.secret).verify(`${body} `, headers)).toThrow();
    await expect(stripe.webhooks.constructEventAsync(`${body} `, headers['x-svc-signature']!, mine.secret)).rejects.toThrow();
    const { body: page } = await w.call('GET', '/v1/webhooks/events?event_type=payment.confirmed', { key: merchant.key });
    expect(JSON.stringify(page.items.find(({ id }: { id: string }) => id === event.id))).toBe(body);
    expect(headers).toMatchObject({ 'x-svc-event-id': event.id, 'x-svc-event-type': 'payment.confirmed', 'x-svc-attempt': '1' });
    const { body: listed } = await w.call('GET', `/v1/webhooks/deliveries?endpoint_id=${mine.id}`, { key: merchant.key });
    expect(listed.items).toHaveLength(1);
    expect(listed.items[0]).toMatchObject({ status: 'succeeded', attempt: 1, response_status: 200, response_excerpt: 'thanks' });
    expect(listed.items[0].response_ms).toBeGreaterThanOrEqual(0);
    expect(headers['x-svc-delivery-id']).toBe(String(listed.items[0].delivery_id));
  });

  it('the event goes only to endpoints with its type, product and mode that existed at its time', async () => {
    const owner = await w.merchant();
    const [product, other] = [await w.product(owner), await w.product(owner)];
    const [all, group, wrongType, right, wrongProduct, sandbox] = await Promise.all([
      consumer(w, owner, 'ok'),
      consumer(w, owner, 'ok', { event_types: ['payment.*'] }),
      consumer(w, owner, 'ok', { event_types: ['payout.*'] }),
      consumer(w, owner, 'ok', { product_ids: [product.product_id] }),
      consumer(w, owner, 'ok', { product_ids: [other.product_id] }),
      consumer(w, owner, 'ok', {}, owner.sandboxKey),
    ]);
    const stranger = await consumer(w, merchant, 'ok');
    forget();
    await w.purchase(product, await w.chain.wallet());
    await new Promise((resolve) => setTimeout(resolve, 5));
    const late = await consumer(w, owner, 'ok');
    await w.deliver();
    await w.attempt();
    const types = await Promise.all(
      [all, group, wrongType, right, wrongProduct, sandbox, stranger, late].map(async (who) =>
        (await received(who))
          .map(({ headers }) => headers['x-svc-event-type'])
          .filter((type) => type !== 'webhook.endpoint_created')
          .sort(),
      ),
    );
    const payment = ['payment.confirmed', 'payment.created', 'payment.submitted'];
    const everything = ['membership.activated', ...payment, 'receipt.created'];
    expect(types).toEqual([everything, payment, [], everything, [], [], [], []]);
  });
});

describe('failing consumer', () => {
  it('a failing consumer gets ten scheduled attempts with the same bytes through the slow queue, then failed', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'fail');
    await announce(owner);
    expect(w.attempts).toMatchObject([{ isSlow: false }]);
    await w.attempt();
    for (const delay of SCHEDULE) {
      const [row] = await deliveries(mine);
      const { last_failure_at: failedAt } = await endpoint(mine);
      expect(row!.status).toBe('retrying');
      const gap = row!.next_attempt_at! - failedAt!;
      expect(gap).toBeGreaterThanOrEqual(delay <= 5 * SECOND ? delay : delay * 0.9 - 1);
      expect(gap).toBeLessThanOrEqual(delay <= 5 * SECOND ? delay : delay * 1.1 + 1);
      // The queue takes short delays, the sweep longer ones.
      const expected = gap <= 10 * MINUTE ? [{ isSlow: true, delaySeconds: Math.ceil(gap / SECOND) }] : [];
      expect(await waiting(w, mine)).toMatchObject(expected);
      await pass(mine, gap);
      expect(await attemptDue(w, mine)).toMatchObject([{ isSlow: true }]);
    }
    const got = await received(mine);
    expect(got.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9', '10']);
    expect(new Set(got.map(({ body }) => body)).size).toBe(1);
    expect(new Set(got.map(({ headers }) => headers['x-svc-delivery-id'])).size).toBe(1);
    await pass(mine, DAY);
    expect(await attemptDue(w, mine)).toEqual([]);
    const { body } = await w.call('GET', `/v1/webhooks/deliveries?endpoint_id=${mine.id}&status=failed`, { key: owner.key });
    expect(body.items).toMatchObject([{ attempt: 10, max_attempts: 10, response_status: 500 }]);
    expect(body.items[0].completed_at).toBeDefined();
    expect(body.items[0].response_excerpt).toBe('no token=[redacted] here');
  });

  it('a failing sandbox consumer gets four attempts', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'fail', {}, owner.sandboxKey);
    await emit(w, owner, 1, { livemode: false });
    await w.deliver();
    for (let i = 0; i < 6; i++) {
      await attemptDue(w, mine);
      await pass(mine, HOUR);
    }
    expect(await received(mine)).toHaveLength(4);
    expect(await deliveries(mine)).toMatchObject([{ status: 'failed', attempt: 4 }]);
  });

  it.each([
    ['redirect', { response_status: 302, error: 'redirects are not followed' }],
    ['reset', { response_status: null, error: 'connection failed' }],
  ] as const)('a %s answer fails the attempt, is not followed, and is retried', async (habit, shown) => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, habit);
    await announce(owner);
    await w.attempt();
    expect(await received(mine)).toHaveLength(1);
    expect(await received({ ...mine, box: `${mine.box}-followed` })).toEqual([]);
    expect(await deliveries(mine)).toMatchObject([{ status: 'retrying', attempt: 1, ...shown }]);
    expect(await endpoint(mine)).toMatchObject({ status: 'enabled', failure_streak: 1 });
  });

  it('a Retry-After delays the next attempt accordingly', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'later');
    await announce(owner);
    await w.attempt();
    const [row] = await deliveries(mine);
    expect(Math.abs(row!.next_attempt_at! - Date.now() - 2 * HOUR)).toBeLessThan(10 * SECOND);
    await pass(mine, HOUR);
    expect(await attemptDue(w, mine)).toEqual([]);
  });

  it('an answer of 410 disables the endpoint, sends an event and cancels waiting deliveries', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'gone');
    await announce(owner, 2);
    const [first, second] = w.attempts.splice(0);
    await w.attempt([first!]);
    expect(await endpoint(mine)).toMatchObject({ status: 'disabled', disabled_reason: 'gone' });
    await w.attempt([second!]);
    expect((await deliveries(mine)).map(({ status }) => status)).toEqual(['failed', 'cancelled']);
    expect(await received(mine)).toHaveLength(1);
    expect((await disabledEvents(owner)).map(({ subject }) => subject.id)).toEqual([mine.id]);
  });

  it('an endpoint is disabled with an event after five days, and not earlier', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'fail');
    await announce(owner);
    await w.attempt();
    await pass(mine, 5 * DAY - HOUR);
    await attemptDue(w, mine);
    expect((await endpoint(mine)).status).toBe('enabled');
    await pass(mine, HOUR);
    await attemptDue(w, mine);
    expect(await endpoint(mine)).toMatchObject({ status: 'disabled', disabled_reason: 'no_success_for_5_days' });
    expect((await disabledEvents(owner)).map(({ subject }) => subject.id)).toEqual([mine.id]);
    await pass(mine, DAY);
    await attemptDue(w, mine);
    expect(await received(mine)).toHaveLength(3);
    expect((await deliveries(mine)).map(({ status }) => status)).toEqual(['cancelled']);
  });

  it('an endpoint that recovers is healthy at once: no failure streak, and new events use the fast queue', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'flip');
    await announce(owner);
    await w.attempt();
    await pass(mine, MINUTE);
    await attemptDue(w, mine);
    expect((await endpoint(mine)).failure_streak).toBe(2);
    await announce(owner);
    expect(w.attempts).toMatchObject([{ isSlow: true }]);
    await flip(mine, 204);
    await w.attempt();
    expect(await endpoint(mine)).toMatchObject({ failure_streak: 0, failing_since: null });
    await announce(owner);
    expect(w.attempts).toMatchObject([{ isSlow: false }]);
    await pass(mine, HOUR);
    await attemptDue(w, mine);
    expect((await deliveries(mine)).map(({ status, attempt }) => [status, attempt])).toEqual([
      ['succeeded', 3],
      ['succeeded', 1],
      ['succeeded', 1],
    ]);
  });

  it('twenty failures in a row open the circuit: one probe in five minutes, and held deliveries are not attempts', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'flip');
    await announce(owner, 20);
    await w.attempt();
    expect(await endpoint(mine)).toMatchObject({ failure_streak: 20 });
    await announce(owner, 3);
    await w.attempt();
    expect(await received(mine)).toHaveLength(20);
    const held = async () => (await deliveries(mine)).slice(20);
    expect(await held()).toMatchObject(Array(3).fill({ status: 'pending', attempt: 0, lease_until: 0 }));
    const { last_failure_at: failedAt } = await endpoint(mine);
    // The next probe is a held delivery, and the others have no time until it succeeds.
    expect((await held()).map((row) => row.next_attempt_at)).toEqual([null, null, failedAt! + 5 * MINUTE]);
    await pass(mine, 5 * MINUTE);
    await attemptDue(w, mine);
    expect(await received(mine)).toHaveLength(21);
    await flip(mine, 200);
    for (let i = 0; i < 3; i++) {
      await pass(mine, 6 * MINUTE);
      await attemptDue(w, mine);
    }
    expect((await deliveries(mine)).every(({ status }) => status === 'succeeded')).toBe(true);
  });
});

describe('consumer responses', () => {
  it('the status decides: a body that breaks off afterwards changes nothing', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'broken');
    await announce(owner);
    await w.attempt();
    expect(await deliveries(mine)).toMatchObject([{ status: 'succeeded', response_status: 200, error: null }]);
    expect((await deliveries(mine))[0]!.response_excerpt ?? 'thanks, and').toBe('thanks, and');
  });

  it('the stored response is cut to four kilobytes', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'big');
    await announce(owner);
    await w.attempt();
    const [row] = await deliveries(mine);
    expect(row).toMatchObject({ status: 'succeeded', response_status: 200 });
    expect(row!.response_excerpt).toHaveLength(4096);
  });
});

describe('disabled endpoint', () => {
  it('disabling cancels pending deliveries, and new events skip the endpoint', async () => {
    const owner = await w.merchant();
    const mine = await consumer(w, owner, 'ok');
    await announce(owner);
    await w.call('DELETE', `/v1/webhooks/endpoints/${mine.id}`, { key: owner.key });
    await w.attempt();
    await announce(owner);
    expect(w.attempts).toEqual([]);
    expect(await received(mine)).toEqual([]);
    const { body } = await w.call('GET', `/v1/webhooks/deliveries?endpoint_id=${mine.id}`, { key: owner.key });
    expect(body.items).toMatchObject([{ status: 'cancelled', attempt: 0 }]);
  });
});

describe('slow or unresponsive consumer', () => {
  it('a consumer without an answer within 15 s is recorded as a timeout', async () => {
    for (const row of await timedOut) {
      expect(row).toMatchObject({ status: 'retrying', attempt: 1, response_status: null, error: 'timeout' });
      expect(row!.response_ms).toBeGreaterThanOrEqual(14_900);
      expect(row!.response_ms).toBeLessThan(17_000);
    }
  });
});
