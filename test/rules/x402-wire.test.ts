import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import { parsePaymentPayload, parsePaymentRequired } from '@x402/core/schemas';
import { x402ResourceServer } from '@x402/core/server';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64, base64url, utf8 } from '#core/encoding.ts';
import {
  encodeHeader,
  PaymentPayload,
  PaymentRequired,
  type PaymentRequirements,
  parsePaymentSignature,
  SettleResponse,
  sameRequirements,
  VerifyResponse,
} from '#protocols/x402/wire.ts';

const requirements: PaymentRequirements = {
  scheme: 'exact',
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  amount: '250000',
  payTo: 'merchant',
  maxTimeoutSeconds: 300,
  extra: { feePayer: 'operator', memo: 'svc:nonce' },
};
const payload: PaymentPayload = {
  x402Version: 2,
  payload: { transaction: 'AAAA' },
  resource: { url: 'https://api.example/報告', description: 'A report — “daily”' },
  accepted: requirements,
};
const header = (value: unknown) => base64.encode(utf8(typeof value === 'string' ? value : JSON.stringify(value)));
const reasonOf = (text: string) => {
  const parsed = parsePaymentSignature(text);
  return parsed.ok ? 'ok' : parsed.reason;
};

describe('x402 headers', () => {
  it('headers of the public client are parsed, and ours are parsed by it', () => {
    const theirs = encodePaymentSignatureHeader(payload as Parameters<typeof encodePaymentSignatureHeader>[0]);
    expect(parsePaymentSignature(theirs)).toEqual({ ok: true, value: payload });
    expect(encodeHeader(payload)).toBe(theirs);
    expect(decodePaymentSignatureHeader(encodeHeader(payload))).toEqual(payload);
    const required: PaymentRequired = { x402Version: 2, error: 'née', resource: payload.resource!, accepts: [requirements] };
    expect(decodePaymentRequiredHeader(encodeHeader(required))).toEqual(required);
    expect(parsePaymentRequired(required).success).toBe(true);
    const settled: SettleResponse = { success: true, transaction: 'signature', network: requirements.network, payer: 'agent' };
    expect(decodePaymentResponseHeader(encodeHeader(settled))).toEqual(settled);
  });

  it('any payload round-trips', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    const keys = text.filter((key) => key !== '__proto__');
    const property = fc.property(fc.dictionary(keys, json, { noNullPrototype: true }), text, (bag, url) => {
      const plain = JSON.parse(JSON.stringify(bag)) as Record<string, unknown>;
      fc.pre(!JSON.stringify(plain).includes('__proto__'));
      const value = { ...payload, payload: plain, extensions: plain, resource: { url }, accepted: { ...requirements, extra: plain } };
      const text = encodeHeader(value);
      fc.pre(text.length <= 16_384);
      expect(text).toMatch(/^[A-Za-z0-9+/]*={0,2}$/);
      expect(parsePaymentSignature(text)).toEqual({ ok: true, value });
    });
    fc.assert(property, { numRuns: 200 });
  });

  it('null values are read as absent, as in the reference', () => {
    const nulls = { ...payload, resource: { url: 'x', description: null, tags: null }, extensions: null };
    expect(reasonOf(header(nulls))).toBe('ok');
    expect(parsePaymentPayload(nulls).success).toBe(true);
    expect(reasonOf(header({ ...payload, resource: null, accepted: { ...requirements, extra: null } }))).toBe('ok');
  });
});

describe('parsePaymentSignature, hostile headers', () => {
  const deep = (open: string, close: string, depth: number) =>
    `{"x402Version":2,"accepted":${JSON.stringify(requirements)},"payload":{"a":${open.repeat(depth)}1${close.repeat(depth)}}}`;
  const withField = (change: Record<string, unknown>) => header({ ...payload, ...change });
  const accepting = (change: Record<string, unknown>) => withField({ accepted: { ...requirements, ...change } });
  const good = encodeHeader({ ...payload, payload: { transaction: '??>>' } });

  it.each([
    ['empty', ''],
    ['not base64', '{"x402Version":2}'],
    ['base64url', base64url.encode(utf8(JSON.stringify({ ...payload, resource: { url: '???>>>ÿÿÿ' } })))],
    ['unpadded', header(`${JSON.stringify(payload)} `.padEnd(1000)).replace(/=+$/, '')],
    ['wrapped in lines', good.replace(/(.{76})/g, '$1\n')],
    ['padded twice', `${header(payload)}====`],
    ['not UTF-8', base64.encode(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d))],
    ['opened by a byte order mark', header(`\ufeff${JSON.stringify(payload)}`)],
    ['not JSON', header('{"x402Version":2')],
    ['a number', header('2')],
    ['null', header('null')],
    ['a list', header([payload])],
    ['too long', header({ ...payload, payload: { transaction: 'A'.repeat(13_000) } })],
    ['a deep list', header(deep('[', ']', 5_000))],
    ['a deep object', header(deep('{"a":', '}', 1_500))],
    ['a prototype', header(JSON.stringify(payload).replace('{', '{"__proto__":{"x402Version":2},'))],
    ['a prototype inside', header(JSON.stringify(payload).replace('"memo"', '"__proto__":{"a":1},"memo"'))],
    ['without a version', withField({ x402Version: undefined })],
    ['without a choice', withField({ accepted: undefined })],
    ['with a list as payload', withField({ payload: [] })],
    ['with a text as payload', withField({ payload: 'AAAA' })],
    ['with a text as resource', withField({ resource: 'https://api.example' })],
    ['with a number as amount', accepting({ amount: 250_000 })],
    ['with an empty amount', accepting({ amount: '' })],
    ['with a network that is none', accepting({ network: 'solana' })],
    ['with a list as extra', accepting({ extra: [] })],
    ['with a timeout of zero', accepting({ maxTimeoutSeconds: 0 })],
    ['with an endless timeout', header(JSON.stringify(payload).replace('300', '1e999'))],
    ['with six tags', withField({ resource: { url: 'x', tags: Array(6).fill('a') } })],
  ])('a header that is %s is refused with invalid_payload', (_, text) => {
    expect(reasonOf(text)).toBe('invalid_payload');
  });

  it.each([1, 3, '2', null, 2.5, [2]])('version %j is refused with invalid_x402_version', (x402Version) => {
    expect(reasonOf(withField({ x402Version }))).toBe('invalid_x402_version');
  });

  it.each(['length', 'size'])('a %s that no number compares with is refused without throwing', (name) => {
    expect(reasonOf(withField({ extensions: { [name]: { toString: 1 } } }))).toBe('invalid_payload');
  });

  it('any header gets an answer without throwing', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.base64String(),
      fc.uint8Array().map((bytes) => base64.encode(bytes)),
      fc.json().map(header),
      fc.tuple(fc.constantFrom(...Object.keys(payload)), fc.jsonValue()).map(([field, value]) => header({ ...payload, [field]: value })),
      fc
        .tuple(fc.constantFrom(...Object.keys(requirements)), fc.jsonValue())
        .map(([field, value]) => header({ ...payload, accepted: { ...requirements, [field]: value } })),
    );
    const answers = ['ok', 'invalid_payload', 'invalid_x402_version'];
    fc.assert(
      fc.property(anything, (text) => answers.includes(reasonOf(text))),
      { numRuns: 1_000 },
    );
    expect(({} as Record<string, unknown>).x402Version).toBeUndefined();
  });
});

describe('sameRequirements', () => {
  const reversed = (value: object) => Object.fromEntries(Object.entries(value).reverse());
  const extra = requirements.extra!;
  const cases: [string, boolean, PaymentRequirements, unknown][] = [
    ['is the same', true, requirements, structuredClone(requirements)],
    ['has its keys in another order', true, requirements, { ...reversed(requirements), extra: reversed(extra) }],
    ['has more extras', true, requirements, { ...requirements, extra: { ...extra, note: { a: [1] } } }],
    ['has more inside an extra', true, { ...requirements, extra: { a: { b: 1 } } }, { ...requirements, extra: { a: { b: 1, c: 2 } } }],
    ['has a blockhash of its own', true, withExtra({ recentBlockhash: 'a' }), withExtra({ recentBlockhash: 'b' })],
    ['has no more height', true, withExtra({ lastValidBlockHeight: '7' }), requirements],
    ['has extras where none were offered', true, { ...requirements, extra: undefined }, requirements],
    ['lacks an extra', false, requirements, { ...requirements, extra: { memo: 'svc:nonce' } }],
    ['has another memo', false, requirements, withExtra({ memo: 'svc:other' })],
    ['has no extras', false, requirements, { ...requirements, extra: null }],
    ['has a shorter list in an extra', false, withExtra({ list: [1, 2] }), withExtra({ list: [1] })],
    ['has a longer list in an extra', false, withExtra({ list: [1] }), withExtra({ list: [1, 2] })],
    ['has a list for an object', false, withExtra({ list: {} }), withExtra({ list: [] })],
    ['has a number for a text', false, withExtra({ quantity: 2 }), withExtra({ quantity: '2' })],
    ['has a field more', false, requirements, { ...requirements, decimals: 6 }],
    ...(['scheme', 'network', 'asset', 'amount', 'payTo'] as const).map((field): (typeof cases)[number] => [
      `has another ${field}`,
      false,
      requirements,
      { ...requirements, [field]: 'other:other' },
    ]),
    ['has another timeout', false, requirements, { ...requirements, maxTimeoutSeconds: 301 }],
  ];
  function withExtra(more: Record<string, unknown>): PaymentRequirements {
    return { ...requirements, extra: { ...requirements.extra, ...more } };
  }

  it.each(cases)('an echo that %s matches: %s', (_, same, advertised, echoed) => {
    expect(sameRequirements(advertised, echoed as PaymentRequirements)).toBe(same);
    expect(theyMatch(advertised, echoed as PaymentRequirements)).toBe(same);
  });

  /** Unmodified reference server with the extras that the SVM scheme lets a client change. */
  function theyMatch(advertised: PaymentRequirements, accepted: PaymentRequirements): boolean {
    const server = new x402ResourceServer();
    const scheme = { scheme: 'exact', dynamicExtraFields: ['recentBlockhash', 'lastValidBlockHeight'] };
    server.register('solana:*', scheme as unknown as Parameters<typeof server.register>[1]);
    type Asked = Parameters<typeof server.findMatchingRequirements>;
    const found = server.findMatchingRequirements([advertised] as Asked[0], { ...payload, accepted } as Asked[1]);
    return found !== undefined;
  }

  it('a deeply nested echo is compared without throwing', () => {
    const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as Record<string, unknown>;
    expect(sameRequirements({ ...requirements, extra: nested(20) }, { ...requirements, extra: nested(20) })).toBe(true);
    expect(sameRequirements({ ...requirements, extra: nested(3_000) }, { ...requirements, extra: nested(3_000) })).toBe(false);
  });
});

describe('other x402 schemas', () => {
  it('the schemas agree with the reference', () => {
    expect(SettleResponse.safeParse({ success: false, errorReason: 'settlement_pending', transaction: '', network: 'a:b' }).success).toBe(
      true,
    );
    expect(SettleResponse.safeParse({ success: true, network: 'a:b' }).success).toBe(false);
    expect(VerifyResponse.safeParse({ isValid: false, invalidReason: 'x', payer: '' }).success).toBe(true);
    expect(PaymentRequired.safeParse({ x402Version: 2, resource: { url: 'x' }, accepts: [] }).success).toBe(false);
    expect(PaymentPayload.safeParse({ ...payload, x402Version: 1 }).success).toBe(false);
  });
});
