import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ASSETS,
  type Asset,
  basisPoints,
  DECIMALS,
  formatAmount,
  MONEY_UNITS_MAX,
  type Money,
  money,
  parseAmount,
  subtract,
  toMoneyResource,
} from '#core/money.ts';

const asset = fc.constantFrom(...ASSETS);
const units = fc.oneof(
  fc.bigInt({ min: 0n, max: MONEY_UNITS_MAX }),
  fc.bigInt({ min: 0n, max: 1_000n }),
  fc.tuple(fc.bigInt({ min: 0n, max: 9n }), fc.integer({ min: 0, max: 18 })).map(([digit, zeros]) => digit * 10n ** BigInt(zeros)),
  fc.constantFrom(MONEY_UNITS_MAX, MONEY_UNITS_MAX - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n),
);
const unitsOf = (asset: Asset, text: string): bigint => {
  const parsed = parseAmount(asset, text);
  if (!parsed.ok) throw new Error(`${text} ${asset}: ${parsed.reason}`);
  return parsed.value.units;
};
const refusal = (asset: Asset, text: string): string | null => {
  const parsed = parseAmount(asset, text);
  return parsed.ok ? null : parsed.reason;
};

describe('parseAmount and formatAmount', () => {
  it('every written amount parses to itself, over all of u64 and both assets', () => {
    fc.assert(
      fc.property(asset, units, (asset, units) => {
        const text = formatAmount({ asset, units });
        expect(parseAmount(asset, text)).toEqual({ ok: true, value: { asset, units } });
      }),
      { numRuns: 2000 },
    );
  });

  it('an amount has exactly one text: no trailing zero, no bare point, no leading zero', () => {
    fc.assert(
      fc.property(asset, units, (asset, units) => {
        const text = formatAmount({ asset, units });
        expect(text).toMatch(/^(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/);
        expect(text.split('.')[1]?.length ?? 0).toBeLessThanOrEqual(DECIMALS[asset]);
      }),
    );
  });

  it('trailing zeros within the asset’s decimals parse to the same amount', () => {
    expect(['5', '5.0', '5.00', '5.000000'].map((text) => unitsOf('USDC', text))).toEqual(Array(4).fill(5_000_000n));
    expect(refusal('USDC', '5.0000000')).toBe('too_many_decimals');
  });

  it('every price in cents up to ten thousand dollars parses exactly', () => {
    for (let cents = 0; cents <= 1_000_000; cents++) {
      const text = `${Math.trunc(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
      const parsed = parseAmount('USDC', text);
      if (!parsed.ok || parsed.value.units !== BigInt(cents) * 10_000n) expect(parsed, text).toBe(`${cents} cents`);
    }
  });

  it('more decimals than the asset has are refused and never rounded, zeros included', () => {
    expect(refusal('USDC', '0.0000001')).toBe('too_many_decimals');
    expect(refusal('USDC', '1.9999999')).toBe('too_many_decimals');
    expect(refusal('SOL', '0.0000000001')).toBe('too_many_decimals');
    expect(unitsOf('USDC', '0.000001')).toBe(1n);
    expect(unitsOf('SOL', '0.000000001')).toBe(1n);
    fc.assert(
      fc.property(asset, units, fc.integer({ min: 0, max: 9 }), (asset, units, digit) => {
        const integerPart = formatAmount({ asset, units }).split('.')[0];
        const fraction = units.toString().padStart(DECIMALS[asset], '0').slice(-DECIMALS[asset]);
        expect(parseAmount(asset, `${integerPart}.${fraction}${digit}`)).toEqual({ ok: false, reason: 'too_many_decimals' });
      }),
    );
  });

  it('the largest amount of the chain parses, and one unit more is refused', () => {
    expect(unitsOf('USDC', '18446744073709.551615')).toBe(MONEY_UNITS_MAX);
    expect(refusal('USDC', '18446744073709.551616')).toBe('out_of_range');
    expect(unitsOf('SOL', '18446744073.709551615')).toBe(MONEY_UNITS_MAX);
    expect(refusal('SOL', '18446744073.709551616')).toBe('out_of_range');
    expect(refusal('SOL', '99999999999999999999')).toBe('out_of_range');
    expect(parseAmount('USDC', '9'.repeat(1000)).ok).toBe(false);
  });

  it.each([
    ['nothing', ['', ' ', '\n']],
    ['a sign', ['+1', '-1', '-0', '−1', '1-']],
    ['an exponent', ['1e6', '1E6', '1e-6', '1.0e2']],
    ['a leading zero', ['01', '00', '00.5', '007']],
    ['a bare point', ['.', '.5', '5.', '0.', '1..2', '1.2.3']],
    ['spaces', [' 1', '1 ', '1 000', '1\t', '1\n', '\u00a01', '1\u200b']],
    ['digits of another script', ['１', '١', '४', '𝟙', '1.٥', '²']],
    ['separators', ['1,5', '1_000', "1'000", '1,000.00']],
    ['another notation', ['0x10', '0b1', '1n', 'NaN', 'Infinity', '1/2', '$5', '5 USDC', 'null']],
  ])('parseAmount refuses %s as not_a_decimal', (_, texts) => {
    for (const text of texts) for (const asset of ASSETS) expect(refusal(asset, text), JSON.stringify(text)).toBe('not_a_decimal');
  });

  it('an accepted text means exactly the returned amount', () => {
    const characters = fc.constantFrom(...'0123456789.+-eE, x٣');
    fc.assert(
      fc.property(asset, fc.string({ unit: characters, maxLength: 24 }), (asset, text) => {
        const parsed = parseAmount(asset, text);
        if (!parsed.ok) return;
        const [integerPart = '', fraction = ''] = text.split('.');
        expect(BigInt(integerPart) * 10n ** BigInt(DECIMALS[asset]) + BigInt(fraction.padEnd(DECIMALS[asset], '0'))).toBe(
          parsed.value.units,
        );
      }),
      { numRuns: 3000 },
    );
  });

  it('the money resource has both notations of an amount, as strings', () => {
    expect(toMoneyResource(money('USDC', 12_500_000n))).toEqual({ asset: 'USDC', amount: '12.5', base_units: '12500000' });
    expect(toMoneyResource(money('SOL', MONEY_UNITS_MAX))).toEqual({
      asset: 'SOL',
      amount: '18446744073.709551615',
      base_units: '18446744073709551615',
    });
  });
});

describe('money arithmetic', () => {
  it('an amount below zero or above u64 throws', () => {
    expect(() => money('USDC', -1n)).toThrow('out of range');
    expect(() => money('SOL', MONEY_UNITS_MAX + 1n)).toThrow('out of range');
    expect(money('SOL', MONEY_UNITS_MAX).units).toBe(MONEY_UNITS_MAX);
    expect(money('USDC', 0n).units).toBe(0n);
  });

  it('basis points are rounded down and never exceed the amount', () => {
    fc.assert(
      fc.property(asset, units, fc.integer({ min: 0, max: 10_000 }), (asset, units, bps) => {
        const share = basisPoints({ asset, units }, bps);
        expect(share.asset).toBe(asset);
        expect(share.units <= units).toBe(true);
        // floor(x): x - 1 < floor(x) <= x, compared without dividing.
        expect(share.units * 10_000n <= units * BigInt(bps)).toBe(true);
        expect((share.units + 1n) * 10_000n > units * BigInt(bps)).toBe(true);
      }),
    );
    expect(basisPoints(money('USDC', 1n), 9_999).units).toBe(0n);
    expect(basisPoints(money('USDC', 5_000_000n), 100).units).toBe(50_000n);
    expect(basisPoints(money('USDC', MONEY_UNITS_MAX), 10_000).units).toBe(MONEY_UNITS_MAX);
  });

  it('the parts of a split amount add up to the amount', () => {
    fc.assert(
      fc.property(asset, units, fc.integer({ min: 0, max: 5_000 }), (asset, units, bps) => {
        const fee = basisPoints({ asset, units }, bps);
        expect(subtract({ asset, units }, fee).units + fee.units).toBe(units);
      }),
    );
  });

  it('a sum of two assets throws', () => {
    const usdc: Money = money('USDC', 5n);
    const sol: Money = money('SOL', 5n);
    expect(() => subtract(usdc, sol)).toThrow('two assets');
    expect(() => subtract(sol, usdc)).toThrow('two assets');
  });

  it('a negative difference throws', () => {
    expect(() => subtract(money('USDC', 1n), money('USDC', 2n))).toThrow('out of range');
    expect(subtract(money('USDC', 2n), money('USDC', 2n))).toEqual({ asset: 'USDC', units: 0n });
  });
});
