import { ENDPOINT_FAILING_DAYS, PROBE_EVERY_MS } from '#core/limits.ts';
import { addDays, DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';

/** Retry schedule of live deliveries: the delay before each attempt. */
const LIVE_SCHEDULE = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
const SANDBOX_SCHEDULE = LIVE_SCHEDULE.slice(0, 4);
const JITTER = 0.1;
const RETRY_AFTER_MAX_MS = DAY;

export const scheduleOf = (livemode: boolean): readonly number[] => (livemode ? LIVE_SCHEDULE : SANDBOX_SCHEDULE);

export interface AttemptOutcome {
  status: number | null;
  ms: number;
  error: string | null;
  excerpt: string | null;
  retryAfterMs: number | null;
}

/** Outcome with the time at which the request was signed and sent. */
export interface Attempted extends AttemptOutcome {
  at: number;
}

type DeliveryStep =
  | { kind: 'succeeded' }
  | { kind: 'retrying'; nextAttemptAt: number }
  /** The schedule is exhausted, or the consumer answered 410. */
  | { kind: 'failed'; isGone: boolean };

export const isSuccess = ({ status }: AttemptOutcome): boolean => status !== null && status >= 200 && status < 300;

/**
 * Returns the step after an attempt. `attempt` counts from 1. The first two delays are exact, later ones have 10 % jitter so that a
 * thousand failed deliveries do not return at once. `random` is in [0, 1).
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

/** Parses seconds or an HTTP date (RFC 9110). Returns null for anything else. */
export function parseRetryAfter(header: string | null, now: number): number | null {
  if (header === null) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND;
  const at = Date.parse(header);
  return Number.isNaN(at) || !/GMT$/.test(header) ? null : Math.max(0, at - now);
}

export interface Health {
  failureStreak: number;
  lastSuccessAt: number | null;
  lastFailureAt: number | null;
  failingSince: number | null;
}

const WARNINGS_MS = [24 * HOUR, 72 * HOUR];

export const isGivenUp = ({ failingSince }: Health, now: number): boolean =>
  failingSince !== null && now >= addDays(failingSince, ENDPOINT_FAILING_DAYS);

export const warningsDue = ({ failingSince }: Health, now: number): number =>
  failingSince === null ? 0 : WARNINGS_MS.filter((after) => now - failingSince >= after).length;

export const BREAKER_STREAK = 20;

export const isCircuitOpen = ({ failureStreak }: Health): boolean => failureStreak >= BREAKER_STREAK;

/** Returns the next probe time. Null if the circuit is closed or a probe is due now. */
export const heldUntil = (health: Health, now: number): number | null => {
  const { lastFailureAt } = health;
  return isCircuitOpen(health) && lastFailureAt !== null && now < lastFailureAt + PROBE_EVERY_MS ? lastFailureAt + PROBE_EVERY_MS : null;
};
