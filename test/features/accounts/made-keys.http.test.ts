import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { crc32, pepperedHash } from '#core/crypto.ts';
import { base62, randomBase62, utf8 } from '#core/encoding.ts';
import { type AccountId, admissionIdOf, newId } from '#core/ids.ts';
import { parseRawKey } from '#features/accounts/keys/raw-key.ts';
import { type Ctx, newCtx } from '#platform/context.ts';
import { type Merchant, World } from '../../support/world.ts';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const w = new World();
const ctxOf = (world: World): Ctx => newCtx(world.env, { requestId: 'request-1', defer: () => {} });
const ctx = ctxOf(w);

/** Builds a key as the contract describes it, without the service. */
const keyOf = (accountId: string, mode: 'live' | 'test', random = randomBase62(21)): string => {
  const body = `svc_${mode}_${random}${admissionIdOf(accountId)}`;
  return body + base62(BigInt(crc32(utf8(body))), 6);
};
const anyKey = fc
  .tuple(fc.string({ unit: fc.constantFrom(...DIGITS), minLength: 21, maxLength: 21 }), fc.constantFrom('live', 'test'))
  .map(([random, mode]) => keyOf(newId<AccountId>(1_700_000_000_000, null), mode, random));

describe('generated API key', () => {
  let merchant: Merchant;
  beforeAll(async () => {
    merchant = await w.merchant();
  });

  it('a key contains its mode, its account’s admission id and a checksum that only the service can compute', () => {
    for (const [rawKey, mode] of [
      [merchant.key, 'live'],
      [merchant.sandboxKey, 'test'],
    ] as const) {
      expect(rawKey).toMatch(new RegExp(`^svc_${mode}_[0-9A-Za-z]{38}$`));
      expect(rawKey.slice(-17, -6)).toBe(admissionIdOf(merchant.userId));
      expect(rawKey).not.toBe(keyOf(merchant.userId, mode, rawKey.slice('svc_live_'.length, -17)));
      expect(parseRawKey(ctx, rawKey)).toMatchObject({ admissionId: admissionIdOf(merchant.userId), isVouched: true });
      expect(parseRawKey(ctxOf(new World({ PEPPER: 'another pepper, of thirty-two bytes or more' })), rawKey)).toBeNull();
    }
  });

  it('the key list shows only the prefix and four characters of a key', async () => {
    const { body } = await w.call('GET', '/v1/keys', { key: merchant.token });
    const prefixes = (body as { key_prefix: string }[]).map(({ key_prefix }) => key_prefix).sort();
    expect(prefixes).toEqual([merchant.key.slice(0, 13), merchant.sandboxKey.slice(0, 13)].sort());
    for (const prefix of prefixes) expect(prefix).toMatch(/^svc_(live|test)_[0-9A-Za-z]{4}$/);
    const text = JSON.stringify(body);
    for (const rawKey of [merchant.key, merchant.sandboxKey]) expect(text).not.toContain(rawKey.slice(0, 14));
  });

  it('the database stores only the keyed hash of a key', async () => {
    const { results } = await w.env.DB.prepare('SELECT * FROM api_keys WHERE merchant_id = ?').bind(merchant.userId).all();
    const hashes = results.map((row) => row.key_hash).sort();
    expect(hashes).toEqual([merchant.key, merchant.sandboxKey].flatMap((rawKey) => parseRawKey(ctx, rawKey)!.keyHashes).sort());
    for (const rawKey of [merchant.key, merchant.sandboxKey]) expect(JSON.stringify(results)).not.toContain(rawKey.slice(14));
  });

  it('two keys of one account have different random parts', () => {
    const randoms = [merchant.key, merchant.sandboxKey].map((rawKey) => rawKey.slice('svc_live_'.length, -17));
    expect(randoms[0]).not.toBe(randoms[1]);
    for (const random of randoms) expect(random).toHaveLength(21);
  });
});

describe('parseRawKey', () => {
  it('a valid key parses to the admission id of its account and its keyed hash', () => {
    const accountId = newId<AccountId>(5, null);
    const rawKey = keyOf(accountId, 'live');
    expect(parseRawKey(ctx, rawKey)).toEqual({
      admissionId: admissionIdOf(accountId),
      keyHashes: [pepperedHash(ctx.config.PEPPER, 'api-key', rawKey)],
      isVouched: false,
    });
  });

  it('another pepper yields another hash', () => {
    const rawKey = keyOf(newId<AccountId>(5, null), 'live');
    const other = ctxOf(new World({ PEPPER: 'another pepper, of thirty-two bytes or more' }));
    expect(parseRawKey(other, rawKey)!.keyHashes).not.toEqual(parseRawKey(ctx, rawKey)!.keyHashes);
    expect(parseRawKey(other, rawKey)!.admissionId).toBe(parseRawKey(ctx, rawKey)!.admissionId);
  });

  it('a key with one changed character is refused without any lookup', () => {
    fc.assert(
      fc.property(anyKey, fc.integer({ min: 0, max: 46 }), fc.constantFrom(...DIGITS, '_', '-', ' '), (rawKey, at, character) => {
        expect(rawKey).toHaveLength(47);
        fc.pre(rawKey[at] !== character);
        expect(parseRawKey(ctx, rawKey)).not.toBeNull();
        expect(parseRawKey(ctx, rawKey.slice(0, at) + character + rawKey.slice(at + 1))).toBeNull();
      }),
      { numRuns: 2000 },
    );
  });

  it('a key with two neighbouring characters swapped is refused', () => {
    fc.assert(
      fc.property(anyKey, fc.integer({ min: 9, max: 45 }), (rawKey, at) => {
        fc.pre(rawKey[at] !== rawKey[at + 1]);
        expect(parseRawKey(ctx, rawKey.slice(0, at) + rawKey[at + 1] + rawKey[at] + rawKey.slice(at + 2))).toBeNull();
      }),
      { numRuns: 500 },
    );
  });

  it('a key with its mode changed is refused, in either direction', () => {
    const [live, test] = [keyOf(newId<AccountId>(5, null), 'live'), keyOf(newId<AccountId>(5, null), 'test')];
    expect(parseRawKey(ctx, live.replace('svc_live_', 'svc_test_'))).toBeNull();
    expect(parseRawKey(ctx, test.replace('svc_test_', 'svc_live_'))).toBeNull();
  });

  it('a key with characters added or missing is refused', () => {
    fc.assert(
      fc.property(anyKey, fc.string({ minLength: 1, maxLength: 3 }), (rawKey, more) => {
        for (const text of [
          rawKey + more,
          more + rawKey,
          rawKey.slice(0, -1),
          rawKey.slice(1),
          `${rawKey}\n`,
          rawKey.toLowerCase().toUpperCase(),
        ])
          expect(parseRawKey(ctx, text), JSON.stringify(text)).toBeNull();
      }),
    );
    expect(parseRawKey(ctx, '')).toBeNull();
  });
});
