import { Memory } from './isolate/memory.ts';
import { DAY, HOUR, MINUTE } from './time.ts';

/** Clocks of every zone in use are a whole number of these from UTC, so each of their days begins with one. */
export const QUARTER = 15 * MINUTE;

export const quarterOf = (at: number): number => at - (at % QUARTER);
/** The first moment of the UTC day. */
export const utcDayOf = (at: number): number => at - (at % DAY);

/** Each is some kilobytes, and an isolate lives long. */
const formats = new Memory<string, Intl.DateTimeFormat>(64);

function formatOf(timezone: string): Intl.DateTimeFormat {
  const known = formats.get(timezone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone: timezone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  formats.set(timezone, format);
  return format;
}

/** The date, `YYYY-MM-DD`, that calendars of an IANA zone show at an instant (epoch ms). */
export function dateAt(at: number, timezone: string): string {
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts.get('year')!.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
}

/** The date so many days later, or earlier. */
export const plusDays = (date: string, days: number): string => new Date(Date.parse(date) + days * DAY).toISOString().slice(0, 10);

/** How many days it is from one date to another. */
export const daysFrom = (start: string, end: string): number => (Date.parse(end) - Date.parse(start)) / DAY;

/** A date that calendars have: 2026-02-30 is none. */
export const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && plusDays(text, 0) === text;

/** More than any zone is ahead of UTC or behind it. */
const OFFSET_MAX = 15 * HOUR;

/**
 * The instant (epoch ms) with which a date begins in a zone: the first quarter of an hour that is of that date or a later one. So a day
 * without a midnight begins where its clocks do, one of 25 hours is one day, and a date that a zone left out is no time at all.
 */
export function startOfDate(date: string, timezone: string): number {
  const midnight = Date.parse(date);
  let [before, after] = [(midnight - OFFSET_MAX) / QUARTER, (midnight + OFFSET_MAX) / QUARTER];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (dateAt(middle * QUARTER, timezone) < date) before = middle;
    else after = middle;
  }
  return after * QUARTER;
}
