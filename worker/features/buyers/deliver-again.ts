import { raise } from '#core/errors.ts';
import type { MembershipId } from '#core/ids.ts';
import type { BuyerSession } from '#features/buyer-sign-in/token.ts';
import { getCustomerKey } from '#features/customers/state.ts';
import { retryDelivery } from '#features/membership-delivery/retry.ts';
import { findMembership } from '#features/memberships/store.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { skipStoring } from '#platform/db/once.ts';
import { keyTextOf } from '#platform/db/search/customer.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';

/** True if the subject opens the membership. Test sales open by a portal link alone. */
async function isTheirs(scope: Scope, { subject }: BuyerSession, { livemode, customerKey, email }: Membership): Promise<boolean> {
  if (subject.kind === 'wallet') return livemode && customerKey === `wallet:${subject.wallet_address}`;
  if (subject.kind === 'email') return livemode && email === subject.email;
  if (scope.merchantId !== subject.account_id || livemode !== subject.livemode) return false;
  return customerKey === keyTextOf(await getCustomerKey(scope, subject.customer_id));
}

/** Delivers a membership again for its buyer. Throws 404 for a membership that the subject does not open. */
export async function deliverAgain(ctx: Ctx, session: BuyerSession, membershipId: MembershipId): Promise<Membership> {
  const found = await findMembership(homeOf(ctx, membershipId).db, membershipId);
  if (!found) return raise('not_found');
  const scope = await loadScope(ctx, found);
  if (!(await isTheirs(scope, session, found))) raise('not_found');
  return retryDelivery(scope, membershipId, skipStoring);
}
