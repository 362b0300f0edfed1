// @module-tag quick
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { hmacSha256 } from '#core/crypto.ts';
import { base64, hex, utf8 } from '#core/encoding.ts';
import type { SvcError } from '../../sdk/src/index.ts';
import { BODY, EVENT, NOW, other, pick, readReason, refusal, SECONDS, type Signed, secret, sign, verify } from './signed-event.ts';

describe('X-Svc-Signature', () => {
  const mac = (text: string, key = secret): string => hex.encode(hmacSha256(utf8(key), utf8(text)));
  const [good, bad] = [mac(`${SECONDS}.${BODY}`), '0'.repeat(64)];
  const read = (header: string | string[]) =>
    verify(BODY, { 'x-svc-signature': header }).then(
      ({ id }) => id,
      ({ meta }: SvcError) => meta.reason,
    );

  it.each([
    ['two times', `t=${SECONDS},t=${SECONDS},v1=${good}`],
    ['two times in two headers', `t=${SECONDS},v1=${good}, t=${SECONDS},v1=${good}`],
    ['no time', `v1=${good}`],
    ['an empty time', `t=,v1=${good}`],
    ['a time in words', `t=now,v1=${good}`],
    ['a negative time', `t=-${SECONDS},v1=${good}`],
    ['a time with a fraction', `t=${SECONDS}.5,v1=${good}`],
    ['a time in hex', `t=0x6ab13b80,v1=${good}`],
    ['a time of 13 digits', `t=${NOW},v1=${good}`],
    ['no v1', `t=${SECONDS}`],
    ['another scheme only', `t=${SECONDS},v0=${good},v2=${good}`],
    ['an empty signature', `t=${SECONDS},v1=`],
    ['a short signature', `t=${SECONDS},v1=${good.slice(0, -1)}`],
    ['a long signature', `t=${SECONDS},v1=${good}0`],
    ['a short signature next to a valid one', `t=${SECONDS},v1=${good},v1=abc`],
    ['semicolons', `t=${SECONDS};v1=${good}`],
    ['capitals', `T=${SECONDS},V1=${good}`],
    ['no pairs', 'signature'],
  ])('a header with %s is malformed', async (_case, header) => {
    expect(await read(header)).toBe('malformed_header');
  });

  it('two headers in an array are malformed', async () => {
    expect(await read([`t=${SECONDS},v1=${good}`])).toBe(EVENT.id);
    expect(await read([`t=${SECONDS},v1=${good}`, `t=${SECONDS},v1=${good}`])).toBe('malformed_header');
    expect(await readReason(BODY, { 'X-Svc-Signature': `t=${SECONDS},v1=${good}`, 'x-svc-signature': `t=${SECONDS},v1=${good}` })).toBe(
      'malformed_header',
    );
  });

  it('other schemes, other signatures, another order and spaces are accepted', async () => {
    for (const header of [
      `v1=${good},t=${SECONDS}`,
      `t=${SECONDS}, v1=${good}`,
      `t=${SECONDS},v0=abc,v1=${good},v2=${bad},v1a=x`,
      `t=${SECONDS},v1=${bad},v1=${good}`,
      `t=${SECONDS},v1=${good},v1=${bad}`,
    ])
      expect([header, await read(header)]).toEqual([header, EVENT.id]);
  });

  it('a signature in capitals or of 64 other characters does not match', async () => {
    for (const signature of [good.toUpperCase(), bad, 'z'.repeat(64), '☂'.repeat(64), `${good.slice(0, 63)}g`])
      expect([signature, await read(`t=${SECONDS},v1=${signature}`)]).toEqual([signature, 'mismatch']);
  });

  it('`body` as signed payload verifies what such an endpoint sends, and nothing else', async () => {
    const only = (headers: Signed) => pick(headers, 'X-Svc-Signature');
    const [plain, timed] = [sign([other, secret], { signedPayload: 'body' }), sign()];
    expect(await verify(BODY, only(plain), { signedPayload: 'body' })).toEqual(EVENT);
    expect(await verify(BODY, plain, { signedPayload: 'body' })).toEqual(EVENT);
    expect(await verify(BODY, only(timed), { signedPayload: 'timestamp.body' })).toEqual(EVENT);
    expect(await readReason(BODY, only(plain))).toBe('mismatch');
    expect(await readReason(BODY, only(timed), { signedPayload: 'body' })).toBe('mismatch');
    expect(await readReason(`${BODY} `, only(plain), { signedPayload: 'body' })).toBe('mismatch');
    expect(await readReason(BODY, only(sign([secret], { signedPayload: 'body', now: NOW - 301_000 })), { signedPayload: 'body' })).toBe(
      'stale',
    );
    // The text that was signed with its time is no event.
    const disguised = { 'X-Svc-Signature': timed['X-Svc-Signature']! };
    expect(await readReason(`${SECONDS}.${BODY}`, disguised, { signedPayload: 'body' })).toBe('not_json');
  });

  it('signed bytes that are no UTF-8 are refused with not_json, unsigned ones with mismatch', async () => {
    const bytes = new Uint8Array([...utf8('{"name":"'), 0xff, 0xc3, ...utf8('"}')]);
    const payload = new Uint8Array([...utf8(`${SECONDS}.`), ...bytes]);
    const headers = { 'X-Svc-Signature': `t=${SECONDS},v1=${hex.encode(hmacSha256(utf8(secret), payload))}` };
    expect(await readReason(bytes, headers)).toBe('not_json');
    expect(await readReason(bytes, sign())).toBe('mismatch');
    expect(await readReason(new TextDecoder().decode(bytes), headers)).toBe('mismatch');
  });
});

describe('Standard Webhooks headers', () => {
  const standard = pick(sign(), 'webhook-id', 'webhook-timestamp', 'webhook-signature');
  const [good, bad] = [standard['webhook-signature']!, `v1,${base64.encode(new Uint8Array(32))}`];
  const read = (over: Signed) =>
    verify(BODY, { ...standard, ...over }).then(
      ({ id }) => id,
      ({ meta }: SvcError) => meta.reason,
    );

  it.each([
    ['no signature of version 1', { 'webhook-signature': `v1a,${good.slice(3)} v2,${good.slice(3)}` }],
    ['a short signature', { 'webhook-signature': good.slice(0, -1) }],
    ['a long signature next to a valid one', { 'webhook-signature': `${good} ${bad}=` }],
    ['an empty signature', { 'webhook-signature': 'v1,' }],
    ['a time in words', { 'webhook-timestamp': 'now' }],
    ['a time with a fraction', { 'webhook-timestamp': `${SECONDS}.0` }],
    ['two times', { 'webhook-timestamp': `${SECONDS}, ${SECONDS}` }],
  ])('headers with %s are malformed', async (_case, over) => {
    expect(await read(over as unknown as Signed)).toBe('malformed_header');
  });

  it('other versions and other signatures are accepted next to a valid one', async () => {
    for (const signature of [`${bad} ${good}`, `v1a,abc ${good} v2,abc`])
      expect([signature, await read({ 'webhook-signature': signature })]).toEqual([signature, EVENT.id]);
  });

  it('two headers are read together, whatever joins them', async () => {
    const appended = new Headers(standard);
    appended.append('webhook-signature', bad);
    expect(await verify(BODY, appended)).toEqual(EVENT);
    for (const pair of [
      [bad, good],
      [good, bad],
    ]) {
      expect(await verify(BODY, { ...standard, 'webhook-signature': pair })).toEqual(EVENT);
      for (const joint of [',', ', ', ' , '])
        expect([joint, await read({ 'webhook-signature': pair.join(joint) })]).toEqual([joint, EVENT.id]);
    }
    expect(await read({ 'webhook-signature': [bad, bad].join() })).toBe('mismatch');
  });

  it('another id does not match', async () => {
    expect(await read({ 'webhook-id': 'evt_other' })).toBe('mismatch');
    expect(await read({ 'webhook-id': [EVENT.id, EVENT.id].join() })).toBe('mismatch');
  });

  it('a secret that is no base64 and an empty one match nothing', async () => {
    const empty = new Webhook('whsec_');
    const forged = { ...standard, 'webhook-signature': empty.sign(EVENT.id, new Date(NOW), BODY) };
    for (const key of ['whsec_', 'whsec_not base64!', '***'])
      expect([key, await readReason(BODY, forged, {}, key)]).toEqual([key, 'mismatch']);
  });
});

describe('missing headers', () => {
  it.each([
    ['none', {}],
    ['others', { 'content-type': 'application/json', 'webhook-id': 'evt_1', 'webhook-timestamp': String(SECONDS) }],
    ['empty ones', { 'X-Svc-Signature': '', 'webhook-signature': '' }],
    ['undefined ones', { 'X-Svc-Signature': undefined, 'webhook-signature': [] }],
    ['a signature without id', { 'webhook-timestamp': String(SECONDS), 'webhook-signature': sign()['webhook-signature'] }],
    ['a signature without time', { 'webhook-id': EVENT.id, 'webhook-signature': sign()['webhook-signature'] }],
    ['those of Stripe', { 'stripe-signature': sign()['X-Svc-Signature'] }],
    ['undefined', undefined],
    ['null', null],
  ])('%s: the delivery is refused with missing_header', async (_case, headers) => {
    expect(await readReason(BODY, headers as never)).toBe('missing_header');
  });

  it('a request instead of its headers is refused, and the message asks for the headers', async () => {
    const request = new Request('https://shop.test/hooks', { method: 'POST', headers: sign(), body: BODY });
    expect(await refusal(BODY, request as never)).toEqual({
      reason: 'missing_header',
      message: expect.stringMatching(/headers of the request/),
    });
    expect(await verify(await request.text(), request.headers)).toEqual(EVENT);
  });

  it('X-Svc-Signature decides alone if the other family is incomplete or of unknown versions', async () => {
    const versions = { 'webhook-signature': 'v1a,abc v2,abc' };
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature'])
      expect([name, await verify(BODY, { ...sign(), [name]: undefined })]).toEqual([name, EVENT]);
    expect(await verify(BODY, { ...sign(), ...versions })).toEqual(EVENT);
    expect(await readReason(BODY, { ...sign([other]), ...versions })).toBe('mismatch');
    expect(await readReason(BODY, { ...sign([other]), 'webhook-id': undefined })).toBe('mismatch');
  });

  it('if both families are complete, both must hold', async () => {
    const headers = sign();
    for (const [name, broken, reason] of [
      ['X-Svc-Signature', sign([other])['X-Svc-Signature']!, 'mismatch'],
      ['webhook-signature', sign([other])['webhook-signature']!, 'mismatch'],
      ['X-Svc-Signature', 't=1', 'malformed_header'],
    ] as const)
      expect([name, await readReason(BODY, { ...headers, [name]: broken })]).toEqual([name, reason]);
  });
});
