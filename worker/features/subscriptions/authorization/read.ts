import { ApiError } from '#core/errors.ts';
import type { AuthorizationId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import { routeOf } from '#features/authorizations/authorization.ts';
import { hasSubscriptions, isOf, type Scope } from '#platform/context.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { lookAtSubscriptions } from '../look.ts';
import { applyLook, getAuthorization } from '../reconcile.ts';

/** How long a node may take: what was seen last is told then. */
const LOOK_MS = 2 * SECOND;

/**
 * Returns a merchant's authorization as the chain shows it now, or as it was read last if no node answers, and stores what was read with its
 * event. In the sandbox only the session's own steps read its chain, so the stored row is returned. Throws 404.
 */
export async function readAuthorization(ctx: Scope, id: AuthorizationId): Promise<AuthorizationRow> {
  const row = await getAuthorization(ctx, id);
  if (!isOf(ctx, row)) throw new ApiError('not_found');
  if (ctx.sandbox !== null || row.status === 'pending' || row.endedAt !== null || !hasSubscriptions(ctx.config)) return row;
  const [look = null] = await lookAtSubscriptions({ ...ctx, chain: ctx.chain.within(LOOK_MS, 1) }, [routeOf(row)]);
  return look === null ? row : applyLook(ctx, row, look);
}
