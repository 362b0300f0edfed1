import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { newSecret, type Signable, signatureHeaders } from '#features/webhooks/deliveries/signature.ts';

/** Verification as on a merchant's Node server: synchronous, with Node's crypto and unmodified libraries. */
const { webhooks } = new Stripe('sk_test_not_used');
const BODY = JSON.stringify({
  id: 'evt_01JD7Q2Z8X3V5W6Y7A8B9C0D1E',
  type: 'payment.confirmed',
  data: { object: { name: 'Ada’s weather ☂' } },
});
const signable: Signable = {
  eventId: 'evt_01JD7Q2Z8X3V5W6Y7A8B9C0D1E',
  eventType: 'payment.confirmed',
  deliveryId: 7,
  attempt: 1,
  body: BODY,
  signedPayload: 'timestamp.body',
};
const [secret, other] = [newSecret(), newSecret()];
const sign = (secrets: string[], now = Date.now()) => signatureHeaders(signable, secrets, now);
const byStripe = (body: string | Buffer, headers: Record<string, string>, key: string) =>
  webhooks.constructEvent(body, headers['X-Svc-Signature']!, key);
const byStandard = (body: string | Buffer, headers: Record<string, string>, key: string) => new Webhook(key).verify(body, headers);

describe.each([
  ['stripe, constructEvent', byStripe],
  ['standardwebhooks, verify', byStandard],
])('%s', (_library, verify) => {
  it('the library accepts our signature, as text and as bytes', () => {
    for (const body of [BODY, Buffer.from(BODY)]) expect(verify(body, sign([secret]), secret)).toEqual(JSON.parse(BODY));
  });

  it('the library accepts either secret during a rotation, and no third', () => {
    const headers = sign([other, secret]);
    for (const key of [secret, other]) expect(verify(BODY, headers, key)).toEqual(JSON.parse(BODY));
    expect(() => verify(BODY, headers, newSecret())).toThrow();
  });

  it('the library refuses another body, another time, and a signature older than five minutes', () => {
    expect(() => verify(`${BODY} `, sign([secret]), secret)).toThrow();
    const [headers, later] = [sign([secret]), sign([secret], Date.now() + 5000)];
    const mixed = {
      ...headers,
      'X-Svc-Signature': headers['X-Svc-Signature']!.replace(/t=\d+/, later['X-Svc-Signature']!.split(',')[0]!),
      'webhook-timestamp': later['webhook-timestamp']!,
    };
    expect(() => verify(BODY, mixed, secret)).toThrow();
    expect(verify(BODY, sign([secret], Date.now() - 290_000), secret)).toEqual(JSON.parse(BODY));
    expect(() => verify(BODY, sign([secret], Date.now() - 310_000), secret)).toThrow();
  });
});
