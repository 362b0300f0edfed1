import { entitlementKeyOf, eraseEntitlement } from '#features/entitlements/entitlement.ts';
import { planUnfolded } from '#features/figures/fold.ts';
import { listMeteredInReach } from '#features/metered/ended.store.ts';
import { eraseMeteredSession } from '#features/metered/erase.ts';
import { clockOf } from '#platform/chain/clock.store.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import { transact } from '#platform/db/commit.ts';
import type { SandboxSession } from '#platform/db/tables/sandbox.ts';
import { customerIn } from '../scenarios/actions.ts';
import { listSessionMoving, sessionErasure } from './erase.store.ts';
import { listSessionEntitlements } from './store.ts';

/**
 * Forgets a session and all it made: first the objects of its customers and of its metered sessions, whose alarms would write rows of it
 * again, then its rows and what they brought to the figures in one batch. Where it stops in between, it is done again.
 */
export async function forgetSession(ctx: Shard, session: SandboxSession): Promise<void> {
  const scope = inSandbox(ctx, session.merchantId, clockOf(session));
  const ids = new Set(await listSessionEntitlements(scope));
  // Of a session that was killed the object may know more than the rows.
  if (session.productId !== null) ids.add(entitlementKeyOf(scope, session.productId, customerIn(session)).entitlementId);
  for (const id of ids) await eraseEntitlement(scope, id);
  for (const metered of await listMeteredInReach(scope)) await eraseMeteredSession(scope, metered);
  await transact(scope, { reload: () => listSessionMoving(scope) }, async (moving) => ({
    events: [],
    writes: [...(await planUnfolded(scope, moving)), ...sessionErasure(scope)],
    result: undefined,
  }));
}
