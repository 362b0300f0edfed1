/**
 * Codes that replace a lost factor, each once. Pure but for randomness.
 * @module
 */

export const RECOVERY_CODES = 10;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const HALF = 5;

/** Ten codes of 50 random bits, in Crockford's base32. 32 divides 256, so the remainder has no bias. */
export function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const digits = [...crypto.getRandomValues(new Uint8Array(2 * HALF))].map((byte) => ALPHABET[byte % ALPHABET.length]!).join('');
    return `${digits.slice(0, HALF)}-${digits.slice(HALF)}`;
  });
}

/** Returns one spelling per code: lower case, without spaces and hyphens, and with the digits that Crockford reads for `i`, `l` and `o`. */
export const normaliseRecoveryCode = (code: string): string =>
  code.toLowerCase().replace(/[\s-]/g, '').replace(/[il]/g, '1').replaceAll('o', '0');
