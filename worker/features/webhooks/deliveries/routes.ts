import { z } from '@hono/zod-openapi';
import { ApiError, raise } from '#core/errors.ts';
import type { EndpointId, MembershipId, PaymentId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX } from '#core/limits.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { countedLessWith, idOf, PageQuery, pageOf, positiveInteger } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { DELIVERY } from '#rules/states.ts';
import { findEvent, listEvents } from '../events.store.ts';
import { DeliveryBody, EventBody, EventPage, EventQuery, toDeliveryResource, toEventPage, toEventResource } from '../resource.ts';
import { listDeliveries } from '../store.ts';
import { readTimeline, TimelineBody, TimelineLimit } from '../timeline.ts';
import { replayDelivery } from './replay.ts';
import { readDelivery, SentDeliveryBody } from './sent.ts';

const deliveryParams = z.object({
  delivery_id: positiveInteger(Number.MAX_SAFE_INTEGER).openapi({ type: 'integer', param: { name: 'delivery_id', in: 'path' } }),
});

export const deliveryRoutes = routes('Webhooks', 'webhooks')
  .read({
    path: 'GET /webhooks/deliveries',
    id: 'listWebhookDeliveries',
    sdk: 'webhookDeliveries.list',
    summary: 'List deliveries',
    description: 'Lists deliveries, newest first.',
    query: {
      ...PageQuery,
      endpoint_id: idOf<EndpointId>().optional(),
      status: z.enum(DELIVERY.states).optional().describe('Return only objects with this status.'),
    },
    returns: pageOf(DeliveryBody, 'WebhookDeliveryPage'),
    answer: async ({ scope, query: { endpoint_id: endpointId, status, ...rest } }) => {
      const page = pageRequest(rest);
      return toPage(page, await listDeliveries(scope, { endpointId, status }, page), toDeliveryResource);
    },
  })
  .read({
    path: 'GET /webhooks/deliveries/{delivery_id}',
    id: 'getWebhookDelivery',
    sdk: 'webhookDeliveries.get',
    summary: 'Get a delivery',
    description: 'Returns a delivery with its request and each attempt.',
    params: deliveryParams,
    returns: SentDeliveryBody,
    codes: ['not_found'],
    answer: ({ scope, params }) => readDelivery(scope, params.delivery_id),
  })
  .write({
    path: 'POST /webhooks/deliveries/{delivery_id}/replay',
    id: 'replayWebhookDelivery',
    sdk: 'webhookDeliveries.replay',
    summary: 'Replay a delivery',
    description: 'Sends the event of a delivery again, as a new delivery.',
    params: deliveryParams,
    returns: DeliveryBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, params }, storeAnswer) => replayDelivery(scope, params.delivery_id, storeAnswer),
    audit: {
      action: 'event.replayed',
      subject: 'delivery',
      fields: (_, { params }) => ({ id: String(params.delivery_id) }),
    },
    present: (delivery) => toDeliveryResource(delivery),
  })
  .read({
    path: 'GET /webhooks/timeline',
    group: 'payments',
    id: 'getWebhookTimeline',
    sdk: 'events.getTimeline',
    summary: 'Get a timeline',
    description:
      'Lists events of a payment or membership and their deliveries, oldest first unless `order` is `desc`. Send `next`, unless it is null, as `after`.',
    query: {
      payment_id: idOf<PaymentId>().optional(),
      membership_id: idOf<MembershipId>().optional(),
      order: z.enum(['asc', 'desc']).default('asc').describe('Order of the events: oldest first (`asc`) or newest first.'),
      after: z.string().max(64).optional().describe('Value of `next` from the previous page.'),
      limit: TimelineLimit,
    },
    returns: TimelineBody,
    codes: ['not_found'],
    answer: async ({ scope, query: { payment_id: paymentId, membership_id: membershipId, ...wanted } }) => {
      const about = paymentId === undefined ? membershipId !== undefined && { membershipId } : membershipId === undefined && { paymentId };
      if (!about) {
        throw new ApiError('validation_error', {
          problems: [{ loc: ['query'], msg: 'Expected exactly one of payment_id and membership_id', type: 'missing' }],
        });
      }
      return (await readTimeline(scope, about, wanted)) ?? raise('not_found');
    },
  })
  .read({
    path: 'GET /webhooks/events',
    id: 'listWebhookEvents',
    sdk: 'events.list',
    summary: 'List events',
    description: `Lists events in chronological order. ${countedLessWith('`event_type`')}`,
    query: { ...PageQuery, ...EventQuery },
    returns: EventPage,
    answer: async ({ scope, query: { event_type: eventType, after, ...rest } }) => {
      const page = pageRequest(rest, eventType === undefined ? undefined : COUNTED_FILTERED_MAX);
      return toEventPage(page, await listEvents(scope, { eventType, after }, page));
    },
  })
  .read({
    path: 'GET /webhooks/events/{event_id}',
    id: 'getWebhookEvent',
    sdk: 'events.get',
    summary: 'Get an event',
    description: 'Returns an event.',
    params: z.object({
      event_id: z
        .string()
        .max(40)
        .refine((id) => /^evt_[0-9A-HJKMNP-TV-Z]{26}$/.test(id), 'Expected the id of an event')
        .openapi({ param: { name: 'event_id', in: 'path' }, example: 'evt_01KAJ3V5Y7H2Q8M4N6P9R1S3T5' }),
    }),
    returns: EventBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => toEventResource((await findEvent(scope, params.event_id)) ?? raise('not_found')),
  });
