import { raise } from '#core/errors.ts';
import type { KeyId } from '#core/ids.ts';
import { findKey } from '#features/accounts/store.ts';
import type { Actor, Scope } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { transact } from '#platform/db/commit.ts';
import type { Endpoint } from '#platform/db/tables/webhooks.ts';
import { ENDPOINT } from '#rules/states.ts';
import { cancelWaiting } from '../deliveries/breaker.store.ts';
import { getProductCountOfKey, listMadeBy, updateEndpoint } from '../store.ts';

/**
 * Loads endpoints and hooks that a key created, or gave their current URL or secret, and the number of products that it created or changed.
 * Throws 404 for a key of another account or mode.
 */
export async function loadResourcesOfKey(ctx: Scope, actor: Actor, keyId: KeyId): Promise<{ endpoints: Endpoint[]; products: number }> {
  const key = (await findKey(ctx.db, actor.accountId, keyId)) ?? raise('not_found');
  if (key.livemode !== actor.livemode) raise('not_found');
  const [endpoints, products] = await Promise.all([listMadeBy(ctx.db, key), getProductCountOfKey(ctx.db, key)]);
  return { endpoints, products };
}

/** Disables the key's endpoints and cancels their waiting deliveries. Idempotent. */
export async function disableEndpointsOfKey(ctx: Scope, actor: Actor, keyId: KeyId): Promise<null> {
  const key = (await findKey(ctx.db, actor.accountId, keyId)) ?? raise('not_found');
  return transact(ctx, { reload: () => listMadeBy(ctx.db, key) }, (endpoints) => {
    const enabled = endpoints.filter(({ status }) => status === 'enabled');
    const writes = enabled.flatMap((endpoint) => [
      ...updateEndpoint(ctx, endpoint, { status: ENDPOINT.next(endpoint.status, 'disable'), disabledReason: 'key_revoked' }),
      cancelWaiting(ctx, endpoint),
      recordAction(ctx, endpoint, {
        action: 'endpoint.disabled',
        subject: { type: 'endpoint', id: endpoint.id },
        before: { status: endpoint.status },
        after: { status: 'disabled', key_id: keyId },
      }),
    ]);
    return { events: [], writes, result: null };
  });
}
