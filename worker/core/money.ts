import { err, ok, type Result } from './errors.ts';

/** Sold assets with their decimals. Amounts of different assets are never added. */
export const DECIMALS = { USDC: 6, SOL: 9 } as const;
export type Asset = keyof typeof DECIMALS;
export const ASSETS = Object.keys(DECIMALS) as [Asset, ...Asset[]];
export const isAsset = (text: string): text is Asset => Object.hasOwn(DECIMALS, text);

/** Amount in atomic units of one asset: micro-USDC or lamports. */
export interface Money<A extends Asset = Asset> {
  readonly asset: A;
  readonly units: bigint;
}

export interface MoneyResource {
  asset: Asset;
  amount: string;
  base_units: string;
}

/** The chain counts in u64: a larger amount cannot be paid. */
export const MONEY_UNITS_MAX = 2n ** 64n - 1n;

export const money = <A extends Asset>(asset: A, units: bigint): Money<A> => {
  if (units < 0n || units > MONEY_UNITS_MAX) throw new Error(`amount out of range: ${units} ${asset}`);
  return { asset, units };
};

type AmountProblem = 'not_a_decimal' | 'too_many_decimals' | 'out_of_range';

/**
 * Parses decimal text to atomic units. Rejects signs, exponents, leading zeros, a bare point, and more decimals than the asset has (never
 * rounds).
 */
export function parseAmount(asset: Asset, text: string): Result<Money, AmountProblem> {
  const match = /^(0|[1-9][0-9]{0,19})(?:\.([0-9]{1,30}))?$/.exec(text);
  if (!match) return err('not_a_decimal');
  const decimals = DECIMALS[asset];
  const fraction = match[2] ?? '';
  if (fraction.length > decimals) return err('too_many_decimals');
  const units = BigInt(match[1] + fraction.padEnd(decimals, '0'));
  return units > MONEY_UNITS_MAX ? err('out_of_range') : ok({ asset, units });
}

export function explainAmount(asset: Asset, problem: AmountProblem): string {
  if (problem === 'too_many_decimals') return `Expected an amount of ${asset} with at most ${DECIMALS[asset]} decimals`;
  if (problem === 'out_of_range') return `Expected a smaller amount of ${asset}`;
  return `Expected an amount of ${asset}: a decimal with a point and without spaces, such as "5.00"`;
}

export function formatAmount({ asset, units }: Money): string {
  const decimals = DECIMALS[asset];
  const digits = units.toString().padStart(decimals + 1, '0');
  const fraction = digits.slice(-decimals).replace(/0+$/, '');
  return digits.slice(0, -decimals) + (fraction && `.${fraction}`);
}

export const toMoneyResource = (amount: Money): MoneyResource => ({
  asset: amount.asset,
  amount: formatAmount(amount),
  base_units: amount.units.toString(),
});

/** Basis points of an amount, rounded down in the payer's favor. */
export const basisPoints = <A extends Asset>({ asset, units }: Money<A>, bps: number): Money<A> =>
  money(asset, (units * BigInt(bps)) / 10_000n);

export function subtract<A extends Asset>(from: Money<A>, amount: Money<NoInfer<A>>): Money<A> {
  if (from.asset !== amount.asset) throw new Error('two assets in one sum');
  return money(from.asset, from.units - amount.units);
}

/** Dollars per SOL as an oracle reports: `price` × 10^`expo`. One USDC counts as one dollar. */
export interface Rate {
  price: bigint;
  expo: number;
}

export const formatRate = ({ price, expo }: Rate): string => {
  const digits = price.toString().padStart(1 - expo, '0');
  const fraction = expo === 0 ? '' : digits.slice(expo).replace(/0+$/, '');
  return digits.slice(0, digits.length + expo) + (fraction && `.${fraction}`);
};

/**
 * Converts an amount to the other asset, rounded up so that the payee never gets less. The only conversion between assets. Returns null
 * above u64.
 */
export function convert(amount: Money, asset: Asset, { price, expo }: Rate): Money | null {
  if (amount.asset === asset) return amount;
  // Atomic units of SOL per atomic unit of USDC at one dollar, with the decimals of the price.
  const scale = 10n ** BigInt(DECIMALS.SOL - DECIMALS.USDC - expo);
  const [numerator, denominator] = asset === 'SOL' ? [amount.units * scale, price] : [amount.units * price, scale];
  const units = (numerator + denominator - 1n) / denominator;
  return units > MONEY_UNITS_MAX ? null : money(asset, units);
}
