import { SvcError } from '../errors/svc-error.ts';

const VALID_KEY = /^[\x21-\x7e]{8,255}$/;

/** Checks for 8 to 255 visible ASCII characters, the service's format of an Idempotency-Key. */
export const isIdempotencyKey = (value: string | null | undefined): value is string => typeof value === 'string' && VALID_KEY.test(value);

/** Validates a caller's key before sending, or makes a random one. */
export function idempotencyKey(given: string | undefined): string {
  if (given === undefined) return `sdk_${crypto.randomUUID()}`;
  if (isIdempotencyKey(given)) return given;
  throw new SvcError(
    'invalid_idempotency_key',
    'An Idempotency-Key has 8 to 255 visible ASCII characters, without spaces. Send a UUID, for example.',
  );
}

/** Hashes length-prefixed parts with SHA-256 (hex), so that different lists never collide. */
export async function digestText(...parts: string[]): Promise<string> {
  const text = parts.map((part) => `${part.length}:${part}`).join('');
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
