/**
 * When the periods of a native subscription are collected. All times in milliseconds; `luck`, in [0, 1), spreads what falls due together.
 * @module
 */

import { HOUR, MINUTE, SECOND } from '#core/time.ts';

/** A period of a subscription on chain; `endsAt` is its first moment that belongs to the next. */
export interface PeriodTimes {
  startsAt: number;
  endsAt: number;
}

/** The last attempt at a period, as it is told. `code`: why nothing was collected. Times in milliseconds. */
export interface LastCollection {
  at: number;
  status: 'collected' | 'failed';
  code?: CollectionCode;
  txSignature?: string;
}

/** Why a period could not be collected. The first two are the buyer's own decision, and also codes of errors. */
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

/** Collections of one moment are spread over so long. */
const SPREAD_MS = 10 * MINUTE;
/** The chain's clock may be behind ours: a collection that comes too early there would be one of the period before. */
const CHAIN_LAG_MS = 30 * SECOND;
/** What is sent so close to a period's end may land in the next one. */
const LANDING_MS = 5 * MINUTE;
/** How long a buyer is served after paid time, so that the collection of the next period can land. */
export const SERVED_AFTER_MS = HOUR;

const RETRIES_MS = [HOUR, 6 * HOUR];
const RETRY_DAILY_MS = 24 * HOUR;

/** A share in [0, 1) that an id with random letters at its end gives, always the same: its collections keep their place among others. */
export const luckOf = (id: string): number => Number.parseInt(id.slice(-4), 36) / 36 ** 4;

/** When a period that starts then is collected first. */
export const firstAttemptAt = (startsAt: number, luck: number): number =>
  startsAt + CHAIN_LAG_MS + Math.floor(luck * (SPREAD_MS - CHAIN_LAG_MS));

/**
 * True where a collection that is sent now lands in the period. `hasBegun`: the account on chain stands in it already, so that no clock
 * can take it for one of the period before.
 */
export const isInPeriod = ({ startsAt, endsAt }: PeriodTimes, now: number, hasBegun = false): boolean =>
  now >= startsAt + (hasBegun ? 0 : CHAIN_LAG_MS) && now < endsAt - LANDING_MS;

/**
 * When a period is tried again whose attempt failed at `now` for the `failures`-th time; where nothing is left of it, when the next one is
 * collected. What was skipped is never collected later.
 */
export function nextAttemptAt({ endsAt }: PeriodTimes, { failures, now, luck }: { failures: number; now: number; luck: number }): number {
  const retryAt = now + (RETRIES_MS[failures - 1] ?? RETRY_DAILY_MS);
  return retryAt < endsAt - LANDING_MS ? retryAt : firstAttemptAt(endsAt, luck);
}

/** The period of a fixed length that `now` lies in, counted from any period's start. */
export function periodIn(startsAt: number, periodMs: number, now: number): PeriodTimes {
  const passed = Math.max(0, Math.floor((now - startsAt) / periodMs));
  return { startsAt: startsAt + passed * periodMs, endsAt: startsAt + (passed + 1) * periodMs };
}
