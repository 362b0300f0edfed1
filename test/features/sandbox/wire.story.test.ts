import { beforeAll, describe, expect, it } from 'vitest';
import { hmacSha256 } from '#core/crypto.ts';
import { hex, utf8 } from '#core/encoding.ts';
import { runScenario } from '../../support/clients/sandbox.ts';
import { attemptDue, type Consumer, consumer, deliveries, type Habit, pass, received } from '../../support/people/consumer.ts';
import type { Received } from '../../support/servers/receiver.ts';
import { type Merchant, World } from '../../support/world.ts';

const BOUGHT = [
  'payment.created',
  'payment.submitted',
  'payment.confirmed',
  'membership.activated',
  'receipt.created',
  'entitlement.granted',
];

describe('webhooks of a sandbox session', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  const listen = (merchant: Merchant, habit: Habit = 'ok', key = merchant.sandboxKey): Promise<Consumer> =>
    consumer(w, merchant, habit, {}, key);
  const typeOf = ({ headers }: Received) => headers['x-svc-event-type']!;
  const nameOf = ({ headers, body }: Received) => [headers['x-svc-event-id'], headers['x-svc-delivery-id'], headers['x-svc-attempt'], body];
  function expectSigned({ secret }: Consumer, { headers, body, at }: Received): void {
    const [, timestamp, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['x-svc-signature']!)!;
    expect(signature).toBe(hex.encode(hmacSha256(utf8(secret), utf8(`${timestamp}.${body}`))));
    // The timestamp uses wall time, not the session clock.
    expect(Math.abs(Number(timestamp) * 1000 - at)).toBeLessThan(60_000);
    expect(JSON.parse(body).livemode).toBe(false);
  }

  it('duplicate delivery sends the same bytes under the same event, delivery and attempt, each time signed', async () => {
    const hook = await listen(ada);
    const session = await runScenario(w, ada, 'webhook_duplicate', { endpoint_id: hook.id });
    const got = await received(hook);
    expect(session.status).toBe('completed');
    for (const one of got) expectSigned(hook, one);
    const confirmations = got.filter((one) => typeOf(one) === 'payment.confirmed');
    expect(confirmations).toHaveLength(2);
    expect(nameOf(confirmations[1]!)).toEqual(nameOf(confirmations[0]!));
    expect(nameOf(confirmations[0]!).every(Boolean)).toBe(true);
    // Every other event is delivered once. The repetition is no separate delivery.
    expect(got.map(typeOf).sort()).toEqual([...BOUGHT, 'payment.confirmed'].sort());
    expect((await deliveries(hook)).map(({ status, attempt }) => [status, attempt])).toEqual(BOUGHT.map(() => ['succeeded', 1]));
    // Deliveries are part of the session and end with it. Sandbox analytics contain none.
    expect(session.deliveries).toMatchObject({ succeeded: BOUGHT.length });
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM ended_deliveries').first('n')).toBe(0);
    expect(session.deliveries).toEqual({ sent: 6, succeeded: 6, failed: 0 });
  });

  it('out-of-order delivery sends payment.confirmed before payment.submitted', async () => {
    const hook = await listen(ada);
    await runScenario(w, ada, 'webhook_out_of_order', { endpoint_id: hook.id });
    const got = await received(hook);
    for (const one of got) expectSigned(hook, one);
    const types = got.map(typeOf);
    expect(types.indexOf('payment.confirmed')).toBeLessThan(types.indexOf('payment.submitted'));
    expect([...types].sort()).toEqual([...BOUGHT].sort());
    const sequence = (type: string) => Date.parse(JSON.parse(got[types.indexOf(type)]!.body).created_at);
    expect(sequence('payment.submitted')).toBeLessThanOrEqual(sequence('payment.confirmed'));
  });

  it('events go to the named endpoint or all endpoints of the merchant’s sandbox, and to no other', async () => {
    const bob = await w.merchant();
    const [named, other, live, foreign] = [await listen(ada), await listen(ada), await listen(ada, 'ok', ada.key), await listen(bob)];
    await runScenario(w, ada, 'payment_failed', { endpoint_id: named.id });
    // Attempts run concurrently, so the order varies. The creation of `other` is an event of the merchant, not of the session.
    const readTypes = async (one: Consumer) =>
      (await received(one))
        .map(typeOf)
        .filter((type) => type !== 'webhook.endpoint_created')
        .sort();
    expect(await readTypes(named)).toEqual(['payment.created', 'payment.failed']);
    for (const silent of [other, live, foreign]) expect(await received(silent)).toEqual([]);
    await runScenario(w, ada, 'payment_failed');
    expect(await readTypes(named)).toEqual(['payment.created', 'payment.created', 'payment.failed', 'payment.failed']);
    expect(await readTypes(other)).toEqual(['payment.created', 'payment.failed']);
    for (const silent of [live, foreign]) expect(await received(silent)).toEqual([]);
  });

  it('a failed delivery is retried in wall time: the second attempt after five seconds, four in total', async () => {
    const bob = await w.merchant();
    const hook = await listen(bob, 'fail');
    const session = await runScenario(w, bob, 'payment_failed', { advance_seconds: 40 * 86_400 });
    expect(session.status).toBe('completed');
    const rows = await deliveries(hook);
    expect(rows.map(({ attempt, max_attempts, status }) => [attempt, max_attempts, status])).toEqual([
      [1, 4, 'retrying'],
      [1, 4, 'retrying'],
    ]);
    for (const { next_attempt_at } of rows) expect(Math.abs(next_attempt_at! - Date.now() - 5000)).toBeLessThan(30_000);
    await pass(hook, 5000);
    await attemptDue(w, hook);
    const got = await received(hook);
    for (const one of got) expectSigned(hook, one);
    const attempts = (type: string) => got.filter((one) => typeOf(one) === type).map(({ headers }) => headers['x-svc-attempt']);
    expect([attempts('payment.created'), attempts('payment.failed')]).toEqual([
      ['1', '2'],
      ['1', '2'],
    ]);
  });
});
