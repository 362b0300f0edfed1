import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { beforeAll, describe, expect, it } from 'vitest';
import { base64 } from '#core/encoding.ts';
import { EVENT_TYPES } from '#rules/events.ts';
import { type EventOf, isKnownEvent, type SvcEvent, verifyWebhook } from '../../sdk/src/webhooks.ts';
import { consumer, received } from '../support/people/consumer.ts';
import { type Merchant, World } from '../support/world.ts';
import { BODY, EVENT, NOW, other, readReason, SECONDS, secret, sign, verify } from './signed-event.ts';

const { webhooks: stripe } = new Stripe('sk_test_not_used');
const provider = Stripe.createSubtleCryptoProvider();

describe('deliveries of the service', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });
  const test = (id: string, event_type?: string) =>
    w.call('POST', `/v1/webhooks/endpoints/${id}/test`, { key: merchant.key, body: { event_type } });
  const refused = (reason: string) => ({ code: 'webhook_signature_failed', meta: { reason } });

  it('the event of a purchase verifies, and its object is the payment', async () => {
    const mine = await consumer(w, merchant, 'ok', { event_types: ['payment.confirmed'] });
    const { payment } = await w.purchase(await w.product(merchant), await w.chain.wallet());
    await w.deliver();
    await w.attempt();
    const [got, ...more] = await received(mine);
    expect(more).toEqual([]);
    const event = await verifyWebhook(got!.body, got!.headers, mine.secret);
    expect(event).toEqual(JSON.parse(got!.body));
    expect(event).toMatchObject({ type: 'payment.confirmed', data: { object: { payment_id: payment.payment_id } } });
    await expect(verifyWebhook(got!.body.replace('"5"', '"500"'), got!.headers, mine.secret)).rejects.toMatchObject(refused('mismatch'));
  });

  it('an event of every type verifies and is known', async () => {
    const mine = await consumer(w, merchant, 'ok');
    for (const type of EVENT_TYPES) expect((await test(mine.id, type)).body.succeeded).toBe(true);
    const events = await Promise.all((await received(mine)).map(({ body, headers }) => verifyWebhook(body, headers, mine.secret)));
    expect(events.map(({ type, test }) => [type, test])).toEqual(EVENT_TYPES.map((type) => [type, true]));
    expect(events.filter((event) => !isKnownEvent(event))).toEqual([]);
  });

  it('the old and the new secret verify during a rotation', async () => {
    const mine = await consumer(w, merchant, 'ok');
    const { body: rotated } = await w.call('POST', `/v1/webhooks/endpoints/${mine.id}/rotate-secret`, { key: merchant.key, body: {} });
    await test(mine.id);
    const [got] = await received(mine);
    expect(got!.headers['x-svc-signature']!.match(/v1=/g)).toHaveLength(2);
    for (const key of [mine.secret, rotated.secret, [rotated.secret, mine.secret]])
      expect((await verifyWebhook(got!.body, got!.headers, key)).type).toBe('webhook.test');
    await expect(verifyWebhook(got!.body, got!.headers, other)).rejects.toMatchObject(refused('mismatch'));
  });

  it('an endpoint that signs the body alone needs the option', async () => {
    const mine = await consumer(w, merchant, 'ok', { signed_payload: 'body' });
    await test(mine.id);
    const [got] = await received(mine);
    expect((await verifyWebhook(got!.body, got!.headers, mine.secret, { signedPayload: 'body' })).type).toBe('webhook.test');
    await expect(verifyWebhook(got!.body, got!.headers, mine.secret)).rejects.toMatchObject(refused('mismatch'));
  });
});

describe('other libraries', () => {
  it('a header made by stripe verifies, with any secret', async () => {
    for (const key of [secret, 'whsec_test_secret', 'no prefix']) {
      const header = await stripe.generateTestHeaderStringAsync({
        payload: BODY,
        secret: key,
        timestamp: SECONDS,
        cryptoProvider: provider,
      });
      expect(await verify(BODY, { 'X-Svc-Signature': header }, {}, key)).toEqual(EVENT);
      expect(await readReason(BODY, { 'X-Svc-Signature': header }, {}, `${key} `)).toBe('mismatch');
    }
  });

  it('headers made by standardwebhooks verify, with and without the prefix of the secret', async () => {
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(SECONDS),
      'webhook-signature': new Webhook(secret).sign('msg_1', new Date(NOW), BODY),
    };
    for (const key of [secret, secret.slice(6)]) expect(await verify(BODY, headers, {}, key)).toEqual(EVENT);
    expect(await readReason(BODY, headers, {}, other)).toBe('mismatch');
  });

  it('stripe, standardwebhooks and verifyWebhook agree about any body, key and change', async () => {
    const secrets = fc.uint8Array({ minLength: 24, maxLength: 64 }).map((bytes) => `whsec_${base64.encode(bytes)}`);
    const change = fc.constantFrom<(body: string) => string>(
      (body) => body,
      (body) => `${body} `,
      (body) => body.slice(1),
      (body) => body.normalize('NFD'),
    );
    const accepts = (work: Promise<unknown>) =>
      work.then(
        () => true,
        () => false,
      );
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()),
        secrets,
        fc.boolean(),
        change,
        async (event, key, isOurs, alter) => {
          const [body, now] = [JSON.stringify({ ...event, type: 'payment.confirmed' }), Date.now()];
          const headers = sign([isOurs ? key : other], { body, now });
          const changed = alter(body);
          const answers = await Promise.all([
            accepts(stripe.constructEventAsync(changed, headers['X-Svc-Signature']!, key, 300, provider)),
            accepts(Promise.resolve().then(() => new Webhook(key).verify(changed, headers))),
            accepts(verifyWebhook(changed, headers, key)),
          ]);
          expect(answers).toEqual(Array(3).fill(isOurs && changed === body));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('event types', () => {
  it('no other type is known', () => {
    for (const type of ['', 'payment', 'payment.*', '*', 'toString', 'PAYMENT.CONFIRMED'])
      expect([type, isKnownEvent({ type })]).toEqual([type, false]);
  });

  it('a switch over the type narrows the event', async () => {
    const nameOf = (event: SvcEvent): string => {
      switch (event.type) {
        case 'payment.confirmed': {
          const confirmed: EventOf<'payment.confirmed'> = event;
          return confirmed.type;
        }
        // @ts-expect-error No such event exists.
        case 'payment.teleported':
          return 'teleported';
        default:
          return 'other';
      }
    };
    expect(nameOf(await verify(BODY, sign()))).toBe('payment.confirmed');
  });
});
