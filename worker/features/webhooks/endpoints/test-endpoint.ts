import { raise, storyOf } from '#core/errors.ts';
import { type EndpointId, newId } from '#core/ids.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { type EventRow, eventRow } from '#platform/db/commit.ts';
import { claimAttempt, endpointEvent, makeAttempt } from '../deliveries/attempt.ts';
import type { AttemptOutcome } from '../deliveries/schedule.ts';
import { findDeliveryOf, insertDeliveries, insertEvent, type NewDelivery } from '../deliveries/store.ts';
import { getEndpoint } from '../store.ts';

export interface TestResult {
  deliveryId: number;
  eventId: string;
  outcome: AttemptOutcome | null;
}

/** A real, signed event to this endpoint alone, at once, and what it answered. */
export async function testEndpoint(ctx: Scope, endpointId: EndpointId): Promise<TestResult> {
  const endpoint = await getEndpoint(ctx, endpointId);
  // Each test is a subject of its own: it happened once, and races with nothing.
  const happened = {
    ...endpointEvent('webhook.test', endpoint, 1),
    subject: { type: 'webhook_test' as const, id: newId(ctx.now), version: 1 },
  };
  const row = { ...eventRow(ctx, happened), fannedOutAt: ctx.wallNow };
  const delivery = {
    merchantId: endpoint.merchantId,
    livemode: endpoint.livemode,
    endpointId: endpoint.id,
    eventId: row.id,
    eventType: row.type,
    maxAttempts: 1,
    replayOf: null,
  };
  const deliveryId = await storeTest(ctx, row, delivery);
  const claimed = await claimAttempt(ctx, deliveryId);
  // A disabled endpoint may be tested before it is enabled again.
  const outcome = claimed && (await makeAttempt(ctx, { ...claimed, endpoint: { ...claimed.endpoint, status: 'enabled' } }));
  return { deliveryId, eventId: row.id, outcome };
}

/** Where only the answer was lost the test is stored, and the sweep would send it: then it is found again, and goes on here. */
async function storeTest(ctx: Shard, event: EventRow & { id: string }, delivery: NewDelivery): Promise<number> {
  try {
    const [, [written]] = await ctx.db.batch([insertEvent(ctx.db, event), insertDeliveries(ctx, [delivery])]);
    return written!.id;
  } catch (error) {
    ctx.note(`test: ${storyOf(error)}`);
    return (await findDeliveryOf(ctx.db, event.id)) ?? raise('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
}
