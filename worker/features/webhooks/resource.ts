import { z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { ENDPOINT_FAILING_DAYS } from '#core/limits.ts';
import { addDays, iso, isoOrNull } from '#core/time.ts';
import { VERSION } from '#core/version.ts';
import type { NewStoredEvent } from '#platform/db/tables/events.ts';
import type { Delivery, Endpoint } from '#platform/db/tables/webhooks.ts';
import { given, idOf, orNull, Timestamp } from '#platform/http/openapi.ts';
import { EVENT_TYPES, isTypePattern } from '#rules/events.ts';
import { DELIVERY, ENDPOINT } from '#rules/states.ts';

const TypePattern = z
  .string()
  .max(80)
  .refine(isTypePattern, {
    message: 'Not an event type, `group.*` or `*`. GET /v1/webhooks/event-types lists them',
    params: { type: 'unknown_event_type' },
  });
const Url = z.string().max(2048).openapi({ format: 'uri', example: 'https://shop.example.com/hooks' });
const settings = {
  description: z.string().max(500).optional(),
  event_types: z.array(TypePattern).min(1).max(60).optional(),
  product_ids: z.array(idOf<ProductId>()).max(100).optional(),
  signed_payload: z.enum(['timestamp.body', 'body']).optional(),
};

export const CreateEndpointRequest = z.object({ url: Url, ...settings }).openapi('CreateWebhookEndpointRequest', {
  example: { url: 'https://shop.example.com/hooks', event_types: ['payment.confirmed', 'membership.*'] },
});
export const UpdateEndpointRequest = z
  .object({
    url: Url.optional(),
    ...settings,
    description: orNull(settings.description).optional(),
    status: z.enum(ENDPOINT.states).optional(),
  })
  .openapi('UpdateWebhookEndpointRequest', { example: { event_types: ['payment.*'] } });

const MakerBody = z.object({ kind: z.enum(['key', 'person']), id: z.uuid() }).openapi('Maker');

export const EndpointBody = z
  .object({
    endpoint_id: z.uuid(),
    kind: z.enum(['webhook', 'automation']),
    url: z.string(),
    description: z.string().optional(),
    event_types: z.array(z.string()),
    product_ids: z.array(z.uuid()),
    status: z.enum(ENDPOINT.states),
    disabled_reason: z.string().optional(),
    signed_payload: z.enum(['timestamp.body', 'body']),
    secret_hint: z.string(),
    last_success_at: Timestamp.optional(),
    last_failure_at: Timestamp.optional(),
    failure_streak: z.int(),
    failing_since: Timestamp.optional().openapi({ description: 'Since when every delivery fails.' }),
    disables_at: Timestamp.optional().openapi({ description: 'When the endpoint is given up, unless a delivery succeeds before.' }),
    livemode: z.boolean(),
    created_by: MakerBody,
    changed_by: MakerBody.optional(),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .openapi('WebhookEndpoint');
export const EndpointSecretBody = EndpointBody.extend({ secret: z.string() }).openapi('WebhookEndpointWithSecret');

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

export const DeliveryBody = z
  .object({
    delivery_id: z.int(),
    endpoint_id: z.uuid(),
    event_id: z.string(),
    event_type: z.string(),
    status: z.enum(DELIVERY.states),
    attempt: z.int(),
    max_attempts: z.int(),
    response_status: z.int().optional(),
    response_ms: z.int().optional(),
    response_excerpt: z.string().optional(),
    error: z.string().optional(),
    test: z.literal(true).optional().openapi({ description: 'Sent by a test of the endpoint.' }),
    next_attempt_at: orNull(Timestamp).optional(),
    replay_of: z.int().optional(),
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

/** What narrows a list of events. */
export const EventQuery = {
  event_type: z.enum(EVENT_TYPES).optional(),
  after: z
    .string()
    .max(64)
    .optional()
    .openapi({ description: 'The id of an event: the list begins behind it. A list that is read on like this has no end at row 10,000.' }),
};

/** What some events are about beside their object. */
const BESIDE = {
  refund: z.record(z.string(), z.unknown()).optional().openapi({ description: 'Of `payment.refunded`: the refund that was seen.' }),
  proof: z.record(z.string(), z.unknown()).optional().openapi({ description: 'Of `receipt.proof_sent`: to whom, and under which id.' }),
  message: z.record(z.string(), z.unknown()).optional().openapi({ description: 'Of a ticket: the message that was written.' }),
};

export const EventBody = z
  .object({
    id: z.string(),
    type: z.enum(EVENT_TYPES),
    test: z.literal(true).optional().openapi({ description: 'Of a test: an example that happened to nobody. It is in no list of events.' }),
    created_at: Timestamp,
    livemode: z.boolean(),
    api_version: z.string(),
    account_id: z.uuid(),
    subject: z.object({ type: z.string(), id: z.string(), version: z.int() }),
    data: z.object({
      object: z.record(z.string(), z.unknown()),
      previous: z.record(z.string(), z.unknown()).optional(),
      ...BESIDE,
    }),
  })
  .openapi('Event');

/** The envelope, the same in lists and deliveries. Serialised from the stored row, so every attempt sends the same bytes. */
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
