import { z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { ENDPOINT_FAILING_DAYS } from '#core/limits.ts';
import { addDays, iso, isoOrNull } from '#core/time.ts';
import { VERSION } from '#core/version.ts';
import { type Listed, type PageRequest, toPage } from '#platform/db/page.ts';
import type { NewStoredEvent, StoredEvent } from '#platform/db/tables/events.ts';
import type { Delivery, Endpoint } from '#platform/db/tables/webhooks.ts';
import { AccountUuid, given, idOf, Livemode, ObjectVersion, orNull, pageOf, Timestamp } from '#platform/http/openapi.ts';
import { EVENT_TYPES, type EventType, isTypePattern, type NewEvent } from '#rules/events.ts';
import { DELIVERY, ENDPOINT } from '#rules/states.ts';

const TypePattern = z
  .string()
  .max(80)
  .refine(isTypePattern, {
    message: 'Expected an event type, `group.*` or `*`: GET /v1/webhooks/event-types',
    params: { type: 'unknown_event_type' },
  });
const Url = z.string().max(2048).openapi({ format: 'uri', example: 'https://shop.example.com/hooks' });
const settings = {
  description: z.string().max(500).optional(),
  event_types: z
    .array(TypePattern)
    .min(1)
    .max(60)
    .optional()
    .describe('Event types to send: `payment.confirmed`, a group such as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them.'),
  product_ids: z.array(idOf<ProductId>()).max(100).optional().describe('Products to send events of; empty: all products.'),
  signed_payload: z
    .enum(['timestamp.body', 'body'])
    .optional()
    .describe('Bytes that `X-Svc-Signature` covers: `timestamp.body`, or the raw `body` alone.'),
};

export const CreateEndpointRequest = z
  .object({ url: Url.describe('https URL that receives the events.'), ...settings })
  .openapi('CreateWebhookEndpointRequest', {
    example: { url: 'https://shop.example.com/hooks', event_types: ['payment.confirmed', 'membership.*'] },
  });
export const UpdateEndpointRequest = z
  .object({
    url: Url.optional().describe('https URL that receives the events.'),
    ...settings,
    description: orNull(settings.description).optional(),
    status: z.enum(ENDPOINT.states).optional(),
  })
  .openapi('UpdateWebhookEndpointRequest', { example: { event_types: ['payment.*'] } });

export const MakerBody = z
  .object({
    kind: z.enum(['key', 'person']).describe('Kind of the creator: `key` or `person`.'),
    id: z.uuid().describe('Identifier of the key or account.'),
  })
  .openapi('Maker');

export const EndpointBody = z
  .object({
    endpoint_id: z.uuid(),
    kind: z.enum(['webhook', 'automation']),
    url: z.string().describe('URL that receives the events.'),
    description: z.string().optional(),
    event_types: z
      .array(z.string())
      .describe('Event types to send: `payment.confirmed`, a group such as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them.'),
    product_ids: z.array(z.uuid()).describe('Products to send events of; empty: all products.'),
    status: z.enum(ENDPOINT.states),
    disabled_reason: z.string().optional(),
    signed_payload: z
      .enum(['timestamp.body', 'body'])
      .describe('Bytes that `X-Svc-Signature` covers: `timestamp.body`, or the raw `body` alone.'),
    secret_hint: z.string().describe('Last characters of the secret.'),
    last_success_at: Timestamp.optional().describe('Time of the last successful attempt. Successes within a minute count as one.'),
    last_failure_at: Timestamp.optional(),
    failure_streak: z.int().describe('Number of failed attempts since the last success.'),
    failing_since: Timestamp.optional().describe('Time since which all deliveries fail.'),
    disables_at: Timestamp.optional().describe('Time at which the endpoint is disabled, unless a delivery succeeds before.'),
    livemode: Livemode,
    created_by: MakerBody,
    changed_by: MakerBody.optional().describe('Key or person that last changed the URL or the secret.'),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi('WebhookEndpoint');
export const EndpointSecretBody = EndpointBody.extend({
  secret: z.string().describe('Signing secret. Shown only in this response.'),
}).openapi('WebhookEndpointWithSecret');

const disablesAt = ({ status, failingSince }: Endpoint): string | null =>
  status === 'enabled' && failingSince !== null ? iso(addDays(failingSince, ENDPOINT_FAILING_DAYS)) : null;

export const toEndpointResource = (endpoint: Endpoint): z.infer<typeof EndpointBody> => ({
  endpoint_id: endpoint.id,
  kind: endpoint.kind,
  url: endpoint.url,
  ...given('description', endpoint.description),
  event_types: endpoint.eventTypes,
  product_ids: endpoint.productIds,
  status: endpoint.status,
  ...given('disabled_reason', endpoint.disabledReason),
  signed_payload: endpoint.signedPayload,
  secret_hint: endpoint.secretHint,
  ...given('last_success_at', isoOrNull(endpoint.lastSuccessAt)),
  ...given('last_failure_at', isoOrNull(endpoint.lastFailureAt)),
  failure_streak: endpoint.failureStreak,
  ...given('failing_since', isoOrNull(endpoint.failingSince)),
  ...given('disables_at', disablesAt(endpoint)),
  livemode: endpoint.livemode,
  created_by: endpoint.createdBy,
  ...given('changed_by', endpoint.changedBy),
  created_at: iso(endpoint.createdAt),
  updated_at: iso(endpoint.updatedAt),
});

export const endpointEvent = (type: EventType, endpoint: Endpoint, version: number): NewEvent => ({
  merchantId: endpoint.merchantId,
  livemode: endpoint.livemode,
  type,
  subject: { type: 'webhook_endpoint', id: endpoint.id, version },
  object: toEndpointResource(endpoint),
});

export const DeliveryBody = z
  .object({
    delivery_id: z.int(),
    endpoint_id: z.uuid(),
    event_id: z.string().describe('Identifier of the event. Use it to process each event once.'),
    event_type: z.string().describe('Type of the event, such as `payment.confirmed`.'),
    status: z.enum(DELIVERY.states),
    attempt: z.int().describe('Number of the attempt, from 1.'),
    max_attempts: z.int(),
    response_status: z.int().optional().describe('HTTP status that your server returned.'),
    response_ms: z.int().optional().describe('Response time of your server in milliseconds.'),
    response_excerpt: z.string().optional().describe('Beginning of the response body of your server.'),
    error: z.string().optional().describe('Reason the attempt failed without a response.'),
    test: z.literal(true).optional(),
    next_attempt_at: orNull(Timestamp).optional(),
    replay_of: z.int().optional().describe('Identifier of the delivery that this one repeats.'),
    created_at: Timestamp,
    completed_at: Timestamp.optional(),
  })
  .openapi('WebhookDelivery');

export const toDeliveryResource = (delivery: Delivery): z.infer<typeof DeliveryBody> => ({
  delivery_id: delivery.id,
  endpoint_id: delivery.endpointId,
  event_id: delivery.eventId,
  event_type: delivery.eventType,
  status: delivery.status,
  attempt: delivery.attempt,
  max_attempts: delivery.maxAttempts,
  ...given('response_status', delivery.responseStatus),
  ...given('response_ms', delivery.responseMs),
  ...given('response_excerpt', delivery.responseExcerpt),
  ...given('error', delivery.error),
  ...(delivery.testEvent !== null ? { test: true as const } : {}),
  ...given('next_attempt_at', isoOrNull(delivery.nextAttemptAt)),
  ...given('replay_of', delivery.replayOf),
  created_at: iso(delivery.createdAt),
  ...given('completed_at', isoOrNull(delivery.completedAt)),
});

const EventTypeName = z.enum(EVENT_TYPES).openapi('EventTypeName');

export const EventQuery = {
  event_type: EventTypeName.optional().describe('Return only events of this type.'),
  after: z
    .string()
    .max(64)
    .optional()
    .describe('Identifier of an event. The list begins after it. A list that is read by this cursor has no limit of 10,000 rows.'),
};

/** Additional event data per type, next to the object. */
const DETAIL_FIELDS = {
  refund: z.record(z.string(), z.unknown()).optional().describe('Refund of a `payment.refunded` event.'),
  proof: z.record(z.string(), z.unknown()).optional().describe('Recipient and identifier of a `receipt.proof_sent` event.'),
  message: z.record(z.string(), z.unknown()).optional(),
};

export const PreviousValues = z
  .record(z.string(), z.unknown())
  .openapi('PreviousValues', { description: 'Previous values of the changed fields, if known.' });

export const EventBody = z
  .object({
    id: z.string(),
    type: EventTypeName,
    test: z.literal(true).optional().describe('True for a test event: an example without a real object. Event lists do not contain it.'),
    created_at: Timestamp,
    livemode: Livemode,
    api_version: z.string(),
    account_id: AccountUuid,
    subject: z
      .object({
        type: z.string(),
        id: z.string(),
        version: ObjectVersion,
      })
      .describe('Object of the event, and the version of the object.'),
    data: z.object({
      object: z.record(z.string(), z.unknown()).describe('Object of the event, as the API returns it.'),
      previous: PreviousValues.optional(),
      ...DETAIL_FIELDS,
    }),
  })
  .openapi('Event');

export const EventPage = pageOf(EventBody, 'EventPage', {
  next: z
    .string()
    .optional()
    .describe(
      'Present if the search for `event_type` ended before the last event, so the list may contain further entries: continue with it as `after`. `has_more` is then true.',
    ),
});

export const toEventPage = (page: PageRequest, { next, ...found }: Listed<StoredEvent> & { next: string | null }) => {
  const body = toPage(page, found, (event) => toEventResource(event));
  return next === null ? body : { ...body, has_more: true, total_exact: false as const, next };
};

/** Builds the event envelope of lists and deliveries. Serialized from the stored row, so every attempt sends identical bytes. */
export const toEventResource = (event: NewStoredEvent, { isTest = false } = {}): z.infer<typeof EventBody> => ({
  id: event.id,
  type: event.type,
  ...(isTest ? { test: true as const } : {}),
  created_at: iso(event.createdAt),
  livemode: event.livemode,
  api_version: VERSION,
  account_id: event.merchantId,
  subject: { type: event.subjectType, id: event.subjectId, version: event.subjectVersion },
  data: event.data as z.infer<typeof EventBody>['data'],
});
