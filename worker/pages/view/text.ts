import type { Dictionary, TextKey } from '../locales/en.ts';

/** Words and numbers of one language; the same on the server and in the browser. */
export type Say = (key: TextKey, values?: Record<string, string>) => string;

export interface Amount {
  asset: string;
  amount: string;
}

export const sayIn =
  (text: Dictionary): Say =>
  (key, values = {}) =>
    text[key].replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);

/** Exact: Intl reads a decimal's text digit by digit, so no float ever sees an amount. (ES2023) */
const asDecimal = (text: string) => text as `${number}`;

/** `12.50` for USDC, as many digits as there are for anything else. */
export const formatNumber = (locale: string, { asset, amount }: Amount): string =>
  new Intl.NumberFormat(locale, { minimumFractionDigits: asset === 'USDC' ? 2 : 0, maximumFractionDigits: 9 }).format(asDecimal(amount));

export const formatMoney = (locale: string, money: Amount): string => `${formatNumber(locale, money)}\u00a0${money.asset}`;

export const formatCount = (locale: string, count: number): string => new Intl.NumberFormat(locale).format(count);

export const formatPeriod = (locale: string, count: number, unit: 'day' | 'minute'): string =>
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

export const formatTime = (locale: string, iso: string): string =>
  new Intl.DateTimeFormat(locale, { hour: 'numeric', minute: '2-digit' }).format(new Date(iso));

/**
 * A stranger's words as one harmless line: no control characters, nothing that turns the reading direction around or is
 * invisible, so that a name cannot pretend to be part of the page.
 */
export const plain = (text: string): string =>
  text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/(\p{M}{3})\p{M}+/gu, '$1')
    .replace(/\s+/g, ' ')
    .trim();

/** The same for a text of several lines. */
export const plainLines = (text: string): string[] => text.split(/\r?\n/).map(plain).filter(Boolean);
