import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import type { Scope } from '#platform/context.ts';
import type { Delivery } from '#platform/db/tables/webhooks.ts';
import { given, Timestamp } from '#platform/http/openapi.ts';
import { findEvent } from '../events.store.ts';
import { DeliveryBody, toDeliveryResource } from '../resource.ts';
import { getDelivery, getEndpoint } from '../store.ts';
import { newRequest } from './post.ts';

const AttemptBody = z.object({
  at: Timestamp,
  response_status: z.int().optional(),
  response_ms: z.int().optional(),
  error: z.string().optional(),
});

export const SentDeliveryBody = DeliveryBody.extend({
  request: z
    .object({ url: z.string(), headers: z.record(z.string(), z.string()), body: z.string() })
    .optional()
    .describe('Request of the newest attempt, with the URL and the secrets of now. Absent if the event is not stored any more.'),
  attempts: z.array(AttemptBody).describe('Attempts in order.'),
}).openapi('SentWebhookDelivery');

const attemptsOf = ({ failures, status, completedAt, responseStatus, responseMs }: Delivery): z.infer<typeof AttemptBody>[] => [
  ...(failures ?? []).map(({ at, status, ms, error }) => ({
    at: iso(at),
    ...given('response_status', status),
    response_ms: ms,
    ...given('error', error),
  })),
  ...(status === 'succeeded' && completedAt !== null
    ? [{ at: iso(completedAt), ...given('response_status', responseStatus), ...given('response_ms', responseMs) }]
    : []),
];

/** Returns a delivery with its request and its attempts. Throws 404 not_found. */
export async function readDelivery(ctx: Scope, deliveryId: number): Promise<z.infer<typeof SentDeliveryBody>> {
  const delivery = await getDelivery(ctx, deliveryId);
  const [endpoint, stored] = await Promise.all([getEndpoint(ctx, delivery.endpointId), findEvent(ctx, delivery.eventId)]);
  const event = delivery.testEvent ?? stored;
  const attempts = attemptsOf(delivery);
  const at = delivery.failures?.at(-1)?.at ?? delivery.createdAt;
  const newest = { ...delivery, attempt: Math.max(0, delivery.attempt - 1) };
  const request = event && {
    url: endpoint.url,
    ...(await newRequest(ctx, { delivery: newest, endpoint, event }, delivery.completedAt ?? at)),
  };
  return { ...toDeliveryResource(delivery), ...given('request', request), attempts };
}
