import { describe, expect, it } from 'vitest';
import { base58, hex } from '#core/encoding.ts';
import { addressesFrom } from '#platform/db/search/address-range.ts';

const BYTES = 32;
const numberOf = (address: string): bigint => BigInt(`0x${hex.encode(base58.decode(address))}`);
const addressOf = (value: bigint): string => base58.encode(hex.decode(value.toString(16).padStart(2 * BYTES, '0')));
const isIn = (address: string, start: string): boolean =>
  addressesFrom(start).some(([first, last]) => numberOf(first) <= numberOf(address) && numberOf(address) <= numberOf(last));

/** Addresses with leading bytes of zero, and the first and last of all. */
const ADDRESSES = [0, 1, 2, 3, 31, 32].flatMap((zeros) =>
  [0, 1, 2, 255].map((fill) =>
    base58.encode(Uint8Array.from({ length: BYTES }, (_, i) => (i < zeros ? 0 : fill === 1 ? (i * 37 + 11) % 256 : fill))),
  ),
);

describe('addressesFrom', () => {
  it('contains each address under each of its prefixes', () => {
    for (const address of ADDRESSES)
      for (let length = 1; length <= address.length; length++)
        expect([address, length, isIn(address, address.slice(0, length))]).toEqual([address, length, true]);
  });

  it('contains no address without the prefix', () => {
    for (const start of ADDRESSES.flatMap((address) => [1, 2, 5, 20, 40].map((length) => address.slice(0, length)))) {
      for (const other of ADDRESSES) expect([start, other, isIn(other, start)]).toEqual([start, other, other.startsWith(start)]);
      for (const [first, last] of addressesFrom(start)) {
        expect([first.startsWith(start), last.startsWith(start)]).toEqual([true, true]);
        const neighbours = [numberOf(first) - 1n, numberOf(last) + 1n].filter((value) => value >= 0n && value < 256n ** BigInt(BYTES));
        for (const value of neighbours) expect(addressOf(value).startsWith(start) && !isIn(addressOf(value), start)).toBe(false);
      }
    }
  });

  it.each(['', '0x', 'O', '2'.repeat(45), '1'.repeat(33)])('a text that begins no address has no range: %j', (start) => {
    expect(addressesFrom(start)).toEqual([]);
  });
});
