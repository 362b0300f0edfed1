import { Buffer } from 'node:buffer';
import { createPrivateKey, createPublicKey, randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { crc32 as crc32Of } from 'node:zlib';
import { ed25519 } from '@noble/curves/ed25519.js';
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 as sha256Of } from '@noble/hashes/sha2.js';
import { base64, base64url, hex, utf8 } from './encoding.ts';
import { assert } from './errors.ts';
import { Memory } from './isolate/memory.ts';

export const sha256 = (bytes: Uint8Array): Uint8Array => sha256Of(bytes);
/** CRC-32 (IEEE 802.3). Detects typos, gives no security. */
export const crc32 = (bytes: Uint8Array): number => crc32Of(bytes);
export const sha256Hex = (bytes: Uint8Array): string => hex.encode(sha256Of(bytes));
export const hmacSha256 = (key: Uint8Array, message: Uint8Array): Uint8Array => hmac(sha256Of, key, message);

/** True if the secret is in the list. All entries are compared as hashes, so timing reveals neither length nor order. */
export const isOneOf = (secret: string, known: readonly string[]): boolean =>
  known.map((one) => equalBytes(sha256(utf8(one)), sha256(utf8(secret)))).includes(true);

/**
 * Splits a secret ring: comma-separated, newest first, trimmed. If a part is shorter than `minBytes`, the text is one secret, because
 * secrets from before rings may contain a comma.
 */
export function secretRing(text: string, minBytes: number): readonly [string, ...string[]] {
  const parts = text.split(',').map((part) => part.trim()) as [string, ...string[]];
  return parts.length > 1 && parts.every((part) => utf8(part).length >= minBytes) ? parts : [text];
}

export const PEPPER_BYTES = 32;

/**
 * Hashes of a value under each pepper of a ring, in ring order. Keyed, so that a stolen table cannot be guessed offline. `purpose`
 * separates the uses of one pepper.
 */
export const pepperedHashes = (peppers: string, purpose: string, value: string): [string, ...string[]] =>
  secretRing(peppers, PEPPER_BYTES).map((pepper) => hex.encode(hmacSha256(utf8(pepper), utf8(`${purpose}\0${value}`)))) as [
    string,
    ...string[],
  ];

/** Hash of a value under the first pepper, for storage. Lookups try every pepper of the ring. */
export const pepperedHash = (peppers: string, purpose: string, value: string): string => pepperedHashes(peppers, purpose, value)[0];

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}

/** RFC 8032, strict: non-canonical encodings and small-order keys are refused. The only verifier in the service. */
export function verifyEd25519(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    if (ed25519.Point.fromBytes(publicKey).isSmallOrder()) return false;
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false;
  }
}

/** True for a point on the curve, for which a private key can exist. PDAs and token accounts are off the curve. */
export function isOnCurve(publicKey: Uint8Array): boolean {
  try {
    ed25519.Point.fromBytes(publicKey);
    return true;
  } catch {
    return false;
  }
}

/** DER prefix of a 32-byte seed in PKCS #8 and of a public key in SPKI. (RFC 8410) */
const [SEED_PREFIX, PUBLIC_PREFIX_BYTES] = [hex.decode('302e020100300506032b657004220420'), 12];

/**
 * True if 64 bytes are a Solana secret key: the second half is the public key of the first. Uses the runtime's native Ed25519, because
 * every signature sent as text is checked.
 */
export function isSecretKey(bytes: Uint8Array): boolean {
  if (bytes.length !== 64) return false;
  const seed = createPrivateKey({ key: Buffer.from([...SEED_PREFIX, ...bytes.slice(0, 32)]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(seed).export({ format: 'der', type: 'spki' });
  return equalBytes(Uint8Array.from(publicKey).slice(PUBLIC_PREFIX_BYTES), bytes.slice(32));
}

export interface SigningKey {
  keyId: string;
  publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
  /** RFC 8037 private key, for JOSE. */
  jwk: { kty: 'OKP'; crv: 'Ed25519'; x: string; d: string; kid: string };
}

const SECRETS_MAX = 100;

const keyRings = new Memory<string, readonly SigningKey[]>(SECRETS_MAX);

/**
 * Parses Ed25519 keys: comma-separated base64url seeds of 32 bytes. The first signs, all verify. A rotation puts the new seed first and
 * retains the old one. `keyId` is the first 16 hex digits of the public key's hash.
 */
export function keyRing(secret: string): readonly SigningKey[] {
  const known = keyRings.get(secret);
  if (known) return known;
  const ring = secret.split(',').map((text): SigningKey => {
    const seed = base64url.decode(text.trim());
    const publicKey = ed25519.getPublicKey(seed);
    const keyId = sha256Hex(publicKey).slice(0, 16);
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: base64url.encode(publicKey), d: base64url.encode(seed), kid: keyId } as const;
    return { keyId, publicKey, jwk, sign: (message) => ed25519.sign(message, seed) };
  });
  keyRings.set(secret, ring);
  return ring;
}

const macRings = new Memory<string, readonly Uint8Array[]>(SECRETS_MAX);

/** Parses MAC keys: comma-separated base64url seeds of 32 bytes. The first signs, all verify. */
export function macRing(secret: string): readonly Uint8Array[] {
  const known = macRings.get(secret);
  if (known) return known;
  const ring = secret.split(',').map((seed) => base64url.decode(seed.trim()));
  assert(
    ring.every((key) => key.length >= 32),
    'a MAC key has 32 bytes',
  );
  macRings.set(secret, ring);
  return ring;
}

interface SealKey {
  version: string;
  /** Type of `importKey`'s result, which exists in both Node and workerd. */
  key: Awaited<ReturnType<typeof crypto.subtle.importKey>>;
}
const sealKeys = new Memory<string, Promise<readonly SealKey[]>>(SECRETS_MAX);

function sealRing(secret: string) {
  const known = sealKeys.get(secret);
  if (known) return known;
  const ring = Promise.all(
    secret.split(',').map(async (text) => {
      const seed = base64url.decode(text.trim());
      const key = await crypto.subtle.importKey('raw', seed, 'AES-GCM', false, ['encrypt', 'decrypt']);
      return { version: sha256Hex(seed).slice(0, 8), key };
    }),
  );
  sealKeys.set(secret, ring);
  return ring;
}

/** Seals a text as `version.iv.ciphertext`. `purpose` is authenticated: a sealed text opens only for the same purpose. */
export async function seal(secret: string, purpose: string, text: string): Promise<string> {
  const [{ version, key }] = (await sealRing(secret)) as [SealKey];
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const sealed = await crypto.subtle.encrypt({ name: 'AES-GCM', iv, additionalData: utf8(purpose) }, key, utf8(text));
  return [version, base64url.encode(iv), base64url.encode(new Uint8Array(sealed))].join('.');
}

export const sealVersions = async (secret: string): Promise<[string, ...string[]]> =>
  (await sealRing(secret)).map(({ version }) => version) as [string, ...string[]];

/** Throws if the text was modified, sealed for another purpose, or sealed with a removed key. */
export async function unseal(secret: string, purpose: string, sealed: string): Promise<string> {
  const [version, iv, bytes] = sealed.split('.');
  const found = (await sealRing(secret)).find((entry) => entry.version === version);
  if (!found || !iv || !bytes) throw new Error('sealed with an unknown key');
  const algorithm = { name: 'AES-GCM', iv: base64url.decode(iv), additionalData: utf8(purpose) };
  return new TextDecoder().decode(await crypto.subtle.decrypt(algorithm, found.key, base64url.decode(bytes)));
}

export const reseal = async (secret: string, purpose: string, sealed: string): Promise<string> =>
  seal(secret, purpose, await unseal(secret, purpose, sealed));

interface ScryptCost {
  ln: number;
  r: number;
  p: number;
}

// scrypt, not PBKDF2: the platform refuses PBKDF2 above 100,000 iterations in production, though not locally.
const SCRYPT: ScryptCost = { ln: 14, r: 8, p: 5 };
const SCRYPT_MEMORY = 64 * 1024 * 1024;

const scryptHash = (password: string, salt: Uint8Array, { ln, r, p }: ScryptCost): Promise<Uint8Array> =>
  new Promise((resolve, reject) =>
    scrypt(utf8(password.normalize('NFKC')), salt, 32, { N: 2 ** ln, r, p, maxmem: SCRYPT_MEMORY }, (error, key) =>
      error ? reject(error) : resolve(new Uint8Array(key)),
    ),
  );

const written = ({ ln, r, p }: ScryptCost, salt: Uint8Array, hash: Uint8Array): string =>
  `$scrypt$ln=${ln},r=${r},p=${p}$${base64.encode(salt)}$${base64.encode(hash)}`;

export async function hashPassword(password: string): Promise<string> {
  const salt = new Uint8Array(randomBytes(16));
  return written(SCRYPT, salt, await scryptHash(password, salt, SCRYPT));
}

// Verified if the account is unknown, so that an unknown email address costs the same time as a wrong password.
const NOBODY = written(SCRYPT, new Uint8Array(16), new Uint8Array(32));

export const isHashedOtherwise = (stored: string): boolean =>
  !stored.startsWith(written(SCRYPT, new Uint8Array(0), new Uint8Array(0)).slice(0, -1));

/** Verifies with the cost stored in the hash, so that a release may raise the cost of new hashes. */
export async function verifyPassword(password: string, stored: string | null): Promise<boolean> {
  const [, , cost, salt, hash] = (stored ?? NOBODY).split('$');
  const [ln, r, p] = cost!.split(',').map((part) => Number(part.split('=')[1]));
  const actual = await scryptHash(password, base64.decode(salt!), { ln: ln!, r: r!, p: p! });
  return equalBytes(actual, base64.decode(hash!)) && stored !== null;
}
