// @module-tag quick
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utf8 } from '#core/encoding.ts';
import { newSecret } from '#features/webhooks/deliveries/signature.ts';
import type { SvcError } from '../../sdk/src/index.ts';
import { isKnownEvent, verifyWebhook } from '../../sdk/src/webhooks.ts';
import { BODY, EVENT, NOW, other, pick, readReason, refusal, type Signed, secret, sign, verify } from './signed-event.ts';

/** Each header family alone, and both as the service sends them. */
const FAMILIES: [string, (headers: Signed) => Signed][] = [
  ['X-Svc-Signature', (headers) => pick(headers, 'X-Svc-Signature')],
  ['Standard Webhooks', (headers) => pick(headers, 'webhook-id', 'webhook-timestamp', 'webhook-signature')],
  ['both families', (headers) => headers],
];

describe.each(FAMILIES)('verifyWebhook with %s', (_family, only) => {
  it('the event of a signed body is returned, from text and from bytes', async () => {
    for (const body of [BODY, utf8(BODY), new Uint8Array([...utf8('xx'), ...utf8(BODY)]).subarray(2), Uint8Array.from(utf8(BODY)).buffer])
      expect(await verify(body, only(sign()))).toEqual(EVENT);
  });

  it('either secret of a rotation verifies, and either of several known secrets', async () => {
    const rotating = only(sign([other, secret]));
    for (const key of [secret, other, [newSecret(), secret], [other, secret]]) expect(await verify(BODY, rotating, {}, key)).toEqual(EVENT);
    expect(await verify(BODY, only(sign()), {}, [other, secret])).toEqual(EVENT);
    expect(await readReason(BODY, rotating, {}, newSecret())).toBe('mismatch');
    expect(await readReason(BODY, only(sign()), {}, [other, newSecret()])).toBe('mismatch');
  });

  it('the headers may be Headers, a record of any case, or arrays', async () => {
    const headers = only(sign());
    const entries = Object.entries(headers);
    expect(await verify(BODY, new Headers(headers))).toEqual(EVENT);
    expect(await verify(BODY, Object.fromEntries(entries.map(([name, value]) => [name.toUpperCase(), value])))).toEqual(EVENT);
    expect(await verify(BODY, Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), [value]])))).toEqual(EVENT);
    expect(await verify(BODY, { ...headers, cookie: undefined, 'set-cookie': ['a', 'b'] })).toEqual(EVENT);
  });

  it('the time may differ from now by the tolerance in both directions', async () => {
    const at = (seconds: number, toleranceSeconds?: number) => {
      const options = toleranceSeconds === undefined ? {} : { toleranceSeconds };
      return verify(BODY, only(sign([secret], { now: NOW + seconds * 1000 })), options).then(
        () => 'accepted',
        ({ meta }: SvcError) => meta.reason,
      );
    };
    expect(await Promise.all([0, 300, -300, 301, -301].map((seconds) => at(seconds)))).toEqual([
      'accepted',
      'accepted',
      'accepted',
      'stale',
      'stale',
    ]);
    expect(await Promise.all([10, -10, 11, -11].map((seconds) => at(seconds, 10)))).toEqual(['accepted', 'accepted', 'stale', 'stale']);
    expect([await at(0, 0), await at(1, 0), await at(-400 * 86_400, Number.POSITIVE_INFINITY)]).toEqual(['accepted', 'stale', 'accepted']);
    expect(await at(0, Number.NaN)).toBe('stale');
  });

  it('the clock decides unless `now` is given', async () => {
    expect(await verifyWebhook(BODY, only(sign([secret], { now: Date.now() })), secret)).toEqual(EVENT);
    const late = only(sign([secret], { now: Date.now() - 310_000 }));
    await expect(verifyWebhook(BODY, late, secret)).rejects.toMatchObject({ meta: { reason: 'stale' } });
    expect(await verifyWebhook(BODY, late, secret, { now: new Date(Date.now() - 300_000) })).toEqual(EVENT);
  });

  it('a signature with any bit of body, time, id or signature changed is refused', async () => {
    const flipped = (bytes: Uint8Array, bit: number): Uint8Array =>
      bytes.map((byte, index) => (index === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
    const inBody = fc.integer({ min: 0, max: utf8(BODY).length * 8 - 1 });
    await fc.assert(
      fc.asyncProperty(inBody, async (bit) => {
        expect(await readReason(flipped(utf8(BODY), bit), only(sign()))).toBe('mismatch');
      }),
      { numRuns: 300 },
    );
    const signed = /^(?:X-Svc-Signature|webhook-.*)$/;
    for (const name of Object.keys(only(sign())).filter((one) => signed.test(one))) {
      const value = utf8(sign()[name]!);
      for (let bit = 0; bit < value.length * 8; bit++) {
        const headers = { ...only(sign()), [name]: String.fromCharCode(...flipped(value, bit)) };
        // The `v1,` of another scheme is no signature of Standard Webhooks, so X-Svc-Signature decides.
        const isOtherScheme = name === 'webhook-signature' && bit < 24 && 'X-Svc-Signature' in headers;
        if (isOtherScheme) expect(await verify(BODY, headers)).toEqual(EVENT);
        else
          expect([name, bit, await readReason(BODY, headers)]).toEqual([
            name,
            bit,
            expect.stringMatching(/^(?:mismatch|malformed_header)$/),
          ]);
      }
    }
  });

  it('a body that was parsed and stringified again is refused, and the message asks for the raw body', async () => {
    const pretty = JSON.stringify(EVENT, null, 2);
    for (const [sent, given] of [
      [pretty, JSON.stringify(JSON.parse(pretty))],
      [BODY, pretty],
      [BODY.replace('☂', '\\u2602'), BODY],
    ] as const) {
      expect(await verify(sent, only(sign([secret], { body: sent })))).toEqual(EVENT);
      const { reason, message } = await refusal(given, only(sign([secret], { body: sent })));
      expect([reason, message]).toEqual(['mismatch', expect.stringMatching(/raw body.*parsed and stringified again/)]);
    }
  });

  it.each([[EVENT], [null], [undefined], [7], [[BODY]]])('the body %o, which is neither text nor bytes, is refused', async (body) => {
    const { reason, message } = await refusal(body as never, only(sign()));
    expect([reason, message]).toEqual(['mismatch', expect.stringMatching(/neither text nor bytes.*raw body/)]);
  });

  it('a signed body that is no event is refused with not_json', async () => {
    for (const body of [
      '{}',
      '{"type":7}',
      '{"id":"evt_1","data":{}}',
      '[{"type":"payment.confirmed"}]',
      '',
      '{',
      'payment',
      '7',
      'null',
      '"text"',
      '[]',
      `\uFEFF${BODY}`,
      `${BODY}${BODY}`,
    ])
      expect([body, await readReason(body, only(sign([secret], { body })))]).toEqual([body, 'not_json']);
  });

  it('an event of an unknown type verifies, and isKnownEvent says so', async () => {
    const body = JSON.stringify({ ...EVENT, type: 'payment.teleported' });
    const event = await verify(body, only(sign([secret], { body })));
    expect([event.type, isKnownEvent(event)]).toEqual(['payment.teleported', false]);
  });

  it('no signature verifies by an empty secret', async () => {
    for (const key of ['', [], [''], [secret, ''], undefined, null, 7, [undefined]])
      await expect(verifyWebhook(BODY, only(sign()), key as string, { now: NOW })).rejects.toThrow(
        new TypeError('The webhook secret is empty. Pass the secret that the endpoint was created with.'),
      );
  });
});
