import { ApiError } from '#core/errors.ts';
import type { AuthorizationId } from '#core/ids.ts';
import { planStop } from '#features/authorizations/authorization.ts';
import { type Actor, isOf, type Scope } from '#platform/context.ts';
import { transact } from '#platform/db/commit.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { getAuthorization } from '../reconcile.ts';

/**
 * Ends collecting from a subscriber, at once and for good. What is paid for lasts. 404 for another merchant's, 403 sign_in_required for an
 * old session, 409 state_conflict while the checkout is under way. Repeated, it changes nothing.
 */
export async function stopAuthorization(ctx: Scope, actor: Actor, id: AuthorizationId): Promise<AuthorizationRow> {
  const reload = async () => {
    const row = await getAuthorization(ctx, id);
    if (!isOf(ctx, row)) throw new ApiError('not_found');
    return row;
  };
  const known = await reload();
  requireFreshSignIn(ctx, actor);
  return transact(ctx, { known, reload }, (row) => {
    if (row.status === 'pending') {
      const detail = 'The first period is not paid yet. Wait until the checkout is over, then stop the subscription.';
      throw new ApiError('state_conflict', { detail, meta: { reason: 'pending' } });
    }
    return planStop(ctx, row);
  });
}
