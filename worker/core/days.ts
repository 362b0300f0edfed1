import { Memory } from './isolate/memory.ts';
import { DAY, HOUR, MINUTE } from './time.ts';

/** Unit of zone offsets: every zone in use is offset from UTC by a multiple, so each day begins on one. */
export const QUARTER = 15 * MINUTE;

export const quarterOf = (at: number): number => at - (at % QUARTER);
export const utcDayOf = (at: number): number => at - (at % DAY);

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

export function dateAt(at: number, timezone: string): string {
  const parts = new Map(
    formatOf(timezone)
      .formatToParts(at)
      .map(({ type, value }) => [type, value]),
  );
  return `${parts.get('year')!.padStart(4, '0')}-${parts.get('month')}-${parts.get('day')}`;
}

export const plusDays = (date: string, days: number): string => new Date(Date.parse(date) + days * DAY).toISOString().slice(0, 10);

export const daysFrom = (start: string, end: string): number => (Date.parse(end) - Date.parse(start)) / DAY;

/** True for a date of the calendar: 2026-02-30 is invalid. */
export const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && plusDays(text, 0) === text;

const OFFSET_MAX = 15 * HOUR;

/**
 * Start of a date in a zone (epoch ms): the first quarter hour with that date or a later one. A day without midnight begins where its
 * clocks do, a 25-hour day is one day, and a date that the zone skipped is empty.
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
