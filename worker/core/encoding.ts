import { hex as hexCodec, base58 as scure58, base64 as scure64, base64url as scure64url } from '@scure/base';
import canonicalize from 'canonicalize';

const encoder = new TextEncoder();
export const utf8 = (text: string): Uint8Array => encoder.encode(text);
export const hex = hexCodec;
export const base58 = scure58;
export const base64 = scure64;

export const base64url = {
  encode: (bytes: Uint8Array): string => scure64url.encode(bytes).replace(/=+$/, ''),
  decode: (text: string): Uint8Array => scure64url.decode(text.padEnd(Math.ceil(text.length / 4) * 4, '=')),
};

/** Decodes base64. Returns null unless the text is canonical: padded, and the unused bits of the last character are 0 (RFC 4648, 3.5). */
export function base64Bytes(text: string): Uint8Array | null {
  try {
    return base64.decode(text);
  } catch {
    return null;
  }
}

/** Canonical JSON (RFC 8785). Amounts are decimal strings, so only integers occur as numbers. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error('value has no canonical JSON');
  return text;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function base62(value: bigint, width: number): string {
  let text = '';
  for (let rest = value; text.length < width; rest /= 62n) text = BASE62[Number(rest % 62n)] + text;
  return text;
}

export const base62Value = (text: string): bigint => [...text].reduce((value, digit) => value * 62n + BigInt(BASE62.indexOf(digit)), 0n);

/** Random base62 digits without modulo bias: bytes of 248 and above are rejected. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length))) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

export function base58Bytes(text: string, length: number): Uint8Array | null {
  if (text.length > length * 2 || text.length < length) return null;
  try {
    const bytes = base58.decode(text);
    return bytes.length === length ? bytes : null;
  } catch {
    return null;
  }
}

/**
 * Parses JSON in UTF-8 that a stranger sent. Returns undefined if it is invalid, or if a `length` or `size` in it is not comparable.
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), (name, value) => {
      if ((name === 'length' || name === 'size') && !isComparable(value)) throw new RangeError(name);
      return value;
    });
  } catch {
    return undefined;
  }
}

/**
 * False for an object without a usable `toString`, and for lists too deep to join. The schema library compares `length` and `size` of values
 * of any type with numbers, and throws at these.
 */
export function isComparable(value: unknown): boolean {
  try {
    Number(value);
    return true;
  } catch {
    return false;
  }
}
