import { createContext, useContext } from 'hono/jsx';
import { base64url } from '#core/encoding.ts';
import { DAY, iso, MINUTE } from '#core/time.ts';
import { formatMinute } from '../../parts/text.ts';

const KEY_BYTES = 18;

/** Idempotency key of a form, by which a second press of its button is the same act. */
export const newFormKey = (): string => base64url.encode(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));

export interface Amount {
  asset: string;
  amount: string;
}

export const amountOf = ({ amount, asset }: Amount): string => `${amount} ${asset}`;
export const optionalAmount = (amount: Amount | null | undefined): string | undefined => (amount ? amountOf(amount) : undefined);

/** Names the time that a payment buys. */
export const periodOf = (days: number | null): string => (days === null ? 'without end' : days === 1 ? 'a day' : `${days} days`);

const offsets = new Map<string, Intl.DateTimeFormat>();

/** Minutes by which a zone is ahead of UTC at a time. */
function offsetAt(at: number, timeZone: string): number {
  const format = offsets.get(timeZone) ?? new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  offsets.set(timeZone, format);
  const [, sign = '+', hours = '0', minutes = '0'] = /GMT([+-])(\d\d):(\d\d)/.exec(format.format(at)) ?? [];
  return Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes));
}

/** First moment of a day (`2026-11-21`) in a zone, or of a day after it. Text that is no date is returned as it is. */
export function startOfDay(date: string, timeZone: string, daysAfter = 0): string {
  const utc = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(date) + daysAfter * DAY : Number.NaN;
  if (Number.isNaN(utc)) return date;
  const near = utc - offsetAt(utc, timeZone) * MINUTE;
  return iso(utc - offsetAt(near, timeZone) * MINUTE);
}

/** Time zone of the account, in which its pages show times. */
export const Zone = createContext('UTC');

/** Labels of the drawn fields by their ids, for the summary of a refused form. */
export const Labels = createContext<Map<string, string> | null>(null);

/** Time in the account's zone, with UTC as its title. */
export const Time = ({ at, hasSeconds = false }: { at: string; hasSeconds?: boolean }) => (
  <time datetime={at} title={formatMinute(at, 'UTC', hasSeconds)}>
    {formatMinute(at, useContext(Zone), hasSeconds)}
  </time>
);
