/** Instants are epoch milliseconds inside the service and ISO 8601 UTC with milliseconds on the wire. */
export const iso = (at: number): string => new Date(at).toISOString();
export const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at));
export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const addDays = (at: number, days: number): number => at + days * DAY;
export const unixSeconds = (at: number): number => Math.floor(at / SECOND);
