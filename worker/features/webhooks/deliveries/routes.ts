import { createRoute, z } from '@hono/zod-openapi';
import { ApiError, raise } from '#core/errors.ts';
import type { EndpointId, MembershipId, PaymentId } from '#core/ids.ts';
import { COUNTED_FILTERED_MAX, TIMELINE } from '#core/limits.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import type { Delivery } from '#platform/db/tables/webhooks.ts';
import { merchantErrors, merchantRoute, merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { countedLessWith, idOf, ModeQuery, ok, orNull, PageQuery, pageOf, positiveInteger, router } from '#platform/http/openapi.ts';
import { DELIVERY } from '#rules/states.ts';
import { listEvents } from '../events.store.ts';
import { DeliveryBody, EventBody, EventQuery, toDeliveryResource, toEventResource } from '../resource.ts';
import { listDeliveries } from '../store.ts';
import { readTimeline, TimelineItem } from '../timeline.ts';
import { replayDelivery } from './replay.ts';

const tags = ['Webhooks'];
const query = z.object(ModeQuery);
const read = merchantRoute('read');

const deliveries = createRoute({
  method: 'get',
  path: '/webhooks/deliveries',
  operationId: 'listWebhookDeliveries',
  tags,
  summary: 'List deliveries',
  description: 'Deliveries, newest first.',
  ...read,
  request: {
    query: z.object({ ...PageQuery, endpoint_id: idOf<EndpointId>().optional(), status: z.enum(DELIVERY.states).optional(), ...ModeQuery }),
  },
  responses: { ...ok(pageOf(DeliveryBody, 'WebhookDeliveryPage')), ...merchantErrors() },
});
const replay = createRoute({
  method: 'post',
  path: '/webhooks/deliveries/{delivery_id}/replay',
  operationId: 'replayWebhookDelivery',
  tags,
  summary: 'Replay a delivery',
  description: 'The same event once more, as a delivery of its own.',
  ...writeRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    params: z.object({
      delivery_id: positiveInteger(Number.MAX_SAFE_INTEGER).openapi({ type: 'integer', param: { name: 'delivery_id', in: 'path' } }),
    }),
    query,
  },
  responses: { ...ok(DeliveryBody), ...merchantWriteErrors('not_found', 'state_conflict') },
});
const timeline = createRoute({
  method: 'get',
  path: '/webhooks/timeline',
  operationId: 'getWebhookTimeline',
  tags,
  summary: 'Get a timeline',
  description:
    'Events of a payment or membership and their deliveries, oldest first unless `order` says otherwise. `next` is null on the last page; else ' +
    'send it as `after`. 404 for a payment or membership that is not yours.',
  ...read,
  request: {
    query: z.object({
      payment_id: idOf<PaymentId>().optional(),
      membership_id: idOf<MembershipId>().optional(),
      order: z.enum(['asc', 'desc']).default('asc').openapi({ description: 'Oldest first (`asc`) or newest first.' }),
      after: z.string().max(64).optional().openapi({ description: 'The `next` of the page before.' }),
      limit: positiveInteger(TIMELINE.max)
        .default(TIMELINE.default)
        .openapi({ type: 'integer', minimum: 1, maximum: TIMELINE.max, default: TIMELINE.default }),
      ...ModeQuery,
    }),
  },
  responses: {
    ...ok(
      z
        .object({
          items: z.array(TimelineItem),
          next: orNull(z.string()).openapi({ description: 'Cursor of the next page; null on the last one.' }),
        })
        .openapi('WebhookTimeline'),
    ),
    ...merchantErrors('not_found'),
  },
});
const eventList = createRoute({
  method: 'get',
  path: '/webhooks/events',
  operationId: 'listWebhookEvents',
  tags,
  summary: 'List events',
  description: `Emitted events in the order they happened. ${countedLessWith('`event_type`')}`,
  ...read,
  request: { query: z.object({ ...PageQuery, ...EventQuery, ...ModeQuery }) },
  responses: { ...ok(pageOf(EventBody, 'EventPage')), ...merchantErrors() },
});

export const deliveryRoutes = router()
  .openapi(deliveries, async (c) => {
    const { scope: ctx } = c.var;
    const { endpoint_id: endpointId, status, ...rest } = c.req.valid('query');
    const page = pageRequest(rest);
    return c.json(toPage(page, await listDeliveries(ctx, { endpointId, status }, page), toDeliveryResource), 200);
  })
  .openapi(replay, async (c) => {
    const run = (storeAnswer: StoreAnswer<Delivery>) => replayDelivery(c.var.scope, c.req.valid('param').delivery_id, storeAnswer);
    return sendStored(c, await answerOnce(c, run, (delivery) => ({ status: 200, body: toDeliveryResource(delivery) })));
  })
  .openapi(timeline, async (c) => {
    const { scope: ctx } = c.var;
    const { payment_id: paymentId, membership_id: membershipId, ...wanted } = c.req.valid('query');
    const about = paymentId === undefined ? membershipId !== undefined && { membershipId } : membershipId === undefined && { paymentId };
    if (!about) {
      throw new ApiError('validation_error', {
        problems: [{ loc: ['query'], msg: 'Give exactly one of payment_id and membership_id', type: 'missing' }],
      });
    }
    return c.json((await readTimeline(ctx, about, wanted)) ?? raise('not_found'), 200);
  })
  .openapi(eventList, async (c) => {
    const { scope: ctx } = c.var;
    const { event_type: eventType, after, ...rest } = c.req.valid('query');
    const page = pageRequest(rest, eventType === undefined ? undefined : COUNTED_FILTERED_MAX);
    return c.json(toPage(page, await listEvents(ctx, { eventType, after }, page), toEventResource), 200);
  });
