import { SvcError } from './errors.ts';

const VALID_KEY = /^[\x21-\x7e]{8,255}$/;

/** 8 to 255 visible ASCII characters: what the service accepts as an Idempotency-Key. */
export const isIdempotencyKey = (value: string | null | undefined): value is string => typeof value === 'string' && VALID_KEY.test(value);

/** A caller's key, checked before anything is sent; a new random one where the caller gave none. */
export function idempotencyKey(given: string | undefined): string {
  if (given === undefined) return crypto.randomUUID();
  if (isIdempotencyKey(given)) return given;
  throw new SvcError('invalid_idempotency_key', 'An Idempotency-Key has 8 to 255 visible ASCII characters, without spaces');
}

/** SHA-256 over the parts, each with its length, so that no two lists of parts read the same. Hex. */
export async function digestOf(...parts: string[]): Promise<string> {
  const text = parts.map((part) => `${part.length}:${part}`).join('');
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
