/**
 * Codes of an authenticator app (RFC 6238: SHA-1, six digits, 30 seconds). Pure: no clock, no storage.
 * @module
 */

import { hmac } from '@noble/hashes/hmac.js';
import { sha1 } from '@noble/hashes/legacy.js';
import { base32 } from '@scure/base';
import { equalBytes } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { SECOND } from '#core/time.ts';

export const TOTP = { digits: 6, stepMs: 30 * SECOND, secretBytes: 20 } as const;
/** Steps before and after the current one that are accepted, because clocks differ. */
const SKEW_STEPS = 1;

export const encodeTotpSecret = (secret: Uint8Array): string => base32.encode(secret).replace(/=+$/, '');

/** RFC 4226, 5.3. */
function codeOf(secret: Uint8Array, step: number): string {
  const counter = new Uint8Array(8);
  new DataView(counter.buffer).setBigUint64(0, BigInt(step));
  const mac = hmac(sha1, secret, counter);
  const view = new DataView(mac.buffer, mac.byteOffset, mac.byteLength);
  const value = view.getUint32(mac.at(-1)! & 15) & 0x7fffffff;
  return String(value % 10 ** TOTP.digits).padStart(TOTP.digits, '0');
}

/** Finds the step of a code: the current one, the one before or the one after, if later than `lastStep`. Null for a wrong or used code. */
export function findTotpStep(secret: Uint8Array, code: string, { now, lastStep }: { now: number; lastStep: number }): number | null {
  const current = Math.floor(now / TOTP.stepMs);
  const steps = Array.from({ length: 2 * SKEW_STEPS + 1 }, (_, i) => current - SKEW_STEPS + i);
  // Compares with every step, so that timing does not reveal the offset of the caller's clock.
  const matching = steps.filter((step) => equalBytes(utf8(codeOf(secret, step)), utf8(code)));
  return matching.find((step) => step > lastStep) ?? null;
}

/** Key URI that an authenticator app reads from a QR code. */
export function otpauthUri({ issuer, label, secret }: { issuer: string; label: string; secret: Uint8Array }): string {
  // A colon separates issuer and account.
  const plain = (text: string) => encodeURIComponent(text.replaceAll(':', ' '));
  const query = `secret=${encodeTotpSecret(secret)}&issuer=${plain(issuer)}&algorithm=SHA1&digits=${TOTP.digits}&period=${TOTP.stepMs / SECOND}`;
  return `otpauth://totp/${plain(issuer)}:${plain(label)}?${query}`;
}
