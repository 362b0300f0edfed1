import type { AccountId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import { ENDPOINT } from '#rules/states.ts';
import { cancelWaiting } from '../deliveries/breaker.store.ts';
import { endpointEvent } from '../resource.ts';
import { abortWhileEnabled, listEnabledEndpoints, updateEndpoint } from '../store.ts';

/**
 * Plans disabling all endpoints of an account in both modes, with their events and cancelled deliveries. Aborts if an endpoint was created
 * or changed meanwhile. A retry includes that endpoint.
 */
export async function planEndOfEndpoints(
  ctx: Shard,
  merchantId: AccountId,
  disabledReason: string,
): Promise<Pick<Change<null>, 'events' | 'writes'>> {
  const ended = (await listEnabledEndpoints(ctx.db, merchantId)).map((before) => {
    const patch = { status: ENDPOINT.next(before.status, 'disable'), disabledReason };
    const after = { ...before, ...patch, updatedAt: ctx.now, version: before.version + 1 };
    return {
      event: endpointEvent('webhook.endpoint_disabled', after, after.version),
      writes: [...updateEndpoint(ctx, before, patch), cancelWaiting(ctx, before)],
    };
  });
  return {
    events: ended.map(({ event }) => event),
    writes: [...ended.flatMap(({ writes }) => writes), abortWhileEnabled(ctx, merchantId)],
  };
}
