import { addDays } from '#core/time.ts';

/** The time that a payment buys. */
export interface BoughtTime {
  /** Days; null: without end. */
  accessPeriodDays: number | null;
  /** Of a period on chain: the moment it ends, which stands whenever it was paid. Milliseconds. */
  periodEndsAt?: number | null | undefined;
}

/**
 * The end of what is paid after one more payment at `now`; 0: nothing was before, null: without end. Days begin when what was paid before
 * is over; a period on chain has its own end, so that renewals never drift, however late in it each is collected.
 */
export function paidThroughAfter(through: number | null, { accessPeriodDays, periodEndsAt }: BoughtTime, now: number): number | null {
  if (through === null || accessPeriodDays === null) return null;
  return periodEndsAt == null ? addDays(Math.max(now, through), accessPeriodDays) : Math.max(through, periodEndsAt);
}
