import type { Rate } from '#core/money.ts';

/** Unverified price of a source. price.ts validates the prices of all sources. */
export interface Reading {
  rate: Rate;
  /** Confidence interval, in units of the last digit of `rate`. */
  doubt: bigint;
  average: Rate | null;
  asOf: number;
}

/** Parser of a source: `read` extracts the one price that `url` requests from the JSON answer, else null. */
export interface PriceSource {
  read(url: string, answer: unknown): Reading | null;
}
