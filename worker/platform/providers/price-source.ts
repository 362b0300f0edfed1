import type { Rate } from '#core/money.ts';

/** What a source says of one price. Whether that is believed is decided in price.ts, for all sources alike. */
export interface Reading {
  rate: Rate;
  /** How far off the source takes it to be, in units of the last digit of `rate`. */
  doubt: bigint;
  /** Its own average of the last hour; null where it knows none. */
  average: Rate | null;
  /** When the source says it was true, in milliseconds. */
  asOf: number;
}

/** A form of answers, as one row: `read` finds in the JSON that a GET of `url` answered the one price that `url` asks for, else null. */
export interface PriceSource {
  read(url: string, answer: unknown): Reading | null;
}
