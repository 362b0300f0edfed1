import type { TextKey } from '../locales/dictionaries.ts';

/** Words and numbers of one language; the same on the server and in the browser. */
export type Say<Key extends string = TextKey> = (key: Key, values?: Record<string, string>) => string;

export interface Amount {
  asset: string;
  amount: string;
}

export const sayIn =
  <Key extends string>(text: Record<Key, string>): Say<Key> =>
  (key, values = {}) =>
    text[key].replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);

/** Formats an amount exactly: Intl reads the text of a decimal digit by digit (ES2023), so an amount never becomes a float. */
const asDecimal = (text: string) => text as `${number}`;

/** `12.50` for USDC, as many digits as there are for anything else. */
export const formatNumber = (locale: string, { asset, amount }: Amount): string =>
  new Intl.NumberFormat(locale, { minimumFractionDigits: asset === 'USDC' ? 2 : 0, maximumFractionDigits: 9 }).format(asDecimal(amount));

export const formatMoney = (locale: string, money: Amount): string => `${formatNumber(locale, money)}\u00a0${money.asset}`;

/** An amount that is not fixed yet: no more digits than a person compares. */
export const formatEstimate = (locale: string, { asset, amount }: Amount): string =>
  `≈\u00a0${new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 }).format(asDecimal(amount))}\u00a0${asset}`;

/** What an amount of USDC is in dollars, to the cent; less than one cent with its digits. */
export const formatDollars = (locale: string, { amount }: Amount): string =>
  new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    maximumFractionDigits: /^0\.00/.test(amount) ? 6 : 2,
  }).format(asDecimal(amount));

const decimalsOf = (amount: string): number => amount.split('.')[1]?.length ?? 0;

/** Amounts of one asset as whole numbers of the same unit: exact, digits as BigInt. */
function toUnits(amounts: Amount[]): { units: bigint[]; decimals: number } {
  const decimals = Math.max(0, ...amounts.map(({ amount }) => decimalsOf(amount)));
  return { units: amounts.map(({ amount }) => BigInt(amount.replace('.', '') + '0'.repeat(decimals - decimalsOf(amount)))), decimals };
}

/** Amount of so many base units. */
export function toAmount(asset: string, units: bigint, decimals: number): Amount {
  const digits = String(units).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return { asset, amount: decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}` };
}

/** What is left of an amount without a part of it. */
export function without(whole: Amount, part: Amount): Amount {
  const { units, decimals } = toUnits([whole, part]);
  return toAmount(whole.asset, units[0]! - units[1]!, decimals);
}

/** Sum of at least one amount of one asset. */
export function sumOf(amounts: Amount[]): Amount {
  const { units, decimals } = toUnits(amounts);
  return toAmount(
    amounts[0]!.asset,
    units.reduce((sum, one) => sum + one, 0n),
    decimals,
  );
}

/** Negative where the first is less. */
export function compareAmounts(one: Amount, other: Amount): number {
  const [left, right] = toUnits([one, other]).units;
  return left! < right! ? -1 : left! > right! ? 1 : 0;
}

/** `250` basis points as `2.5%`. */
export const formatBps = (locale: string, bps: number): string =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }).format(bps / 10_000);

/** An address shortened as wallets do it: enough to recognise it where the whole stands nearby. */
export const shortened = (address: string): string => `${address.slice(0, 4)}…${address.slice(-4)}`;

/** A platform as its people write it, by its id. */
export const toTitle = (provider: string): string => provider.slice(0, 1).toUpperCase() + provider.slice(1);

export const formatCount = (locale: string, count: number): string => new Intl.NumberFormat(locale).format(count);

export const formatPeriod = (locale: string, count: number, unit: 'day' | 'hour' | 'minute'): string =>
  new Intl.NumberFormat(locale, { style: 'unit', unit, unitDisplay: 'long' }).format(count);

export const isOne = (locale: string, count: number): boolean => new Intl.PluralRules(locale).select(count) === 'one';

export const formatInstant = (locale: string, iso: string, timeZone?: string): string =>
  new Intl.DateTimeFormat(locale, {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    timeZoneName: 'short',
    ...(timeZone ? { timeZone } : {}),
  }).format(new Date(iso));

export const formatDay = (locale: string, iso: string, timeZone?: string): string =>
  new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', day: 'numeric', ...(timeZone ? { timeZone } : {}) }).format(
    new Date(iso),
  );

/** Where a transaction is looked up. */
export const explorerUrl = (network: 'mainnet' | 'devnet', txSignature: string): string =>
  `https://explorer.solana.com/tx/${txSignature}${network === 'devnet' ? '?cluster=devnet' : ''}`;

export const formatTime = (locale: string, iso: string): string =>
  new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' }).format(new Date(iso));

/** Ticks, locks, keys, shields and medals: what pages say with them is for this page alone to say. */
const BADGES =
  /[\u2611\u2705\u2713\u2714\u26bf\u{1f396}\u{1f3c5}\u{1f50f}-\u{1f513}\u{1f530}\u{1f5dd}\u{1f5f8}\u{1f5f9}\u{1f6e1}\u{1fbb1}]\ufe0f?/gu;

/**
 * A stranger's words as one harmless line: no control characters, nothing that turns the reading direction around, is
 * invisible or looks like a seal of approval, so that a name cannot pretend to be part of the page.
 */
export const plain = (text: string): string =>
  text
    .replace(BADGES, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
    .replace(/\s+/g, ' ')
    .trim();

/** A name as plain text; `…` where no harmless character is left of it. */
export const plainName = (text: string): string => plain(text) || '…';

/** The lines of a text, each made harmless in the same way, without the empty ones. */
export const plainLines = (text: string): string[] => text.split(/\r?\n/).map(plain).filter(Boolean);
