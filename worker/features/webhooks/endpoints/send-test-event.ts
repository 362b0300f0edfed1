import { formatErrorChain, raise } from '#core/errors.ts';
import { type EndpointId, newId } from '#core/ids.ts';
import type { Scope } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { looseEvent } from '#platform/db/commit.ts';
import type { Delivery, Endpoint } from '#platform/db/tables/webhooks.ts';
import type { EventType, NewEvent } from '#rules/events.ts';
import { LEASE_MS, makeAttempt } from '../deliveries/attempt.ts';
import type { AttemptOutcome } from '../deliveries/schedule.ts';
import { findDeliveryOf, insertDeliveries, type NewDelivery, storedAs } from '../deliveries/store.ts';
import { endpointEvent } from '../resource.ts';
import { getEndpoint } from '../store.ts';

export interface TestResult {
  deliveryId: number;
  eventId: string;
  outcome: AttemptOutcome | null;
}

interface EventExample {
  type: EventType;
  subject: NewEvent['subject'];
  data: { object: object } & Record<string, object>;
}

/** Sends the signed example of an event type to this endpoint only and returns the result. The event is stored only with its delivery. */
export async function testEndpoint(ctx: Scope, endpointId: EndpointId, example: EventExample): Promise<TestResult> {
  const endpoint = await getEndpoint(ctx, endpointId);
  const event = looseEvent(ctx, eventOf(ctx, endpoint, example));
  const delivery = await storeTest(ctx, {
    merchantId: endpoint.merchantId,
    livemode: endpoint.livemode,
    endpointId: endpoint.id,
    eventId: event.id,
    eventType: event.type,
    maxAttempts: 1,
    replayOf: null,
    leaseUntil: ctx.wallNow + LEASE_MS,
    testEvent: event,
  });
  // A disabled endpoint may be tested before it is enabled again.
  const outcome = await makeAttempt(ctx, { delivery, event, endpoint: { ...endpoint, status: 'enabled' } });
  return { deliveryId: delivery.id, eventId: event.id, outcome };
}

/** Builds the example as an event of this merchant in the endpoint's mode. The subject of `webhook.test` is the endpoint itself. */
function eventOf(ctx: Scope, endpoint: Endpoint, { type, subject, data: { object, ...related } }: EventExample): NewEvent {
  if (type === 'webhook.test')
    return { ...endpointEvent(type, endpoint, 1), subject: { type: 'webhook_test', id: newId(ctx.now, endpoint.merchantId), version: 1 } };
  const { merchantId, livemode } = endpoint;
  return { merchantId, livemode, type, subject, object: 'livemode' in object ? { ...object, livemode } : object, related };
}

/**
 * Inserts the test delivery, or finds it if only the insert's answer was lost. The lease blocks the sweep, which cancels the row
 * afterwards.
 */
async function storeTest(ctx: Scope, test: NewDelivery): Promise<Delivery> {
  try {
    const subject = { type: 'endpoint', id: test.endpointId } as const;
    const entry = recordAction(ctx, test, { action: 'endpoint.tested', subject, after: { event_type: test.eventType } });
    const [[stored]] = await ctx.db.batch([insertDeliveries(ctx, [test]), entry]);
    return { ...storedAs(ctx, test), ...stored! };
  } catch (error) {
    ctx.note(`test: ${formatErrorChain(error)}`);
    return (await findDeliveryOf(ctx.db, test.eventId)) ?? raise('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
}
