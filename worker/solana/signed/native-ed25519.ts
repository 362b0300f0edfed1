/**
 * Ed25519 by the runtime, for what has to be checked by the thousand. It refuses what Solana's own check refuses
 * (`verify_strict` of ed25519-dalek: canonical encodings, no point of small order, no cofactor), so that no signature is accepted here
 * that cannot be settled there. The runtime compares R byte for byte and demands a canonical S; the key and small orders are looked at
 * here.
 * @module
 */

import { ed25519 } from '@noble/curves/ed25519.js';
import { hex } from '#core/encoding.ts';
import { Memory } from '#core/isolate/memory.ts';

type NativeKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const KEYS_MAX = 2_000;
/** By hex of the key; null: one that nothing may be signed with. */
const keys = new Memory<string, Promise<NativeKey | null>>(KEYS_MAX);

/** The canonical encodings of the eight points of small order. (RFC 8032, curve25519's torsion) */
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

/** True for a key that signatures can be made with: canonical, and of the group's prime order. */
export function isSigningKey(publicKey: Uint8Array): boolean {
  try {
    const point = ed25519.Point.fromBytes(publicKey);
    return !point.isSmallOrder() && point.isTorsionFree();
  } catch {
    return false;
  }
}

async function importKey(publicKey: Uint8Array): Promise<NativeKey | null> {
  return isSigningKey(publicKey) ? crypto.subtle.importKey('raw', publicKey, 'Ed25519', false, ['verify']) : null;
}

function keyOf(publicKey: Uint8Array): Promise<NativeKey | null> {
  const name = hex.encode(publicKey);
  const known = keys.get(name);
  if (known) return known;
  const key = importKey(publicKey);
  keys.set(name, key);
  return key;
}

/** RFC 8032, strict. False for whatever is malformed; never throws. */
export async function verifyNatively(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): Promise<boolean> {
  if (signature.length !== 64 || publicKey.length !== 32) return false;
  const key = await keyOf(publicKey);
  if (key === null || SMALL_ORDER.has(hex.encode(signature.subarray(0, 32)))) return false;
  return crypto.subtle.verify('Ed25519', key, signature, message);
}
