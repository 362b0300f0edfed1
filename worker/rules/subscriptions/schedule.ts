/**
 * Collection schedule of native subscriptions. Times in milliseconds. `jitter`, in [0, 1), spreads collections that fall due together.
 * @module
 */

import { HOUR, MINUTE, SECOND } from '#core/time.ts';

/** Period of a subscription on chain. `endsAt` is exclusive. */
export interface PeriodTimes {
  startsAt: number;
  endsAt: number;
}

export interface LastCollection {
  at: number;
  status: 'collected' | 'failed';
  code?: CollectionCode;
  txSignature?: string;
}

/** Failure reasons of a collection. The first two are the buyer's decision and also error codes. */
export const COLLECTION_CODES = [
  'subscription_cancelled',
  'subscription_requires_reapproval',
  'insufficient_funds',
  'account_frozen',
  'account_missing',
  'receiver_missing',
  'puller_removed',
] as const;
export type CollectionCode = (typeof COLLECTION_CODES)[number];

const SPREAD_MS = 10 * MINUTE;
/** Tolerance for a chain clock that is behind: an early collection would count for the previous period. */
const CHAIN_LAG_MS = 30 * SECOND;
/** A transaction sent this close to a period's end may land in the next one. */
const LANDING_MS = 5 * MINUTE;
/** Service time after paid time, so that the next period's collection can land. */
export const SERVED_AFTER_MS = HOUR;

const RETRIES_MS = [HOUR, 6 * HOUR];
const RETRY_DAILY_MS = 24 * HOUR;

/** Deterministic fraction in [0, 1) from an id with a random ending, so that a subscription's collections have a stable offset. */
export const jitterFraction = (id: string): number => Number.parseInt(id.slice(-4), 36) / 36 ** 4;

export const firstAttemptAt = (startsAt: number, jitter: number): number =>
  startsAt + CHAIN_LAG_MS + Math.floor(jitter * (SPREAD_MS - CHAIN_LAG_MS));

/**
 * True if a collection sent now lands in the period. `hasBegun`: the account on chain is already in the period, so clock skew cannot assign
 * the collection to the previous one.
 */
export const isInPeriod = ({ startsAt, endsAt }: PeriodTimes, now: number, hasBegun = false): boolean =>
  now >= startsAt + (hasBegun ? 0 : CHAIN_LAG_MS) && now < endsAt - LANDING_MS;

/**
 * Next attempt after the `failures`-th failure at `now`. If the period has no time left, returns the first attempt of the next one. A
 * skipped period is never collected later.
 */
export function nextAttemptAt(
  { endsAt }: PeriodTimes,
  { failures, now, jitter }: { failures: number; now: number; jitter: number },
): number {
  const retryAt = now + (RETRIES_MS[failures - 1] ?? RETRY_DAILY_MS);
  return retryAt < endsAt - LANDING_MS ? retryAt : firstAttemptAt(endsAt, jitter);
}

export function periodIn(startsAt: number, periodMs: number, now: number): PeriodTimes {
  const passed = Math.max(0, Math.floor((now - startsAt) / periodMs));
  return { startsAt: startsAt + passed * periodMs, endsAt: startsAt + (passed + 1) * periodMs };
}
