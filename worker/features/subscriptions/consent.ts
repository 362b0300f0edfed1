import { SECOND } from '#core/time.ts';
import { factsOf } from '#features/authorizations/authorization.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { ConsentSeen } from '#rules/subscriptions/authorization.ts';
import type { Subscription } from '#solana/programs/subscriptions/subscription.ts';
import type { SubscriptionLook } from './look.ts';

/** True where what stands on the chain was agreed to as the checkout offered it. */
export const isAgreed = (row: AuthorizationRow, { amount, periodHours }: Subscription): boolean =>
  amount === row.amount && periodHours === BigInt(row.periodHours);

/**
 * True where it is the subscription that the authorization collected from, and no later one at the same address: the periods of one that was
 * ended and begun anew start at other moments.
 */
export function isSameSubscription(row: AuthorizationRow, subscription: Subscription): boolean {
  const { startedAt, periodMs } = factsOf(row);
  const passed = Number(subscription.currentPeriodStartTs) * SECOND - startedAt;
  return isAgreed(row, subscription) && passed % periodMs === 0;
}

/** What a look says of the buyer's consent to this authorization. */
export function consentIn(row: AuthorizationRow, { sight, standing }: SubscriptionLook): ConsentSeen {
  if (sight.subscription === null || !isSameSubscription(row, sight.subscription)) return 'lost';
  return standing.kind === 'cancelled' || standing.kind === 'lost' ? standing.kind : 'given';
}
