/**
 * Ed25519 by the runtime, for bulk verification. Refuses what Solana refuses (`verify_strict` of ed25519-dalek: canonical encodings, no
 * small-order point, no cofactor), so that every accepted signature can be settled. The runtime checks R and S. Key and small orders are
 * checked here.
 * @module
 */

import { ed25519 } from '@noble/curves/ed25519.js';
import { hex } from '#core/encoding.ts';
import { Memory } from '#core/isolate/memory.ts';

type NativeKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const KEYS_MAX = 2_000;
const keys = new Memory<string, Promise<NativeKey | null>>(KEYS_MAX);

/** Canonical encodings of the eight small-order points. (RFC 8032, curve25519's torsion) */
const SMALL_ORDER = new Set([
  '0100000000000000000000000000000000000000000000000000000000000000',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0000000000000000000000000000000000000000000000000000000000000080',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85',
]);

/** True for a key that can sign: canonical and of the group's prime order. */
export function isSigningKey(publicKey: Uint8Array): boolean {
  try {
    const point = ed25519.Point.fromBytes(publicKey);
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    return false;
  }
}

async function toCryptoKey(publicKey: Uint8Array): Promise<NativeKey | null> {
  return isSigningKey(publicKey) ? crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify']) : null;
}

function importKey(publicKey: Uint8Array): Promise<NativeKey | null> {
  const name = hex.encode(publicKey);
  const known = keys.get(name);
  if (known) return known;
  const key = toCryptoKey(publicKey);
  keys.set(name, key);
  return key;
}

/** RFC 8032, strict. Returns false for malformed input and never throws. */
export async function verifyNatively(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): Promise<boolean> {
  if (signature.length !== 64 || publicKey.length !== 32) return false;
  const key = await importKey(publicKey);
  if (key === null || SMALL_ORDER.has(hex.encode(signature.subarray(0, 32)))) return false;
  return crypto.subtle.verify('Ed25519', key, signature, message);
}
