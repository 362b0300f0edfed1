import { Secret, TOTP, URI } from 'otpauth';
import { describe, expect, it } from 'vitest';
import { hex, utf8 } from '#core/encoding.ts';
import { newRecoveryCodes, normaliseRecoveryCode } from '#rules/access/recovery-codes.ts';
import { encodeTotpSecret, findTotpStep, otpauthUri } from '#rules/access/totp.ts';

const SECRET = utf8('12345678901234567890');
const NONE = -1;
const step = (now: number) => Math.floor(now / 30_000);

/** Code of a public implementation. */
const appCode = (secret: Uint8Array, timestamp: number) =>
  new TOTP({ secret: Secret.fromHex(hex.encode(secret)), algorithm: 'SHA1', digits: 6, period: 30 }).generate({ timestamp });

describe('findTotpStep', () => {
  it.each([
    [59, '287082'],
    [1111111109, '081804'],
    [1111111111, '050471'],
    [1234567890, '005924'],
    [2000000000, '279037'],
    [20000000000, '353130'],
  ])('accepts the code of RFC 6238 at %d s', (seconds, code) => {
    expect(findTotpStep(SECRET, code, { now: seconds * 1000, lastStep: NONE })).toBe(Math.floor(seconds / 30));
  });

  it('accepts the codes of a public library for random secrets and times', () => {
    for (let i = 0; i < 200; i++) {
      const secret = crypto.getRandomValues(new Uint8Array(20));
      const now = Math.floor(Math.random() * 4e12);
      expect(findTotpStep(secret, appCode(secret, now), { now, lastStep: NONE })).not.toBeNull();
    }
  });

  it('accepts the step before and after, to the millisecond, and no further one', () => {
    const begin = 1_700_000_010_000;
    const code = appCode(SECRET, begin);
    const accepted = (now: number) => findTotpStep(SECRET, code, { now, lastStep: NONE });
    expect(begin % 30_000).toBe(0);
    for (const now of [begin - 30_000, begin - 1, begin, begin + 29_999, begin + 30_000, begin + 59_999])
      expect(accepted(now), String(now - begin)).toBe(step(begin));
    for (const now of [begin - 30_001, begin + 60_000]) expect(accepted(now), String(now - begin)).toBeNull();
  });

  it('refuses the step of an earlier code and every step before', () => {
    const now = 1_700_000_010_000;
    const at = (offset: number, lastStep: number) => findTotpStep(SECRET, appCode(SECRET, now + offset), { now, lastStep });
    expect(at(0, step(now) - 1)).toBe(step(now));
    expect(at(0, step(now))).toBeNull();
    expect(at(-30_000, step(now))).toBeNull();
    expect(at(30_000, step(now))).toBe(step(now) + 1);
  });
});

describe('otpauthUri', () => {
  it('a public library reads the URI with issuer, account and secret', () => {
    const secret = crypto.getRandomValues(new Uint8Array(20));
    const uri = otpauthUri({ issuer: 'Shop & Söhne', label: 'ada+x@example.com', secret });
    const read = URI.parse(uri) as TOTP;
    expect([read.issuer, read.label, read.secret.base32, read.algorithm, read.digits, read.period]).toEqual([
      'Shop & Söhne',
      'ada+x@example.com',
      encodeTotpSecret(secret),
      'SHA1',
      6,
      30,
    ]);
  });

  it('a colon of the issuer does not separate the label', () => {
    expect((URI.parse(otpauthUri({ issuer: 'a:b', label: 'c:d', secret: SECRET })) as TOTP).issuer).toBe('a b');
  });
});

describe('newRecoveryCodes', () => {
  it('draws ten different codes of two times five characters', () => {
    const codes = newRecoveryCodes();
    expect(codes).toHaveLength(10);
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^[0-9a-hjkmnp-tv-z]{5}-[0-9a-hjkmnp-tv-z]{5}$/);
  });
});

describe('normaliseRecoveryCode', () => {
  it('reads a code as a person types it', () => {
    for (const typed of ['0123o-abcil', ' 01230 ABC11 ', '01230abcIL', 'O123O-ABCLI'])
      expect(normaliseRecoveryCode(typed), typed).toBe('01230abc11');
  });
});
