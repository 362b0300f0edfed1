import { ENDPOINT_FAILING_DAYS } from '#core/limits.ts';
import { addDays, DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';

/** When an attempt is due after the one before it, and what an answer means. Data and pure rules. */
const LIVE_SCHEDULE = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
const SANDBOX_SCHEDULE = LIVE_SCHEDULE.slice(0, 4);
const JITTER = 0.1;
const RETRY_AFTER_MAX_MS = DAY;

export const scheduleOf = (livemode: boolean): readonly number[] => (livemode ? LIVE_SCHEDULE : SANDBOX_SCHEDULE);

/** What came back from a stranger's server, or did not. */
export interface AttemptOutcome {
  status: number | null;
  ms: number;
  /** Why there is no status: timeout, reset, refused target. */
  error: string | null;
  excerpt: string | null;
  retryAfterMs: number | null;
}

type DeliveryStep =
  | { kind: 'succeeded' }
  | { kind: 'retrying'; nextAttemptAt: number }
  /** The schedule is used up, or the consumer said that the endpoint is gone. */
  | { kind: 'failed'; isGone: boolean };

export const isSuccess = ({ status }: AttemptOutcome): boolean => status !== null && status >= 200 && status < 300;

/**
 * `attempt` counts from 1 and was the one just made. The first two delays are exact, later ones vary by 10 %, so that a
 * thousand deliveries that failed together do not come back together. `random` is in [0, 1).
 */
export function stepAfter(
  outcome: AttemptOutcome,
  attempt: number,
  maxAttempts: number,
  livemode: boolean,
  now: number,
  random: number,
): DeliveryStep {
  if (isSuccess(outcome)) return { kind: 'succeeded' };
  if (outcome.status === 410) return { kind: 'failed', isGone: true };
  const delay = scheduleOf(livemode)[attempt];
  if (attempt >= maxAttempts || delay === undefined) return { kind: 'failed', isGone: false };
  const jitter = attempt >= 2 ? 1 + JITTER * (2 * random - 1) : 1;
  const wished = Math.min(outcome.retryAfterMs ?? 0, RETRY_AFTER_MAX_MS);
  return { kind: 'retrying', nextAttemptAt: now + Math.max(Math.round(delay * jitter), wished) };
}

/** Seconds or an HTTP date, as RFC 9110 has them; anything else is no wish. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND;
  const at = Date.parse(header);
  return Number.isNaN(at) || !/GMT$/.test(header) ? null : Math.max(0, at - now);
}

/** What an endpoint has shown of itself. */
export interface Health {
  failureStreak: number;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  /** Start of the present unbroken failure. */
  failingSince: number | null;
}

const WARNINGS_MS = [24 * HOUR, 72 * HOUR];

/** Given up by time only: so many days without one success. */
export const isGivenUp = ({ failingSince }: Health, now: number): boolean =>
  failingSince !== null && now >= addDays(failingSince, ENDPOINT_FAILING_DAYS);

/** How many of the warnings before that are due. */
export const warningsDue = ({ failingSince }: Health, now: number): number =>
  failingSince === null ? 0 : WARNINGS_MS.filter((after) => now - failingSince >= after).length;

export const BREAKER_STREAK = 20;
export const PROBE_EVERY_MS = 5 * MINUTE;

export const isBroken = ({ failureStreak }: Health): boolean => failureStreak >= BREAKER_STREAK;

/** After so many failures in a row only a probe now and then goes out; the others wait, their attempts uncounted. */
export const heldUntil = (health: Health, now: number): number | null => {
  const { lastFailureAt } = health;
  return isBroken(health) && lastFailureAt !== null && now < lastFailureAt + PROBE_EVERY_MS ? lastFailureAt + PROBE_EVERY_MS : null;
};
