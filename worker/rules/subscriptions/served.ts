/**
 * The hour after paid time in which a native subscription that is active is served, so that the next period's collection can land.
 * @module
 */

import { SERVED_AFTER_MS } from './schedule.ts';

/** What is known of the subscription that pays for an entitlement. */
export interface Renewal {
  authorizationId: string;
  /** Of the authorization: what is older changes nothing. */
  version: number;
  /** The end of its paid time, ms, while it is active; null: it is past due, cancelled, or over. */
  through: number | null;
}

/** True where the second comes after the first: a later authorization, or a later version of the same. */
export const isNewer = (known: Renewal | null, told: Renewal): boolean =>
  known === null ||
  told.authorizationId > known.authorizationId ||
  (told.authorizationId === known.authorizationId && told.version > known.version);

/** Until when a buyer is served whose authorization is active: paid time, and an hour for the next collection. */
export const servedUntil = (paidThrough: number): number => paidThrough + SERVED_AFTER_MS;

/** The moment by which a balance is judged at `now`: in the hour after paid time, its last one. */
export function judgedAt(renewal: Renewal | null, now: number): number {
  const through = renewal?.through ?? null;
  return through !== null && now >= through && now < servedUntil(through) ? through - 1 : now;
}

/** When an end of paid time counts that a balance names. */
export function endCounts(renewal: Renewal | null, end: number): number {
  const through = renewal?.through ?? null;
  return through !== null && end >= through && end < servedUntil(through) ? servedUntil(through) : end;
}
