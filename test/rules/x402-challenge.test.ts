import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64url, utf8 } from '#core/encoding.ts';
import {
  type ChallengeFacts,
  claimedChallenge,
  newChallenge,
  paymentRequired,
  requirementsFor,
  verifyChallenge,
} from '#protocols/x402/challenge.ts';
import { PaymentRequired, sameRequirements } from '#protocols/x402/wire.ts';

const seed = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));
const [OLD, NEW, LATER] = [seed(1), seed(2), seed(3)];
const random = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const NOW = 1_790_000_000_000;
const expiresAt = NOW + 300_000;
const facts: ChallengeFacts = {
  livemode: true,
  merchantId: 'merchant',
  productId: 'product',
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  asset: 'mint',
  amount: '250000',
  payTo: 'payout wallet',
  feePayer: 'operator',
  quantity: 1,
  units: 1,
  days: null,
};
const CAPS = { maxComputeUnits: 400_000, maxComputeUnitPrice: 5_000_000, maxPriorityFeeLamports: 20_000 };
const COUNTS = ['quantity', 'units', 'days'];
const memo = newChallenge(facts, { keys: OLD, random, expiresAt });
const check = (text: string, of = facts, { keys = OLD, now = NOW } = {}) => {
  const answer = verifyChallenge(text, of, { keys, now });
  return answer.ok ? 'ok' : answer.reason;
};

describe('x402 challenge', () => {
  it('the memo has 42 characters and begins with expiry and random bytes', () => {
    expect(memo).toMatch(/^svc:[A-Za-z0-9_-]{38}$/);
    expect(utf8(memo).length).toBeLessThanOrEqual(64);
    const nonce = base64url.decode(memo.slice(4));
    expect(nonce.length).toBe(28);
    expect(new DataView(nonce.buffer, nonce.byteOffset).getUint32(0)).toBe(expiresAt / 1000);
    expect(nonce.slice(4, 12)).toEqual(random);
  });

  it('the memo is deterministic, and other random bytes give another memo', () => {
    expect(newChallenge(facts, { keys: OLD, random, expiresAt })).toBe(memo);
    expect(newChallenge(facts, { keys: OLD, random: random.with(7, 9), expiresAt }).slice(-22)).not.toBe(memo.slice(-22));
  });

  it('a challenge is valid until its expiry and expired from that moment', () => {
    expect(verifyChallenge(memo, facts, { keys: OLD, now: NOW })).toEqual({ ok: true, expiresAt });
    expect(check(memo, facts, { now: expiresAt - 1 })).toBe('ok');
    expect(check(memo, facts, { now: expiresAt })).toBe('expired');
  });

  it('a challenge stays valid while its key is listed, and the first key signs new ones', () => {
    expect(check(memo, facts, { keys: `${NEW},${OLD}` })).toBe('ok');
    expect(check(memo, facts, { keys: `${LATER}, ${NEW}` })).toBe('forged');
    const rotated = newChallenge(facts, { keys: `${NEW},${OLD}`, random, expiresAt });
    expect(check(rotated, facts, { keys: NEW })).toBe('ok');
    expect(check(rotated, facts, { keys: OLD })).toBe('forged');
  });

  it('keys have 32 bytes and the random part has 8', () => {
    expect(() => newChallenge(facts, { keys: base64url.encode(new Uint8Array(16)), random, expiresAt })).toThrow('32 bytes');
    expect(() => newChallenge(facts, { keys: '', random, expiresAt })).toThrow('32 bytes');
    expect(() => newChallenge(facts, { keys: OLD, random: new Uint8Array(7), expiresAt })).toThrow('8 random bytes');
  });

  it('a challenge is forged if one fact differs', () => {
    const other = fc.constantFrom(...(Object.keys(facts) as (keyof ChallengeFacts)[])).chain((field) =>
      fc.record({
        field: fc.constant(field),
        value: field === 'livemode' ? fc.boolean() : COUNTS.includes(field) ? fc.integer({ min: 1, max: 1_000_000 }) : fc.string(),
      }),
    );
    const property = fc.property(other, ({ field, value }) => {
      const same = facts[field] === value;
      expect(check(memo, { ...facts, [field]: value })).toBe(same ? 'ok' : 'forged');
    });
    fc.assert(property, { numRuns: 500 });
  });

  it('a challenge is forged if text moves between facts or two facts are swapped', () => {
    const texts = ['merchantId', 'productId', 'network', 'asset', 'amount', 'payTo', 'feePayer'] as const;
    const splits = fc.tuple(fc.nat(texts.length - 2), fc.string(), fc.string(), fc.nat(), fc.nat());
    const property = fc.property(splits, ([at, left, right, from, to]) => {
      const [a, b] = [texts[at]!, texts[at + 1]!];
      const joined = left + right;
      const cut = (n: number) => ({ ...facts, [a]: joined.slice(0, n % (joined.length + 1)), [b]: joined.slice(n % (joined.length + 1)) });
      const [signed, shown] = [cut(from), cut(to)];
      const made = newChallenge(signed, { keys: OLD, random, expiresAt });
      expect(check(made, shown)).toBe(signed[a] === shown[a] && signed[b] === shown[b] ? 'ok' : 'forged');
      expect(check(made, { ...signed, [a]: signed[b], [b]: signed[a] })).toBe(signed[a] === signed[b] ? 'ok' : 'forged');
    });
    fc.assert(property, { numRuns: 300 });
  });

  it('a challenge with one changed character is forged or malformed', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    for (let at = 4; at < memo.length; at++) {
      for (const character of alphabet) {
        if (character === memo[at]) continue;
        expect(check(memo.slice(0, at) + character + memo.slice(at + 1)), `${at} ${character}`).toMatch(/^(?:forged|malformed)$/);
      }
    }
  });

  it('a challenge for a quantity is forged for another quantity', () => {
    const many = newChallenge({ ...facts, quantity: 25 }, { keys: OLD, random, expiresAt });
    expect(check(many, { ...facts, quantity: 25 })).toBe('ok');
    for (const quantity of [1, 2, 24, 250]) expect(check(many, { ...facts, quantity })).toBe('forged');
  });

  it.each(['', 'svc:', 'svc:nonce', memo.slice(4), `${memo}A`, memo.slice(0, -1), ` ${memo}`, memo.replace('svc:', 'SVC:'), `${memo}=`])(
    '%j is malformed',
    (text) => expect(check(text)).toBe('malformed'),
  );

  it('any text is refused without throwing', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `svc:${text}`),
        ),
        (text) => check(text) !== 'ok',
      ),
    );
  });
});

describe('x402 payment requirements', () => {
  const requirements = requirementsFor(facts, memo);

  it('the requirements are of the exact scheme and contain the memo', () => {
    expect(requirements).toEqual({
      scheme: 'exact',
      network: facts.network,
      asset: 'mint',
      amount: '250000',
      payTo: 'payout wallet',
      maxTimeoutSeconds: 300,
      extra: { feePayer: 'operator', memo, ...CAPS },
    });
    expect(requirementsFor({ ...facts, quantity: 25 }, memo).extra).toEqual({ feePayer: 'operator', memo, ...CAPS, quantity: 25 });
  });

  it('PaymentRequired is valid, with an error only if there is one', () => {
    const resource = { url: 'https://api.example/report' };
    const extensions = {};
    expect(paymentRequired(resource, [requirements], { extensions })).toEqual({
      x402Version: 2,
      resource,
      accepts: [requirements],
      extensions,
    });
    const refused = paymentRequired(resource, [requirements], { error: 'invalid_exact_svm_payload_amount_mismatch', extensions });
    expect(refused.error).toBe('invalid_exact_svm_payload_amount_mismatch');
    expect(PaymentRequired.parse(refused)).toEqual(refused);
  });

  it('an echo yields the facts and the memo of its challenge', () => {
    const sale = { livemode: true, merchantId: 'merchant', productId: 'product' };
    for (const terms of [{}, { quantity: 25 }, { units: null, days: 30 }, { quantity: 2, units: 1000 }]) {
      const of = { ...facts, ...terms };
      const made = newChallenge(of, { keys: OLD, random, expiresAt });
      const echo = structuredClone(requirementsFor(of, made));
      const claimed = claimedChallenge({ ...echo, extra: { ...echo.extra, recentBlockhash: 'a', note: 1 } }, sale)!;
      expect(claimed).toEqual({ facts: of, memo: made });
      expect(check(claimed.memo, claimed.facts)).toBe('ok');
      expect(sameRequirements(requirementsFor(claimed.facts, claimed.memo), echo)).toBe(true);
      expect(check(made, claimedChallenge(echo, { ...sale, productId: 'another' })!.facts)).toBe('forged');
      expect(check(made, claimedChallenge(echo, { ...sale, livemode: false })!.facts)).toBe('forged');
    }
  });

  it.each([
    null,
    {},
    { ...CAPS, feePayer: 'operator' },
    { ...CAPS, memo },
    { ...CAPS, feePayer: 1, memo },
    { ...CAPS, feePayer: 'operator', memo: [memo] },
    { feePayer: 'operator', memo },
    ...Object.entries(CAPS).map(([name, cap]) => ({ ...CAPS, feePayer: 'operator', memo, [name]: cap + 1 })),
    ...[0, -1, 1.5, '2', null, 2 ** 53].map((quantity) => ({ ...CAPS, feePayer: 'operator', memo, quantity })),
    ...[0, -1, 1.5, '2', 2 ** 53].flatMap((count) => [
      { ...CAPS, feePayer: 'operator', memo, units: count },
      { ...CAPS, feePayer: 'operator', memo, days: count },
    ]),
  ])('an echo with the extra %j yields no challenge', (extra) => {
    expect(claimedChallenge({ ...requirements, extra }, { livemode: true, merchantId: 'merchant', productId: 'product' })).toBeNull();
  });
});
