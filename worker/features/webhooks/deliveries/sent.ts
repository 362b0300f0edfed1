import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import type { Scope } from '#platform/context.ts';
import type { Delivery } from '#platform/db/tables/webhooks.ts';
import { given, Timestamp } from '#platform/http/openapi.ts';
import { SecretUnsealError } from '../endpoints/endpoint.ts';
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
    .describe(
      'Request of the newest attempt, with the URL and the secrets of now. Absent before the first attempt, and without the stored event.',
    ),
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

/** Builds the request of the newest attempt. Null before the first one, and without the event or a readable secret. */
async function newestRequest(ctx: Scope, delivery: Delivery, at: number) {
  const [endpoint, stored] = await Promise.all([getEndpoint(ctx, delivery.endpointId), findEvent(ctx, delivery.eventId)]);
  const event = delivery.testEvent ?? stored;
  if (delivery.attempt === 0 || event === null) return null;
  try {
    const sent = await newRequest(ctx, { delivery: { ...delivery, attempt: delivery.attempt - 1 }, endpoint, event }, at);
    return { url: endpoint.url, ...sent };
  } catch (error) {
    if (error instanceof SecretUnsealError) return null;
    throw error;
  }
}

/** Returns a delivery with its request and its attempts. Throws 404 not_found. */
export async function readDelivery(ctx: Scope, deliveryId: number): Promise<z.infer<typeof SentDeliveryBody>> {
  const delivery = await getDelivery(ctx, deliveryId);
  const attempts = attemptsOf(delivery);
  const newest = attempts.at(-1);
  // An attempt is recorded with the time of its end, and signed with that of its beginning.
  const at = newest === undefined ? delivery.createdAt : Date.parse(newest.at) - (newest.response_ms ?? 0);
  return { ...toDeliveryResource(delivery), ...given('request', await newestRequest(ctx, delivery, at)), attempts };
}
