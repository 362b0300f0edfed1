import type { TextKey } from '../locales/dictionaries.ts';

export type Say<Key extends string = TextKey> = (key: Key, values?: Record<string, string>) => string;

export interface Amount {
  asset: string;
  amount: string;
}

export const sayIn =
  <Key extends string>(text: Record<Key, string>): Say<Key> =>
  (key, values = {}) =>
    text[key].replace(/\{(\w+)\}/g, (match, name: string) => values[name] ?? match);

/** Intl formats a decimal string digit by digit (ES2023), so an amount never becomes a float. */
const asDecimal = (text: string) => text as `${number}`;

/** Two decimals for USDC, all digits for other assets. */
export const formatNumber = (locale: string, { asset, amount }: Amount): string =>
  new Intl.NumberFormat(locale, { minimumFractionDigits: asset === 'USDC' ? 2 : 0, maximumFractionDigits: 9 }).format(asDecimal(amount));

export const formatMoney = (locale: string, money: Amount): string => `${formatNumber(locale, money)}\u00a0${money.asset}`;

/** Rounds an estimate to the digits that a person compares. */
export const formatEstimate = (locale: string, { asset, amount }: Amount): string =>
  `≈\u00a0${new Intl.NumberFormat(locale, { maximumSignificantDigits: 4 }).format(asDecimal(amount))}\u00a0${asset}`;

/** Formats USDC in dollars: to the cent, or with all digits below one cent. */
export const formatDollars = (locale: string, { amount }: Amount): string =>
  new Intl.NumberFormat(locale, {
    style: 'currency',
    currency: 'USD',
    maximumFractionDigits: /^0\.00/.test(amount) ? 6 : 2,
  }).format(asDecimal(amount));

const decimalsOf = (amount: string): number => amount.split('.')[1]?.length ?? 0;

function toUnits(amounts: Amount[]): { units: bigint[]; decimals: number } {
  const decimals = Math.max(0, ...amounts.map(({ amount }) => decimalsOf(amount)));
  return { units: amounts.map(({ amount }) => BigInt(amount.replace('.', '') + '0'.repeat(decimals - decimalsOf(amount)))), decimals };
}

export function toAmount(asset: string, units: bigint, decimals: number): Amount {
  const digits = String(units).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return { asset, amount: decimals === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}` };
}

export function without(match: Amount, part: Amount): Amount {
  const { units, decimals } = toUnits([match, part]);
  return toAmount(match.asset, units[0]! - units[1]!, decimals);
}

export function sumOf(amounts: Amount[]): Amount {
  const { units, decimals } = toUnits(amounts);
  return toAmount(
    amounts[0]!.asset,
    units.reduce((sum, one) => sum + one, 0n),
    decimals,
  );
}

export function compareAmounts(one: Amount, other: Amount): number {
  const [left, right] = toUnits([one, other]).units;
  return left! < right! ? -1 : left! > right! ? 1 : 0;
}

export const formatBps = (locale: string, bps: number): string =>
  new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 2 }).format(bps / 10_000);

/** Shortened address as wallets show it. Use only near the full one. */
export const shortened = (address: string): string => `${address.slice(0, 4)}…${address.slice(-4)}`;

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

const MINUTE_PARTS = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
} as const;
/** Formats by time zone, because a table has many times. */
const minutes = new Map<string, Intl.DateTimeFormat>();
const seconds = new Map<string, Intl.DateTimeFormat>();

/** Time as `2026-11-29, 17:30 GMT+1`, sortable by eye. */
export function formatMinute(iso: string, timeZone: string, hasSeconds = false): string {
  const formats = hasSeconds ? seconds : minutes;
  const known = formats.get(timeZone);
  const format = known ?? new Intl.DateTimeFormat('en-CA', { ...MINUTE_PARTS, ...(hasSeconds && { second: '2-digit' }), timeZone });
  if (!known) formats.set(timeZone, format);
  return format.format(new Date(iso));
}

export const formatDay = (locale: string, iso: string, timeZone?: string): string =>
  new Intl.DateTimeFormat(locale, { year: 'numeric', month: 'long', day: 'numeric', ...(timeZone ? { timeZone } : {}) }).format(
    new Date(iso),
  );

export const explorerUrl = (network: 'mainnet' | 'devnet', txSignature: string): string =>
  `https://explorer.solana.com/tx/${txSignature}${network === 'devnet' ? '?cluster=devnet' : ''}`;

export const formatTime = (locale: string, iso: string): string =>
  new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' }).format(new Date(iso));

/** Ticks, locks, keys, shields and medals: symbols that only the page itself may show. */
const BADGES =
  /[\u2611\u2705\u2713\u2714\u26bf\u{1f396}\u{1f3c5}\u{1f50f}-\u{1f513}\u{1f530}\u{1f5dd}\u{1f5f8}\u{1f5f9}\u{1f6e1}\u{1fbb1}]\ufe0f?/gu;

/**
 * Makes untrusted text one harmless line: strips control, bidirectional and invisible characters and badge symbols, so that a name cannot
 * pose as part of the page.
 */
export const plain = (text: string): string =>
  text
    .replace(BADGES, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
    .replace(/\s+/g, ' ')
    .trim();

/** Returns `…` if no harmless character is left. */
export const plainName = (text: string): string => plain(text) || '…';

/** Makes each line harmless and drops empty ones. */
export const plainLines = (text: string): string[] => text.split(/\r?\n/).map(plain).filter(Boolean);
