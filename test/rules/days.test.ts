import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateAt, daysFrom, isDate, plusDays, QUARTER, startOfDate } from '#core/days.ts';
import { DAY, HOUR } from '#core/time.ts';

const ZONES = Intl.supportedValuesOf('timeZone');
const from2000 = Date.UTC(2000, 0, 1);
const until2040 = Date.UTC(2040, 0, 1);
const anyZone = fc.constantFrom(...ZONES, 'UTC', 'Etc/GMT+12', 'Pacific/Kiritimati');
const anyDate = fc.integer({ min: from2000 / DAY, max: until2040 / DAY }).map((day) => new Date(day * DAY).toISOString().slice(0, 10));

/** Calendar date by another method than the service's. */
function plainDate(at: number, calendar: Intl.DateTimeFormat): string {
  const [day, month, year] = calendar.format(at).split('/');
  return `${year}-${month}-${day}`;
}

function plainDay(date: string, timeZone: string): number[] {
  const midnight = Date.parse(date);
  const calendar = new Intl.DateTimeFormat('en-GB', { timeZone, dateStyle: 'short', calendar: 'gregory' });
  const all = Array.from({ length: (52 * HOUR) / QUARTER }, (_, i) => midnight - 26 * HOUR + i * QUARTER);
  return [...all, ...Array.from({ length: (26 * HOUR) / QUARTER }, (_, i) => midnight + 26 * HOUR + i * QUARTER)].filter(
    (at) => plainDate(at, calendar) === date,
  );
}

describe('calendar days of a time zone', () => {
  it('a day contains exactly the quarter hours that a calendar of the zone shows under its date', () => {
    fc.assert(
      fc.property(anyZone, anyDate, (zone, date) => {
        const day = plainDay(date, zone);
        const [start, end] = [startOfDate(date, zone), startOfDate(plusDays(date, 1), zone)];
        expect((end - start) / QUARTER).toBe(day.length);
        if (day.length > 0) expect([start, end - QUARTER]).toEqual([day[0], day.at(-1)]);
      }),
      { numRuns: 500 },
    );
  });

  it('days follow each other without a gap or overlap', () => {
    fc.assert(
      fc.property(anyZone, anyDate, fc.integer({ min: 0, max: DAY - 1 }), (zone, date, offset) => {
        const at = Date.parse(date) + offset;
        const own = dateAt(at, zone);
        expect(startOfDate(own, zone)).toBeLessThanOrEqual(at);
        expect(startOfDate(plusDays(own, 1), zone)).toBeGreaterThan(at);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    // Clocks go forward an hour at two and back an hour at three.
    ['Europe/Berlin', '2026-03-29', 23],
    ['Europe/Berlin', '2026-10-25', 25],
    ['Australia/Lord_Howe', '2026-04-05', 24.5],
    // Clocks go forward at midnight, so the day begins at one.
    ['Africa/Cairo', '2026-04-24', 23],
    ['America/Santiago', '2026-09-06', 23],
    ['Asia/Kathmandu', '2026-06-01', 24],
    // The date line moved over Samoa, so this day does not exist.
    ['Pacific/Apia', '2011-12-30', 0],
  ])('%s on %s has %d hours', (zone, date, hours) => {
    expect((startOfDate(plusDays(date, 1), zone) - startOfDate(date, zone)) / HOUR).toBe(hours);
  });

  it('date arithmetic covers months, leap days and years', () => {
    expect([plusDays('2028-02-28', 1), plusDays('2026-12-31', 1), plusDays('2026-03-01', -1)]).toEqual([
      '2028-02-29',
      '2027-01-01',
      '2026-02-28',
    ]);
    expect(daysFrom('2026-02-27', '2026-03-02')).toBe(3);
  });

  it.each(['2026-02-30', '2026-13-01', '26-01-01', '2026-1-1', '2026-01-01T00:00', '', '+02026-01-01'])('isDate refuses %s', (text) => {
    expect(isDate(text)).toBe(false);
  });
});
