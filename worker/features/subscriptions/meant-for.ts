import { SECOND } from '#core/time.ts';
import { hasOther, hasSignedOther } from '#features/authorizations/store.ts';
import type { Shard } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { Subscription } from '#solana/programs/subscriptions/subscription.ts';

/** What a step of a checkout carries, so that its signature counts for that checkout and can be brought to no other. */
export const consentMemoOf = ({ nonce }: Pick<Payment, 'nonce'>): string => `svc-consent:${nonce}`;

/** The chain's clock and ours differ by so much at most. */
const CLOCKS_MS = 30 * SECOND;

/**
 * Whose purchase a wallet's subscription is: that of the checkout that the wallet signed in. Where it signed in none, the customer is the wallet
 * itself; and a checkout that names a reference has to be the only one that was open for the wallet when it subscribed. Else a stranger
 * who names a reference of their own and the wallet of another would be given what that wallet pays for.
 */
export async function isMeantFor(ctx: Shard, payment: Payment, row: AuthorizationRow, subscription: Subscription): Promise<boolean> {
  if (payment.status === 'PENDING_CONFIRMATION') return true;
  if (row.customerRef === null) return !(await hasSignedOther(ctx.db, row));
  const beganAt = Number(subscription.currentPeriodStartTs) * SECOND;
  return beganAt >= payment.createdAt - CLOCKS_MS && !(await hasOther(ctx.db, row));
}
