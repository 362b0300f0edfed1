import { describe, expect, it } from 'vitest';
import { base58 } from '../../worker/core/encoding.ts';
import { findUnacceptable } from '../../worker/http/body.ts';

describe('looking for secrets in a hostile body', () => {
  /** Words of seed phrases, and never their checksum. */
  const phrase = `${Array(11).fill('abandon').join(' ')} zoo`;
  const full = (one: string, bytes: number) => Array.from({ length: Math.floor(bytes / (one.length + 3)) }, () => one);
  it.each([
    ['phrases with a wrong checksum', full(phrase, 65_000)],
    ['long phrases with a wrong checksum', full(`${Array(23).fill('abandon').join(' ')} zoo`, 65_000)],
    ['phrases whose last word is none', full(`${Array(11).fill('abandon').join(' ')} abandonn`, 65_000)],
    ['keys with a wrong half, in base58', full(base58.encode(new Uint8Array(64).fill(7)), 65_000)],
    ['keys with a wrong half, in hex', full('07'.repeat(64), 65_000)],
    ['a manifest of nothing but phrases', full(phrase, 1_000_000)],
  ])('costs no more than 5 ms on average for a body of %s', (_, body) => {
    findUnacceptable(body);
    const repeats = 100;
    const started = process.cpuUsage();
    for (let i = 0; i < repeats; i++) expect(findUnacceptable(body)).toBeNull();
    const { user, system } = process.cpuUsage(started);
    expect((user + system) / 1000 / repeats).toBeLessThanOrEqual(5);
  });
});
