import { ed25519 } from '@noble/curves/ed25519.js';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { sha256 } from '#core/crypto.ts';
import { base58, base64, utf8 } from '#core/encoding.ts';
import { findUnacceptable } from '#platform/http/bodies/refused-content.ts';

const seedOf = (name: string) => sha256(utf8(`wallet ${name}`));
const secretKeyOf = (name: string) => Uint8Array.from([...seedOf(name), ...ed25519.getPublicKey(seedOf(name))]);
const names = fc.string({ maxLength: 8 });
const holdsSecret = async (text: string) => (await findUnacceptable(JSON.parse(text))) === 'secret_refused';
const body = (field: unknown) => JSON.stringify({ name: 'Weather API', payout_wallet: field });

describe('findUnacceptable, secrets', () => {
  it('a base58 secret key as exported by wallets is found', async () => {
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        expect(await holdsSecret(body(base58.encode(secretKeyOf(name))))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('a secret key as an array of 64 numbers, as in Solana CLI files, is found', async () => {
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        const numbers = [...secretKeyOf(name)];
        expect(await holdsSecret(body(numbers))).toBe(true);
        expect(await holdsSecret(body(JSON.stringify(numbers)))).toBe(true);
        expect(await holdsSecret(JSON.stringify({ key: numbers }, null, 2))).toBe(true);
        expect(await holdsSecret(JSON.stringify(numbers))).toBe(true);
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    [12, 16],
    [24, 32],
  ])('a seed phrase of %i terms is found', async (termCount, length) => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: length, maxLength: length }), async (entropy) => {
        const phrase = entropyToMnemonic(entropy, wordlist);
        expect(phrase.split(' ')).toHaveLength(termCount);
        expect(await holdsSecret(body(phrase))).toBe(true);
        expect(await holdsSecret(body(` ${phrase.toUpperCase().replaceAll(' ', '  ')} `))).toBe(true);
      }),
    );
  });

  it('a secret is found in a list, deep inside, in a key and as the complete body', async () => {
    const secret = base58.encode(secretKeyOf('deep'));
    for (const value of [secret, [secret], { a: { b: [{ c: secret }] } }, { [secret]: 1 }])
      expect(await holdsSecret(JSON.stringify(value))).toBe(true);
    expect(await holdsSecret(JSON.stringify({ first: base58.encode(ed25519.sign(utf8('x'), seedOf('a'))), second: secret }))).toBe(true);
  });
});

describe('findUnacceptable, harmless bodies', () => {
  it('transaction signatures pass, although they resemble a secret key', async () => {
    await fc.assert(
      fc.asyncProperty(names, names, async (name, message) => {
        const signature = ed25519.sign(utf8(message), seedOf(name));
        expect(await holdsSecret(body(base58.encode(signature)))).toBe(false);
        expect(await holdsSecret(body([...signature]))).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it('addresses and public keys pass', async () => {
    await fc.assert(
      fc.asyncProperty(names, async (name) => {
        const publicKey = ed25519.getPublicKey(seedOf(name));
        expect(await holdsSecret(body(base58.encode(publicKey)))).toBe(false);
        expect(await holdsSecret(body([...publicKey]))).toBe(false);
      }),
      { numRuns: 50 },
    );
  });

  it('base64 transactions and other long texts pass', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 1232 }), async (bytes) => {
        expect(await holdsSecret(JSON.stringify({ transaction: base64.encode(bytes) }))).toBe(false);
        expect(await holdsSecret(JSON.stringify({ bytes: [...bytes] }))).toBe(false);
      }),
    );
  });

  it('non-canonical base64 of 64 bytes passes', async () => {
    const spelled = base64.encode(secretKeyOf('spelled'));
    expect(await holdsSecret(body(spelled))).toBe(true);
    expect(spelled.at(-3)).toMatch(/[AQgw]/);
    for (const last of 'BCDPRfhv9+/') expect(await holdsSecret(body(`${spelled.slice(0, -3)}${last}==`))).toBe(false);
  });

  it('prose passes, even in the vocabulary of seed phrases', async () => {
    const prose = [
      'The quick brown fox jumps over the lazy dog while seven cold winds blow from the north',
      'Pay once and read every forecast for thirty days without any advert at all',
      Array(12).fill('abandon').join(' '),
      Array(24).fill('zoo').join(' '),
      'legal winner thank year wave sausage worth useful legal winner thank thank',
      `${Array(11).fill('abandon').join(' ')} about and two more words`,
    ];
    for (const text of prose) expect(await holdsSecret(body(text)), text).toBe(false);
    // The right last term makes a phrase, because the checksum decides and not the vocabulary.
    expect(await holdsSecret(body(`${Array(11).fill('abandon').join(' ')} about`))).toBe(true);
  });

  it('lists of 64 numbers that are no bytes, or bytes that are no key, pass', async () => {
    expect(await holdsSecret(body(Array(64).fill(256)))).toBe(false);
    expect(await holdsSecret(body(Array(64).fill(999)))).toBe(false);
    expect(await holdsSecret(body([...Array(64).keys()]))).toBe(false);
    expect(await holdsSecret(body([...secretKeyOf('a'), 0]))).toBe(false);
  });

  it('values that are no object pass', async () => {
    for (const value of ['', '"', '[', '[1,2,', null, 0, true, '\u0000'.repeat(100)]) expect(await findUnacceptable(value)).toBeNull();
  });
});

describe('findUnacceptable, Unicode', () => {
  it('half a surrogate pair anywhere is refused with not_unicode, in keys as well', async () => {
    for (const value of ['a\ud800b', ['\udc00'], { a: { '\ud83d': 1 } }]) expect(await findUnacceptable(value)).toBe('not_unicode');
    expect(await findUnacceptable({ name: 'whole 😀 characters' })).toBeNull();
  });
});

describe('findUnacceptable, any text', () => {
  it('texts of odd numbers are judged without throwing', async () => {
    const numbers = (text: string) => `[${Array(64).fill(text).join(',')}]`;
    for (const text of [numbers('007'), numbers('012'), numbers('00'), numbers('-1'), numbers('1.5')])
      expect(await findUnacceptable({ text }), text.slice(0, 60)).toBeNull();
  });

  const phrase = `${Array(11).fill('abandon').join(' ')} zoo`;
  const full = (one: string, bytes = 65_000) => Array.from({ length: Math.floor(bytes / (one.length + 3)) }, () => one);
  it.each<[string, unknown]>([
    ['one word without end', 'abandon '.repeat(125_000)],
    ['one digit without end', '1'.repeat(1_000_000)],
    ['a list of numbers that is not closed', `[${'1,'.repeat(500_000)}`],
    ['lists of one number', Array(330_000).fill([1])],
    ['words between wide gaps', 'abc  '.repeat(200_000)],
    ['space', ' '.repeat(1_000_000)],
    ['signatures', full(base58.encode(ed25519.sign(utf8('x'), seedOf('a'))), 1_000_000)],
    ['lists of 64 bytes', Array(5_000).fill([...secretKeyOf('a').slice(1), 0])],
    ['phrases with a wrong checksum', full(phrase)],
    ['long phrases with a wrong checksum', full(`${Array(23).fill('abandon').join(' ')} zoo`)],
    ['phrases whose last word is none', full(`${Array(11).fill('abandon').join(' ')} abandonn`)],
    ['keys with a wrong half, in base58', full(base58.encode(new Uint8Array(64).fill(7)))],
    ['keys with a wrong half, in hex', full('07'.repeat(64))],
    ['a megabyte of phrases', full(phrase, 1_000_000)],
  ])('no secret is found in a body of %s', async (_, value) => {
    expect(await findUnacceptable(value)).toBeNull();
  });
});
