/**
 * Grace hour of an active native subscription after paid time, so that the next period's collection can land.
 * @module
 */

import { SERVED_AFTER_MS } from './schedule.ts';

export interface Renewal {
  authorizationId: string;
  /** Version of the authorization. An older version changes nothing. */
  version: number;
  through: number | null;
}

/** True for a later authorization, or a later version of the same one. */
export const isNewer = (known: Renewal | null, reported: Renewal): boolean =>
  known === null ||
  reported.authorizationId > known.authorizationId ||
  (reported.authorizationId === known.authorizationId && reported.version > known.version);

export const servedUntil = (paidThrough: number): number => paidThrough + SERVED_AFTER_MS;

/** Time by which a balance is judged at `now`: during the grace hour, the last moment of paid time. */
export function judgedAt(renewal: Renewal | null, now: number): number {
  const through = renewal?.through ?? null;
  return through !== null && now >= through && now < servedUntil(through) ? through - 1 : now;
}

/** Time at which an end of paid time takes effect. */
export function endCounts(renewal: Renewal | null, end: number): number {
  const through = renewal?.through ?? null;
  return through !== null && end >= through && end < servedUntil(through) ? servedUntil(through) : end;
}
