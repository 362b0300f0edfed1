import { ed25519 } from '@noble/curves/ed25519.js';
import {
  type CompleteSIWxInfo,
  createSIWxPayload,
  encodeSIWxHeader,
  formatSIWSMessage,
  parseSIWxHeader,
  type SIWxPayload,
  validateSIWxMessage,
  verifySIWxSignature,
} from '@x402/extensions/sign-in-with-x';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { base58, base64, base64url, hex, utf8 } from '#core/encoding.ts';
import { newSignIn, parseSignIn, SIGN_IN_CHARS_MAX, type SignInProof, signInText, verifySignIn } from '#protocols/x402/sign-in.ts';
import { decodeHeader } from '#protocols/x402/wire.ts';

const keyOf = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));
const [OLD, NEW] = [keyOf(1), keyOf(2)];
const random = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const NOW = 1_790_000_000_400;
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const origins = ['https://api.shop.example:8443', 'https://shop.example'];
const terms = { livemode: true, merchantId: 'merchant', productId: 'product', uri: 'https://shop.example/report?day=1', chainId: DEVNET };
const wallet = (fill: number) => {
  const seed = new Uint8Array(32).fill(fill);
  const sign = (message: Uint8Array) => ed25519.sign(message, seed);
  return { publicKey: base58.encode(ed25519.getPublicKey(seed)), signMessage: async (message: Uint8Array) => sign(message), sign };
};
const buyer = wallet(7);

const issue = (of = terms, { keys = OLD, now = NOW } = {}) => newSignIn(of, { keys, random, now });
const infoOf = (extension = issue()) => ({ ...extension.info, ...extension.supportedChains[0] }) as CompleteSIWxInfo;
/** Signs as the unmodified package does. */
const signed = async (info = infoOf(), signer = buyer) =>
  parseSignIn(encodeSIWxHeader(await createSIWxPayload(info, signer, 'https://shop.example/report')))!;
/** Signs whatever the fields say, as a client of an attacker. */
const forged = (proof: SignInProof, change: Partial<SignInProof>, signer = buyer): SignInProof => {
  const changed = { ...proof, ...change };
  return { ...changed, signature: base58.encode(signer.sign(utf8(signInText(changed)))) };
};
const judge = (proof: SignInProof, { keys = OLD, now = NOW, of = terms, at = origins as readonly string[] | null } = {}) =>
  verifySignIn(proof, { ...of, origins: at }, { keys, now }).problem;
const isSigned = (proof: SignInProof) => verifySignIn(proof, { ...terms, origins: null }, { keys: OLD, now: NOW }).isSigned;
const headerOf = (value: unknown) => base64.encode(utf8(JSON.stringify(value)));
const AGE_MAX = 300_000;

describe('offer of a sign-in', () => {
  it('the offer names the origin of the shop, 300 seconds, one chain and no resources', () => {
    const { info, supportedChains, schema } = issue();
    expect(info).toEqual({
      domain: 'shop.example',
      uri: 'https://shop.example/report?day=1',
      version: '1',
      nonce: expect.stringMatching(/^0102030405060708[0-9a-f]{16}$/),
      issuedAt: new Date(1_790_000_000_000).toISOString(),
      expirationTime: new Date(1_790_000_300_000).toISOString(),
      statement: 'Sign in to use what this wallet has paid for.',
    });
    expect(supportedChains).toEqual([{ chainId: DEVNET, type: 'ed25519', signatureScheme: 'siws' }]);
    expect(schema.required).toContain('signature');
    expect(issue({ ...terms, uri: 'https://api.shop.example:8443/x' }).info.domain).toBe('api.shop.example:8443');
    expect(() => newSignIn(terms, { keys: OLD, random: random.slice(1), now: NOW })).toThrow('8 random bytes');
  });
});

describe('sign-in of the unmodified package', () => {
  afterEach(() => void vi.useRealTimers());

  it('a sign-in of the package is valid for us, and for the server of the package', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: NOW });
    const header = encodeSIWxHeader(await createSIWxPayload(infoOf(), buyer, 'https://shop.example/report'));
    const theirs = parseSIWxHeader(header);
    expect(await validateSIWxMessage(theirs, new URL('https://shop.example'))).toEqual({ isValid: true });
    expect(await verifySIWxSignature(theirs)).toEqual({ isValid: true, payer: buyer.publicKey });
    const ours = parseSignIn(header)!;
    expect([judge(ours), isSigned(ours)]).toEqual([null, true]);
  });

  it('a sign-in is valid at each origin of the merchant, with any path of the product', async () => {
    for (const uri of ['https://api.shop.example:8443/', 'https://shop.example/another?x=1']) {
      const info = infoOf(issue({ ...terms, uri }));
      const proof = parseSignIn(encodeSIWxHeader(await createSIWxPayload(info, buyer, uri)))!;
      expect(judge(proof)).toBeNull();
    }
  });

  it('the package signs the same text as ours, with every optional field', () => {
    const info: CompleteSIWxInfo = {
      ...infoOf(),
      notBefore: '2026-01-01T00:00:00.000Z',
      requestId: 'request-1',
      resources: ['https://shop.example/a', 'https://shop.example/b'],
    };
    const { statement: _, expirationTime: __, ...bare } = info;
    for (const one of [info, infoOf(), bare as CompleteSIWxInfo, { ...info, resources: [] }, { ...info, statement: '' }])
      expect(signInText({ ...one, address: buyer.publicKey })).toBe(formatSIWSMessage(one, buyer.publicKey));
  });

  it('a sign-in is accepted while the key of its nonce is in the ring', async () => {
    const proof = await signed();
    expect(judge(proof, { keys: `${NEW},${OLD}` })).toBeNull();
    expect(judge(proof, { keys: NEW })).toBe('invalid_siwx_nonce');
    const rotated = await signed(infoOf(issue(terms, { keys: `${NEW},${OLD}` })));
    expect([judge(rotated, { keys: NEW }), judge(rotated, { keys: OLD })]).toEqual([null, 'invalid_siwx_nonce']);
  });
});

describe('refused sign-in', () => {
  it.each<[string, Partial<Parameters<typeof judge>[1]>, string]>([
    ['a product that offers none', { at: null }, 'not_offered'],
    ['another product', { of: { ...terms, productId: 'other' } }, 'nonce'],
    ['another merchant', { of: { ...terms, merchantId: 'other' } }, 'nonce'],
    ['another mode', { of: { ...terms, livemode: false } }, 'nonce'],
    ['another chain', { of: { ...terms, chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' } }, 'unsupported_chain'],
    ['origins of another shop', { at: ['https://evil.example'] }, 'domain_mismatch'],
    ['the same host by http', { at: ['http://shop.example'] }, 'uri_mismatch'],
    ['301 seconds after it was issued', { now: NOW + AGE_MAX + 1000 }, 'issued_at_too_old'],
    ['a second before it was issued', { now: NOW - 1000 }, 'issued_at_in_future'],
  ])('a sign-in is refused for %s', async (_case, at, reason) => {
    expect(judge(await signed(), at)).toBe(`invalid_siwx_${reason}`);
  });

  it('a sign-in is valid to the second of its expiry', async () => {
    const proof = await signed();
    const issued = Date.parse(proof.issuedAt);
    expect([judge(proof, { now: issued }), judge(proof, { now: issued + AGE_MAX })]).toEqual([null, null]);
    expect(judge(proof, { now: issued + AGE_MAX + 1 })).toBe('invalid_siwx_issued_at_too_old');
  });

  it.each<[string, Partial<SignInProof>, string]>([
    ['domain', { domain: 'evil.example' }, 'domain_mismatch'],
    ['domain of another origin of the merchant', { domain: 'api.shop.example:8443' }, 'uri_mismatch'],
    ['origin of the URL', { uri: 'https://evil.example/report' }, 'uri_mismatch'],
    ['unreadable URL', { uri: 'report' }, 'uri_mismatch'],
    ['path of the URL', { uri: 'https://shop.example/other' }, 'nonce'],
    ['EVM type', { type: 'eip191' }, 'unsupported_chain'],
    ['EVM chain', { chainId: 'eip155:8453' }, 'unsupported_chain'],
    ['unreadable issuedAt', { issuedAt: 'yesterday' }, 'issued_at'],
    ['later issuedAt', { issuedAt: new Date(NOW).toISOString() }, 'nonce'],
    ['no expirationTime', { expirationTime: undefined }, 'expiration_time'],
    ['unreadable expirationTime', { expirationTime: 'never' }, 'expiration_time'],
    ['past expirationTime', { expirationTime: new Date(NOW - 1).toISOString() }, 'expired'],
    ['later expirationTime', { expirationTime: new Date(NOW + 10 * AGE_MAX).toISOString() }, 'nonce'],
    ['unreadable notBefore', { notBefore: 'soon' }, 'not_before'],
    ['future notBefore', { notBefore: new Date(NOW + 1000).toISOString() }, 'not_yet_valid'],
    ['made-up nonce', { nonce: '0102030405060708ffffffffffffffff' }, 'nonce'],
    ['nonce in capitals', { nonce: infoOf().nonce.toUpperCase() }, 'nonce'],
    ['longer nonce', { nonce: `${infoOf().nonce}00` }, 'nonce'],
  ])('a sign-in is refused with a signed change of: %s', async (_case, change, reason) => {
    expect(judge(forged(await signed(), change))).toBe(`invalid_siwx_${reason}`);
  });

  it('a sign-in is refused with a change that was not signed', async () => {
    const proof = await signed();
    const other = wallet(8);
    expect(isSigned({ ...proof, statement: 'Give everything away.' })).toBe(false);
    expect(judge({ ...proof, statement: 'Give everything away.' })).toBe('invalid_siwx_signature');
    expect(judge({ ...proof, address: other.publicKey })).toBe('invalid_siwx_signature');
    expect(judge({ ...proof, requestId: 'added' })).toBe('invalid_siwx_signature');
    expect(judge(forged(proof, {}, other))).toBe('invalid_siwx_signature');
    expect(judge({ ...proof, signature: proof.signature.slice(4) })).toBe('invalid_siwx_malformed_signature');
    expect(judge({ ...proof, signature: '0OIl' })).toBe('invalid_siwx_malformed_signature');
    expect(judge({ ...proof, address: proof.address.slice(4) })).toBe('invalid_siwx_malformed_signature');
  });

  it('a sign-in is refused with a key or a signature that verifies more than one text', async () => {
    const proof = await signed();
    // The neutral point as key: with it, the signature (R = identity, s = 0) verifies every text.
    const neutral = Uint8Array.of(1, ...new Uint8Array(31));
    const weak = { ...proof, address: base58.encode(neutral), signature: base58.encode(Uint8Array.of(...neutral, ...new Uint8Array(32))) };
    expect(judge(weak)).toBe('invalid_siwx_signature');
    expect(await verifySIWxSignature(weak as SIWxPayload)).toMatchObject({ isValid: false, invalidReason: 'invalid_siwx_signature' });
    // y = p + 1 is a second encoding of the neutral point.
    const second = hex.decode(`ee${'ff'.repeat(30)}7f`);
    expect(judge({ ...weak, address: base58.encode(second) })).toBe('invalid_siwx_signature');
    // s + L verifies in lenient verifiers.
    const bytes = base58.decode(proof.signature);
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    let s = bytes.slice(32).reduceRight((value, byte) => value * 256n + BigInt(byte), 0n) + order;
    const malleable = Uint8Array.from(bytes);
    for (let index = 32; index < 64; index++, s >>= 8n) malleable[index] = Number(s & 255n);
    expect(judge({ ...proof, signature: base58.encode(malleable) })).toBe('invalid_siwx_signature');
  });
});

describe('header SIGN-IN-WITH-X', () => {
  it.each<[string, string]>([
    ['junk', 'not base64!'],
    ['nothing', ''],
    ['no JSON', base64.encode(utf8('sign in'))],
    ['null', headerOf(null)],
    ['a list', headerOf([])],
    ['no signature', headerOf({ ...infoOf(), address: buyer.publicKey })],
    ['base64url', 'eyJhIjoi_-8ifQ=='],
  ])('a header is unreadable: %s', (_case, header) => {
    expect(parseSignIn(header)).toBeNull();
  });

  it('a header is unreadable with a line break in any field, because fields are lines of the signed text', async () => {
    const proof = await signed();
    for (const field of ['statement', 'domain', 'uri', 'requestId', 'issuedAt', 'address'] as const)
      expect(parseSignIn(headerOf({ ...proof, [field]: `x\nURI: https://evil.example` }))).toBeNull();
    expect(parseSignIn(headerOf({ ...proof, resources: ['a\nb'] }))).toBeNull();
  });

  it('a header takes absent fields as null, and is unreadable above its length', async () => {
    const proof = await signed();
    const read = parseSignIn(headerOf({ ...proof, notBefore: null, requestId: null, resources: null, signatureScheme: null }))!;
    expect(judge(read)).toBeNull();
    const long = headerOf({ ...proof, unknown: 'x'.repeat(SIGN_IN_CHARS_MAX) });
    expect([decodeHeader(long) === undefined, parseSignIn(long)]).toEqual([false, null]);
  });
});
