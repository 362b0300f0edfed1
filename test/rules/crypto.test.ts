import { ED25519_TORSION_SUBGROUP, ed25519 } from '@noble/curves/ed25519.js';
import { sha512 } from '@noble/hashes/sha2.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  equalBytes,
  hashPassword,
  isOnCurve,
  isSecretKey,
  keyRing,
  pepperedHash,
  sha256Hex,
  verifyEd25519,
  verifyPassword,
} from '#core/crypto.ts';
import { base64, base64url, hex, utf8 } from '#core/encoding.ts';

const seed = (fill: number) => new Uint8Array(32).fill(fill);
const flip = (bytes: Uint8Array, bit: number) => bytes.map((byte, i) => (i === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

/** Raises the scalar of a signature by the group order: the same point in another encoding. */
function withScalarPlusOrder(signature: Uint8Array): Uint8Array {
  const scalar = BigInt(`0x${hex.encode(signature.slice(32).reverse())}`) + ORDER;
  return Uint8Array.from([...signature.slice(0, 32), ...hex.decode(scalar.toString(16).padStart(64, '0')).reverse()]);
}

describe('Ed25519', () => {
  it('RFC 8032 vectors verify', () => {
    const vectors = [
      [
        'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a',
        '',
        'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
      ],
      [
        '3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c',
        '72',
        '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00',
      ],
    ] as const;
    for (const [key, message, signature] of vectors)
      expect(verifyEd25519(hex.decode(signature), hex.decode(message), hex.decode(key))).toBe(true);
  });

  it('a signature with any bit flipped is refused', () => {
    const message = utf8('pay 5 USDC');
    const signature = ed25519.sign(message, seed(1));
    const key = ed25519.getPublicKey(seed(1));
    expect(verifyEd25519(signature, message, key)).toBe(true);
    for (let bit = 0; bit < 512; bit++) expect(verifyEd25519(flip(signature, bit), message, key), `bit ${bit}`).toBe(false);
  });

  it('a message or key with any bit flipped is refused', () => {
    const message = utf8('pay 5 USDC');
    const signature = ed25519.sign(message, seed(1));
    const key = ed25519.getPublicKey(seed(1));
    for (let bit = 0; bit < message.length * 8; bit++) expect(verifyEd25519(signature, flip(message, bit), key)).toBe(false);
    for (let bit = 0; bit < 256; bit++) expect(verifyEd25519(signature, message, flip(key, bit))).toBe(false);
  });

  it('keys of small order, for which one signature fits every message, are refused', () => {
    for (const text of ED25519_TORSION_SUBGROUP) {
      const key = hex.decode(text);
      const forged = Uint8Array.from([...hex.decode(ED25519_TORSION_SUBGROUP[0]!), ...new Uint8Array(32)]);
      // The attack is real: a lenient verifier accepts the signature.
      expect(ed25519.verify(forged, utf8('anything'), key, { zip215: true })).toBe(true);
      for (const message of ['anything', 'pay me everything', '']) expect(verifyEd25519(forged, utf8(message), key)).toBe(false);
    }
  });

  it('a second encoding of the same signature is refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (message) => {
        const signature = ed25519.sign(message, seed(5));
        expect(verifyEd25519(signature, message, ed25519.getPublicKey(seed(5)))).toBe(true);
        expect(verifyEd25519(withScalarPlusOrder(signature), message, ed25519.getPublicKey(seed(5)))).toBe(false);
      }),
      { numRuns: 20 },
    );
  });

  it('a point in a second encoding is refused', () => {
    // R is the neutral element, encoded as y = p + 1 instead of y = 1. S answers with the real key.
    const { scalar, pointBytes } = ed25519.utils.getExtendedPublicKey(seed(5));
    const message = utf8('pay 5 USDC');
    const point = Uint8Array.of(0xee, ...new Uint8Array(30).fill(0xff), 0x7f);
    const hash = BigInt(`0x${hex.encode(sha512(Uint8Array.from([...point, ...pointBytes, ...message])).reverse())}`);
    const answer = hex.decode(((hash * scalar) % ORDER).toString(16).padStart(64, '0')).reverse();
    const signature = Uint8Array.from([...point, ...answer]);
    expect(ed25519.verify(signature, message, pointBytes, { zip215: true })).toBe(true);
    expect(verifyEd25519(signature, message, pointBytes)).toBe(false);
  });

  it('verification returns false and never throws for bytes of any length', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 70 }), fc.uint8Array({ maxLength: 5 }), fc.uint8Array({ maxLength: 40 }), (s, m, k) => {
        expect(verifyEd25519(s, m, k)).toBe(false);
      }),
    );
  });

  it('a secret key is recognised by its public half', () => {
    const secret = Uint8Array.from([...seed(9), ...ed25519.getPublicKey(seed(9))]);
    expect(isSecretKey(secret)).toBe(true);
    expect(isSecretKey(secret.slice(0, 63))).toBe(false);
    expect(isSecretKey(Uint8Array.from([...secret, 0]))).toBe(false);
    for (let bit = 0; bit < 512; bit += 7) expect(isSecretKey(flip(secret, bit)), `bit ${bit}`).toBe(false);
    expect(isSecretKey(ed25519.sign(utf8('x'), seed(9)))).toBe(false);
  });

  it('points of the curve are distinguished from other bytes', () => {
    for (let fill = 0; fill < 20; fill++) expect(isOnCurve(ed25519.getPublicKey(seed(fill)))).toBe(true);
    // y = 2 has no x on the curve.
    expect(isOnCurve(Uint8Array.of(2, ...new Uint8Array(31)))).toBe(false);
    expect(isOnCurve(new Uint8Array(31))).toBe(false);
  });
});

describe('key ring', () => {
  const [old, fresh] = [base64url.encode(seed(2)), base64url.encode(seed(3))];

  it('the first key signs, and a key id is the hash of its public half', () => {
    const [first, second] = keyRing(`${fresh},${old}`);
    expect(first!.publicKey).toEqual(ed25519.getPublicKey(seed(3)));
    expect(second!.publicKey).toEqual(ed25519.getPublicKey(seed(2)));
    for (const key of [first!, second!]) {
      expect(key.keyId).toBe(sha256Hex(key.publicKey).slice(0, 16));
      expect(key.jwk.kid).toBe(key.keyId);
      expect(base64url.decode(key.jwk.x)).toEqual(key.publicKey);
    }
  });

  it('a rotated ring still verifies signatures of the old key', () => {
    const message = utf8('signed last year');
    const [before] = keyRing(old);
    const signature = before!.sign(message);
    const after = keyRing(`${fresh},${old}`);
    const known = after.find(({ keyId }) => keyId === before!.keyId);
    expect(verifyEd25519(signature, message, known!.publicKey)).toBe(true);
    expect(verifyEd25519(signature, message, after[0]!.publicKey)).toBe(false);
    expect(after[0]!.keyId).not.toBe(before!.keyId);
  });
});

describe('passwords', () => {
  it('a right password verifies, and only that one', async () => {
    const stored = await hashPassword('correct horse battery');
    expect(await verifyPassword('correct horse battery', stored)).toBe(true);
    for (const wrong of ['correct horse batterz', 'Correct horse battery', 'correct horse battery ', ''])
      expect(await verifyPassword(wrong, stored), wrong).toBe(false);
  });

  it('passwords are stored as scrypt N=2^14 r=8 p=5 with a salt each', async () => {
    const [a, b] = await Promise.all([hashPassword('the same'), hashPassword('the same')]);
    for (const stored of [a, b]) expect(stored).toMatch(/^\$scrypt\$ln=14,r=8,p=5\$[A-Za-z0-9+/]{22}==\$[A-Za-z0-9+/]{43}=$/);
    expect(a).not.toBe(b);
  });

  it('a stored password verifies at its own cost, whatever cost new hashes use', async () => {
    // RFC 7914 section 12, cut to the 32 bytes that are stored.
    const vector = Uint8Array.from('fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162'.match(/../g)!, (byte) =>
      parseInt(byte, 16),
    );
    const stored = `$scrypt$ln=10,r=8,p=16$${btoa('NaCl')}$${base64.encode(vector)}`;
    expect(await verifyPassword('password', stored)).toBe(true);
    expect(await verifyPassword('passwort', stored)).toBe(false);
    expect(await verifyPassword('password', stored.replace('p=16', 'p=15'))).toBe(false);
  });

  it('a password is the same however the keyboard composes an accent', async () => {
    expect(await verifyPassword('cafe\u0301 au lait', await hashPassword('caf\u00e9 au lait'))).toBe(true);
  });

  it('a password without an account is always wrong', async () => {
    for (const guess of ['', 'correct horse battery', '\0'.repeat(32)]) expect(await verifyPassword(guess, null)).toBe(false);
  });

  it('verification for an unknown account costs a hash like that of a known one', async () => {
    const stored = await hashPassword('correct horse battery');
    const cost = async (account: string | null): Promise<number> => {
      await scheduler.wait(1);
      const startedAt = Date.now();
      for (let i = 0; i < 2; i++) await verifyPassword('wrong password', account);
      await scheduler.wait(1);
      return Date.now() - startedAt;
    };
    // Without the hash the time would be far below that of one hash. The fastest run counts, because a busy machine only adds time.
    const costs = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
    for (let round = 0; round < 4; round++) {
      costs.known = Math.min(costs.known, await cost(stored));
      costs.unknown = Math.min(costs.unknown, await cost(null));
    }
    expect(costs.known).toBeGreaterThan(10);
    expect(costs.unknown).toBeGreaterThan(costs.known / 3);
  });

  it('a burst of logins is answered completely, each with its own result', async () => {
    const stored = await hashPassword('correct horse battery');
    const guesses = Array.from({ length: 12 }, (_, i) => (i % 3 === 0 ? 'correct horse battery' : `guess number ${i}`));
    const answers = await Promise.all(guesses.map((guess) => verifyPassword(guess, stored)));
    expect(answers).toEqual(guesses.map((_, i) => i % 3 === 0));
  });
});

describe('keyed hashes', () => {
  it('hashes differ by pepper, purpose and value', () => {
    const hashes = [
      pepperedHash('pepper one', 'api-key', 'x'),
      pepperedHash('pepper two', 'api-key', 'x'),
      pepperedHash('pepper one', 'email', 'x'),
      pepperedHash('pepper one', 'api-key', 'y'),
      pepperedHash('pepper one', 'api-keyx', ''),
      pepperedHash('pepper one', '', 'api-keyx'),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
    for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(pepperedHash('pepper one', 'api-key', 'x')).toBe(hashes[0]);
  });

  it('a keyed hash is HMAC-SHA256 of purpose, a zero byte and value, as in WebCrypto', async () => {
    const key = await crypto.subtle.importKey('raw', utf8('a pepper'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
    const mac = await crypto.subtle.sign('HMAC', key, utf8('api-key\0svc_live_x'));
    expect(pepperedHash('a pepper', 'api-key', 'svc_live_x')).toBe(hex.encode(new Uint8Array(mac)));
  });

  it('hashes are compared byte by byte, and differ at another length', () => {
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2))).toBe(true);
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3))).toBe(false);
    expect(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 0))).toBe(false);
    expect(equalBytes(new Uint8Array(), new Uint8Array())).toBe(true);
  });
});
