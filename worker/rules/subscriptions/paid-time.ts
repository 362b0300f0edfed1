import { addDays } from '#core/time.ts';

export interface BoughtTime {
  accessPeriodDays: number | null;
  /** End of a period on chain, independent of the payment's time. Milliseconds. */
  periodEndsAt?: number | null | undefined;
}

/**
 * End of paid time after a payment at `now`. 0 as input means no prior time, null means no end. Days start when prior time ends. A period
 * on chain has a fixed end, so that late collections never shift renewals.
 */
export function paidThroughAfter(through: number | null, { accessPeriodDays, periodEndsAt }: BoughtTime, now: number): number | null {
  if (through === null || accessPeriodDays === null) return null;
  return periodEndsAt == null ? addDays(Math.max(now, through), accessPeriodDays) : Math.max(through, periodEndsAt);
}
