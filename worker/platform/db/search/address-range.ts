import { base58, hex } from '#core/encoding.ts';

const DIGITS = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const BYTES = 32;
const TEXT_MAX = 44;

const addressOf = (value: bigint): string => base58.encode(hex.decode(value.toString(16).padStart(2 * BYTES, '0')));

/**
 * Lists the ranges of addresses with the prefix `start`, each as its first and final address in the order of their bytes. A leading 1 is a
 * byte of zero. The other digits are a number, so there is a range for each possible count of digits.
 */
export function addressesFrom(start: string): [string, string][] {
  if (!/^[1-9A-HJ-NP-Za-km-z]{1,44}$/.test(start)) return [];
  const digits = start.replace(/^1+/, '');
  const zeros = start.length - digits.length;
  if (zeros > BYTES) return [];
  const end = 256n ** BigInt(BYTES - zeros);
  if (digits === '') return [[addressOf(0n), addressOf(end - 1n)]];
  const least = end / 256n;
  const number = [...digits].reduce((sum, digit) => sum * 58n + BigInt(DIGITS.indexOf(digit)), 0n);
  const ranges: [string, string][] = [];
  for (let more = 0; more <= TEXT_MAX - start.length; more++) {
    const size = 58n ** BigInt(more);
    const [first, last] = [number * size, (number + 1n) * size - 1n];
    if (first < end && last >= least) ranges.push([addressOf(first < least ? least : first), addressOf(last < end ? last : end - 1n)]);
  }
  return ranges;
}
